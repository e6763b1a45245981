/* spmv.c - y = A x over rows and diagonals. */
#include "codegen/emit.h"

/* ---- csr: vectors of entries along one row ---- */

/* Entries k + at ... as one vector: values times x, or x alone. */
static void take_piece(sp_emit *e, int i, int at, int width)
{
    char v[16], col[48];

    sp_emit_codes(e, at, width);
    sp_buf_printf(e->out, "            s%d += ", i);
    if (e->k->palette != 1) {
        sp_emit_values(e, at, width);
        sp_buf_add(e->out, " * ");
    }
    sp_buf_printf(e->out, "(%s){", sp_vec(v, e, width));
    for (int l = 0; l < width; l++)
        sp_buf_printf(e->out, "%sb[%s]", l ? ", " : "",
                      sp_column(col, e, at + l));
    sp_line(e, "};");
}

static void row_loop(sp_emit *e, const sp_pieces *p)
{
    sp_line(e, "        for (; k + %d <= end; k += %d) {", p->total, p->total);
    for (int q = 0; e->k->prefetch && q < p->total; q++)
        sp_line(e, "            __builtin_prefetch(b + col[k + %d + ahead]);",
                q);
    sp_emit_columns(e, 0, p->total);
    for (int i = 0; i < p->count; i++)
        take_piece(e, i, p->offset[i], p->width[i]);
    sp_line(e, "        }");
}

/* The last pieces are the narrow ones; equal ones are added up first. */
static void row_sum(sp_emit *e, const sp_pieces *p)
{
    for (int i = p->count - 1; i >= 0; i--)
        if (i > 0 && p->width[i] == p->width[i - 1])
            sp_line(e, "        s%d += s%d;", i - 1, i);
        else if (p->width[i] > 1)
            sp_line(e, "        s += sum_%s%d(s%d);", e->v, p->width[i], i);
        else
            sp_line(e, "        s += s%d;", i);
}

/* What full vectors leave over, one by one. */
static void row_rest(sp_emit *e)
{
    sp_line(e, "        for (; k < end; k++) {");
    if (e->k->prefetch)
        sp_line(e, "            __builtin_prefetch(b + col[k + ahead]);");
    sp_line(e, "            s += %sb[col[k]];",
            e->k->palette == 1  ? ""
            : e->k->palette > 1 ? "val[code[k]] * "
                                : "val[k] * ");
    sp_line(e, "        }");
    if (e->k->palette == 1)
        sp_line(e, "        s *= *val;");
}

void sp_emit_csr_spmv(sp_emit *e)
{
    sp_pieces p = sp_pieces_of(e, e->k->unroll);
    char v[16];

    sp_emit_opening(e);
    sp_line(e, "    for (int64_t u = a->first; u < last; u++) {");
    sp_line(e, "        const %s *b = B + (base ? (int64_t)base[u] : 0);",
            e->T);
    sp_line(e, "        int64_t k = start[u];");
    sp_line(e, "        const int64_t end = start[u + 1];");
    sp_line(e, "        %s s = 0;", e->T);
    for (int i = 0; i < p.count; i++)
        sp_line(e, "        %s s%d = {0};", sp_vec(v, e, p.width[i]), i);
    row_loop(e, &p);
    row_sum(e, &p);
    row_rest(e);
    sp_line(e, "        %s *c = C + (row ? (int64_t)row[u] : u);", e->T);
    sp_line(e, "        *c = alpha * s + (beta != 0 ? beta * *c : 0);");
    sp_line(e, "    }");
    sp_emit_closing(e);
}

/* ---- dia: groups of rows, one multiply-add per diagonal ----
 *
 * val holds, group by group and diagonal by diagonal, one value per row.
 * Groups that touch the border of the matrix go entry by entry. */

void sp_emit_store_part(sp_emit *e, int i)
{
    char name[16];

    snprintf(name, sizeof name, "s%d", i);
    sp_line(e, "        if (beta != 0)");
    sp_line(e, "            s%d += beta * *(%s%du *)(C + i0 + %d);", i, e->v,
            e->lanes, i * e->lanes);
    sp_emit_watch(e, e->lanes, name);
    sp_line(e, "        *(%s%du *)(C + i0 + %d) = s%d;", e->v, e->lanes,
            i * e->lanes, i);
}

static void inner_group(sp_emit *e, int total)
{
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
        sp_line(e, "        s%d *= alpha;", i);
        sp_emit_store_part(e, i);
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
    sp_line(e, "    for (int64_t u = a->first; u < last; u++) {");
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
