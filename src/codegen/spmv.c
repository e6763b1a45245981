/* spmv.c - y = A x over rows, slices and diagonals. */
#include "codegen/emit.h"

/* ---- csr: independent sums over one row ---- */

static void take(sp_emit *e, int q)
{
    if (e->k->prefetch)
        sp_line(e, "            __builtin_prefetch(b + col[k + %d + ahead]);",
                q);
    sp_line(e, "            s%d += val[k + %d] * b[col[k + %d]];", q, q, q);
}

void sp_emit_csr_spmv(sp_emit *e)
{
    int unroll = e->k->unroll;

    sp_emit_opening(e);
    sp_line(e, "    for (int64_t u = a->first; u < a->last; u++) {");
    sp_line(e, "        const %s *b = B + (base ? (int64_t)base[u] : 0);",
            e->T);
    sp_line(e, "        int64_t k = start[u];");
    sp_line(e, "        const int64_t end = start[u + 1];");
    for (int q = 0; q < unroll; q++)
        sp_line(e, "        %s s%d = 0;", e->T, q);
    sp_line(e, "        for (; k + %d <= end; k += %d) {", unroll, unroll);
    for (int q = 0; q < unroll; q++)
        take(e, q);
    sp_line(e, "        }");
    sp_line(e, "        for (; k < end; k++) {");
    take(e, 0);
    sp_line(e, "        }");
    for (int step = 1; step < unroll; step *= 2)
        for (int q = 0; q + step < unroll; q += 2 * step)
            sp_line(e, "        s%d += s%d;", q, q + step);
    sp_line(e, "        %s *c = C + (row ? (int64_t)row[u] : u);", e->T);
    sp_line(e, "        *c = alpha * s0 + (beta != 0 ? beta * *c : 0);");
    sp_line(e, "    }");
    sp_emit_closing(e);
}

/* ---- sell: one row per lane ----
 *
 * A slice of L rows is stored entry by entry across its rows, the shorter
 * rows padded with zeros. row gives each lane's row, or -1. */

static void lanes_of_x(sp_emit *e, int at)
{
    sp_buf_printf(e->out, "(%s%d){", e->v, e->lanes);
    for (int l = 0; l < e->lanes; l++)
        sp_buf_printf(e->out, "%sb[col[k + %d]]", l ? ", " : "", at + l);
    sp_buf_add(e->out, "};\n");
}

static void slice_step(sp_emit *e, int i)
{
    int at = i * e->lanes;

    for (int l = 0; e->k->prefetch && l < e->lanes; l++)
        sp_line(e, "            __builtin_prefetch(b + col[k + %d + ahead]);",
                at + l);
    sp_buf_printf(e->out,
                  "            s%d += *(const %s%du *)(val + k + %d) * ", i,
                  e->v, e->lanes, at);
    if (e->k->gather)
        sp_line(e, "SP_GATHER_%s_%d(b, col + k + %d);",
                spry_type_name(e->k->type), (int)e->k->index, at);
    else
        lanes_of_x(e, at);
}

static void slice_store(sp_emit *e, int i)
{
    char name[16];

    snprintf(name, sizeof name, "s%d", i);
    sp_line(e, "        %s *= alpha;", name);
    sp_emit_watch(e, e->lanes, name);
    sp_line(e, "        for (int l = 0; l < %d; l++) {", e->lanes);
    sp_line(e, "            const int64_t i = u * %d + %d + l;",
            e->k->slice * e->lanes, i * e->lanes);
    sp_line(e, "            const int64_t r = row ? (int64_t)row[i] : i;");
    sp_line(e, "            if (r >= 0 && r < a->rows)");
    sp_line(e, "                C[r] = s%d[l] + (beta != 0 ? beta * C[r] : 0);",
            i);
    sp_line(e, "        }");
}

/* No row list and a whole slice: the common case is one store. */
static void slice_fast_store(sp_emit *e, int total)
{
    sp_line(e, "        if (!row && beta == 0 && (u + 1) * %d <= a->rows) {",
            total);
    for (int i = 0; i < e->k->slice; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%d", i);
        sp_line(e, "        %s *= alpha;", name);
        sp_emit_watch(e, e->lanes, name);
        sp_line(e, "        *(%s%du *)(C + u * %d + %d) = s%d;", e->v, e->lanes,
                total, i * e->lanes, i);
    }
    sp_line(e, "        continue;");
    sp_line(e, "        }");
}

void sp_emit_sell_spmv(sp_emit *e)
{
    int total = e->k->slice * e->lanes;

    sp_emit_opening(e);
    sp_line(e, "    for (int64_t u = a->first; u < a->last; u++) {");
    sp_line(e, "        const %s *b = B + (base ? (int64_t)base[u] : 0);",
            e->T);
    for (int i = 0; i < e->k->slice; i++)
        sp_line(e, "        %s%d s%d = {0};", e->v, e->lanes, i);
    if (e->k->prefetch)
        sp_line(e, "        const int64_t ahead = a->prefetch * %d;", total);
    sp_line(e,
            "        for (int64_t k = start[u]; k < start[u + 1]; k += %d) "
            "{",
            total);
    for (int i = 0; i < e->k->slice; i++)
        slice_step(e, i);
    sp_line(e, "        }");
    slice_fast_store(e, total);
    for (int i = 0; i < e->k->slice; i++)
        slice_store(e, i);
    sp_line(e, "    }");
    sp_emit_closing(e);
}

/* ---- dia: groups of rows, one multiply-add per diagonal ----
 *
 * val holds, group by group and diagonal by diagonal, one value per row.
 * Groups that touch the border of the matrix go entry by entry. */

static void inner_group(sp_emit *e, int total)
{
    char name[16];

    for (int i = 0; i < e->k->slice; i++)
        sp_line(e, "        %s%d s%d = {0};", e->v, e->lanes, i);
    sp_line(e, "        for (int64_t d = 0; d < a->diagonals; d++) {");
    sp_line(e, "            const %s *x = B + i0 + a->diagonal[d];", e->T);
    for (int i = 0; i < e->k->slice; i++)
        sp_line(e,
                "            s%d += *(const %s%du *)(w + d * %d + %d) * "
                "*(const %s%du *)(x + %d);",
                i, e->v, e->lanes, total, i * e->lanes, e->v, e->lanes,
                i * e->lanes);
    sp_line(e, "        }");
    for (int i = 0; i < e->k->slice; i++) {
        snprintf(name, sizeof name, "s%d", i);
        sp_line(e, "        s%d *= alpha;", i);
        sp_line(e, "        if (beta != 0)");
        sp_line(e, "            s%d += beta * *(%s%du *)(C + i0 + %d);", i,
                e->v, e->lanes, i * e->lanes);
        sp_emit_watch(e, e->lanes, name);
        sp_line(e, "        *(%s%du *)(C + i0 + %d) = s%d;", e->v, e->lanes,
                i * e->lanes, i);
    }
}

void sp_emit_dia_spmv(sp_emit *e)
{
    int total = e->k->slice * e->lanes;

    sp_emit_opening(e);
    sp_line(e, "    (void)col;");
    sp_line(e, "    const int64_t low = a->diagonals ? a->diagonal[0] : 0;");
    sp_line(e, "    const int64_t high = a->diagonals ? "
               "a->diagonal[a->diagonals - 1] : 0;");
    sp_line(e, "    for (int64_t u = a->first; u < a->last; u++) {");
    sp_line(e, "        const int64_t i0 = u * %d;", total);
    sp_line(e, "        const %s *w = val + u * a->diagonals * %d;", e->T,
            total);
    sp_line(e,
            "        if (i0 + low >= 0 && i0 + %d + high <= a->cols && "
            "i0 + %d <= a->rows) {",
            total, total);
    inner_group(e, total);
    sp_line(e, "        continue;");
    sp_line(e, "        }");
    sp_line(e,
            "        for (int64_t i = i0; i < i0 + %d && i < a->rows; i++) "
            "{",
            total);
    sp_line(e, "            %s s = 0;", e->T);
    sp_line(e, "            for (int64_t d = 0; d < a->diagonals; d++) {");
    sp_line(e, "                const int64_t j = i + a->diagonal[d];");
    sp_line(e, "                if (j >= 0 && j < a->cols)");
    sp_line(e, "                    s += w[d * %d + i - i0] * B[j];", total);
    sp_line(e, "            }");
    sp_line(e, "            C[i] = alpha * s + (beta != 0 ? beta * C[i] : 0);");
    sp_line(e, "            bad1 += C[i] - C[i];");
    sp_line(e, "        }");
    sp_line(e, "    }");
    sp_emit_closing(e);
}
