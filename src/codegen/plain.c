/* plain.c - the loops everyone writes first: the honest baseline.
 *
 * No tiles, no vectors: compiled at -O3 with reassociation allowed, which
 * is the best a compiler makes of them. */
#include "codegen/emit.h"

static const char spmv_text[] =
    "    for (int64_t i = a->first; i < a->last; i++) {\n"
    "        T s = 0;\n"
    "        for (int64_t k = start[i]; k < start[i + 1]; k++)\n"
    "            s += val[k] * B[col[k]];\n"
    "        C[i] = alpha * s + (beta != 0 ? beta * C[i] : 0);\n"
    "    }\n";

static const char spmm_text[] =
    "    for (int64_t i = a->first; i < a->last; i++) {\n"
    "        T *restrict c = C + i * n;\n"
    "        for (int64_t j = 0; j < n; j++)\n"
    "            c[j] = beta != 0 ? beta * c[j] : 0;\n"
    "        for (int64_t k = start[i]; k < start[i + 1]; k++) {\n"
    "            const T w = alpha * val[k];\n"
    "            const T *b = B + (int64_t)col[k] * n;\n"
    "            for (int64_t j = 0; j < n; j++)\n"
    "                c[j] += w * b[j];\n"
    "        }\n"
    "    }\n";

static const char sddmm_text[] =
    "    const T *D = a->D;\n"
    "    for (int64_t i = a->first; i < a->last; i++) {\n"
    "        const T *b = B + i * n;\n"
    "        for (int64_t k = start[i]; k < start[i + 1]; k++) {\n"
    "            const T *d = D + (int64_t)col[k] * n;\n"
    "            T s = 0;\n"
    "            for (int64_t j = 0; j < n; j++)\n"
    "                s += b[j] * d[j];\n"
    "            C[k] = alpha * val[k] * s + (beta != 0 ? beta * C[k] : 0);\n"
    "        }\n"
    "    }\n";

void sp_emit_plain(sp_emit *e)
{
    static const char *const text[] = {spmv_text, spmm_text, sddmm_text};

    sp_line(e, "    typedef %s T;", e->T);
    sp_emit_opening(e);
    sp_buf_add(e->out, text[e->k->op]);
    sp_emit_closing(e);
}
