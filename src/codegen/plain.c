/* plain.c - the loops everyone writes first: the honest baseline.
 *
 * No tiles, no vectors: compiled at -O3 with reassociation allowed, which
 * is the best a compiler makes of them. */
#include "codegen/emit.h"

/* %s is the store. The index is as wide as start: a wider one costs the
 * short rows registers. */
static const char spmv_rows[] =
    "    for (int64_t i = a->first; i < a->last; i++) {\n"
    "        T s = 0;\n"
    "        for (I k = start[i]; k < start[i + 1]; k++)\n"
    "            s += val[k] * B[col[k]];\n"
    "        C[i] = %s;\n"
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

/* One row after the other; %s sums b[j] d[j] into s. */
static const char sddmm_rows[] =
    "    for (int64_t i = a->first; i < a->last; i++)\n"
    "        for (int64_t k = start[i]; k < start[i + 1]; k++) {\n"
    "            const T *b = B + i * n, *d = D + (int64_t)col[k] * n;\n"
    "            T s = 0;\n"
    "%s"
    "            C[k] = alpha * val[k] * s + (keep ? beta * C[k] : 0);\n"
    "        }\n";

static const char one_sum[] = "            for (int64_t j = 0; j < n; j++)\n"
                              "                s += b[j] * d[j];\n";

/* Of the first and the second half: a single sum would wait for the
 * multiply-add before it. */
static const char two_sums[] =
    "            T t = 0;\n"
    "            for (int64_t j = 0; j < n / 2; j++) {\n"
    "                s += b[j] * d[j];\n"
    "                t += b[j + n / 2] * d[j + n / 2];\n"
    "            }\n"
    "            s += n % 2 ? t + b[n - 1] * d[n - 1] : t;\n";

static void sddmm(sp_emit *e)
{
    sp_line(e, "    const T *restrict D = a->D;");
    sp_line(e, "    const int keep = beta != 0;");
    sp_line(e, "    if (n * sizeof(T) < 256) {");
    sp_buf_printf(e->out, sddmm_rows, one_sum);
    sp_line(e, "    } else {");
    sp_buf_printf(e->out, sddmm_rows, two_sums);
    sp_line(e, "    }");
}

static const char mttkrp_text[] =
    "    for (int64_t i = a->first; i < a->last; i++) {\n"
    "        T *restrict c = C + i * n;\n"
    "        for (int64_t j = 0; j < n; j++)\n"
    "            c[j] = beta != 0 ? beta * c[j] : 0;\n"
    "        for (int64_t k = start[i]; k < start[i + 1]; k++) {\n"
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
    "    const int64_t wide = n - from < WIDE ? n - from : WIDE;\n"
    "    for (int64_t i = a->first; i < a->last; i++) {\n"
    "        T *restrict c = C + i * n + from;\n"
    "        for (int64_t j = 0; j < wide; j++)\n"
    "            c[j] = beta != 0 ? beta * c[j] : 0;\n"
    "        for (int64_t f = start[i]; f < start[i + 1]; f++) {\n"
    "            const T *b = B + (int64_t)mid[f] * n + from;\n"
    "            for (int64_t j = 0; j < wide; j++)\n"
    "                sum[j] = 0;\n"
    "            for (int64_t k = mid_start[f]; k < mid_start[f + 1]; k++) {\n"
    "                const T *d = D + (int64_t)col[k] * n + from;\n"
    "                for (int64_t j = 0; j < wide; j++)\n"
    "                    sum[j] += val[k] * d[j];\n"
    "            }\n"
    "            for (int64_t j = 0; j < wide; j++)\n"
    "                c[j] += alpha * sum[j] * b[j];\n"
    "        }\n"
    "    }\n"
    "    }\n";

static const char *text_of(const sp_spec *k)
{
    if (k->op == SPRY_MTTKRP)
        return k->format == SPRY_CSF ? mttkrp_fibers_text : mttkrp_text;
    return spmm_text;
}

static void spmv(sp_emit *e)
{
    sp_line(e, "    if (beta == 0) {");
    sp_buf_printf(e->out, spmv_rows, "alpha * s");
    sp_line(e, "    } else {");
    sp_buf_printf(e->out, spmv_rows, "alpha * s + beta * C[i]");
    sp_line(e, "    }");
}

void sp_emit_plain(sp_emit *e)
{
    sp_line(e, "    typedef %s T;", e->T);
    sp_line(e, "    typedef %s I;", e->I);
    sp_emit_opening(e);
    if (e->k->op == SPRY_SDDMM)
        sddmm(e);
    else if (e->k->op == SPRY_SPMV)
        spmv(e);
    else
        sp_buf_add(e->out, text_of(e->k));
    sp_emit_closing(e);
}
