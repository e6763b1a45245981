/* plain.c - the loops everyone writes first: the honest baseline.
 *
 * No tiles, no vectors: compiled at -O3 with reassociation allowed, which
 * is the best a compiler makes of them. */
#include "codegen/emit.h"

static const char spmv_text[] =
    "    for (int64_t i = a->first; i < last; i++) {\n"
    "        T s = 0;\n"
    "        for (I k = start[i]; k < start[i + 1]; k++)\n"
    "            s += val[k] * B[col[k]];\n"
    "        C[i] = alpha * s + (beta != 0 ? beta * C[i] : 0);\n"
    "    }\n";

static const char spmm_text[] =
    "    for (int64_t i = a->first; i < last; i++) {\n"
    "        T *restrict c = C + i * wide;\n"
    "        for (int64_t j = 0; j < columns; j++)\n"
    "            c[j] = beta != 0 ? beta * c[j] : 0;\n"
    "        for (I k = start[i]; k < start[i + 1]; k++) {\n"
    "            const T w = alpha * val[k];\n"
    "            const T *b = B + (int64_t)col[k] * n;\n"
    "            for (int64_t j = 0; j < columns; j++)\n"
    "                c[j] += w * b[j];\n"
    "        }\n"
    "    }\n";

/* Without dense columns an infinite entry gives NaN; but clang, where it may
 * reassociate, takes a known 0 times anything for 0. */
static const char sddmm_text[] =
    "    const T *restrict D = a->D;\n"
    "    volatile const T unknown_zero = 0;\n"
    "    const T zero = unknown_zero;\n"
    "    for (int64_t i = a->first; i < last; i++)\n"
    "        for (I k = start[i]; k < start[i + 1]; k++) {\n"
    "            const T *b = B + i * n, *d = D + (int64_t)col[k] * n;\n"
    "            T s = zero;\n"
    "            for (int64_t j = 0; j < n; j++)\n"
    "                s += b[j] * d[j];\n"
    "            C[k] = alpha * val[k] * s + (beta != 0 ? beta * C[k] : 0);\n"
    "        }\n";

static const char mttkrp_text[] =
    "    for (int64_t i = a->first; i < last; i++) {\n"
    "        T *restrict c = C + i * n;\n"
    "        for (int64_t j = 0; j < n; j++)\n"
    "            c[j] = beta != 0 ? beta * c[j] : 0;\n"
    "        for (I k = start[i]; k < start[i + 1]; k++) {\n"
    "            const T w = alpha * val[k];\n"
    "            const T *b = B + (int64_t)mid[k] * n;\n"
    "            const T *d = D + (int64_t)col[k] * n;\n"
    "            for (int64_t j = 0; j < n; j++)\n"
    "                c[j] += w * b[j] * d[j];\n"
    "        }\n"
    "    }\n";

/* A fiber's sum is multiplied by B's row once. */
static const char mttkrp_fibers_text[] =
    "    enum { WIDE = 512 };\n"
    "    T sum[WIDE];\n"
    "    for (int64_t from = 0; from < n; from += WIDE) {\n"
    "    const int64_t part = n - from < WIDE ? n - from : WIDE;\n"
    "    for (int64_t i = a->first; i < last; i++) {\n"
    "        T *restrict c = C + i * n + from;\n"
    "        for (int64_t j = 0; j < part; j++)\n"
    "            c[j] = beta != 0 ? beta * c[j] : 0;\n"
    "        for (int64_t f = start[i]; f < start[i + 1]; f++) {\n"
    "            const T *b = B + (int64_t)mid[f] * n + from;\n"
    "            for (int64_t j = 0; j < part; j++)\n"
    "                sum[j] = 0;\n"
    "            for (int64_t k = mid_start[f]; k < mid_start[f + 1]; k++) {\n"
    "                const T *d = D + (int64_t)col[k] * n + from;\n"
    "                for (int64_t j = 0; j < part; j++)\n"
    "                    sum[j] += val[k] * d[j];\n"
    "            }\n"
    "            for (int64_t j = 0; j < part; j++)\n"
    "                c[j] += alpha * sum[j] * b[j];\n"
    "        }\n"
    "    }\n"
    "    }\n";

static const char *text_of(const sp_spec *k)
{
    static const char *const text[SPRY_OPS] = {spmv_text, spmm_text, sddmm_text,
                                               mttkrp_text};

    return sp_formats[k->format].fibers ? mttkrp_fibers_text : text[k->op];
}

/* C = A B is what almost everyone asks for, and spared the rest. */
void sp_emit_plain(sp_emit *e)
{
    const char *loops = text_of(e->k);

    sp_line(e, "    typedef %s T;", e->T);
    sp_line(e, "    typedef %s I;", e->I);
    sp_emit_opening(e);
    sp_line(e, "    if (alpha == 1 && beta == 0) {");
    sp_line(e, "    const T alpha = 1, beta = 0;");
    sp_buf_add(e->out, loops);
    sp_line(e, "    } else {");
    sp_buf_add(e->out, loops);
    sp_line(e, "    }");
    sp_emit_closing(e);
}
