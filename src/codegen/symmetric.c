/* symmetric.c - y = A x over the diagonals of one triangle.
 *
 * What row i has left of the main diagonal, A(i, i - o), is what row i - o has
 * right of it, and its value lies there: nothing is scattered, so rows stay
 * independent of each other. A value is read twice, the second time o rows
 * later, from a cache; memory hands it out once.
 *
 * val holds blocks of SP_TRIANGLE_ROWS rows, diagonal by diagonal. Behind each
 * stand the next block's first rows again, so that a group of rows that begins
 * in a block never leaves it. */
#include "codegen/emit.h"

/* Vector i of s or t takes the product of values and x from their places. */
static void take(sp_emit *e, const char *sum, int i, const char *values,
                 const char *x)
{
    int at = i * e->lanes;

    sp_line(e,
            "            %s%d += *(const %s%du *)(%s + %d) * "
            "*(const %s%du *)(%s + %d);",
            sum, i, e->v, e->lanes, values, at, e->v, e->lanes, x, at);
}

static void both_sides(sp_emit *e)
{
    int slice = e->k->slice;

    sp_line(e, "        if (middle) {");
    for (int i = 0; i < slice; i++)
        take(e, "s", i, "w", "(B + i0)");
    sp_line(e, "        }");
    sp_line(e, "        for (int64_t d = middle; d < many; d++) {");
    sp_line(e, "            const int64_t o = a->diagonal[d];");
    sp_line(e, "            const uint64_t j = (uint64_t)(i0 - o);");
    sp_line(e, "            const %s *right = w + d * TALL;", e->T);
    sp_line(e,
            "            const %s *left = val + (j / ROWS * (uint64_t)many + "
            "(uint64_t)d) * TALL + j %% ROWS;",
            e->T);
    sp_line(e, "            const %s *x = B + i0 + o, *z = B + i0 - o;", e->T);
    for (int i = 0; i < slice; i++)
        take(e, "s", i, "right", "x");
    for (int i = 0; i < slice; i++)
        take(e, "t", i, "left", "z");
    sp_line(e, "        }");
}

static void inner_group(sp_emit *e)
{
    for (int i = 0; i < e->k->slice; i++)
        sp_line(e, "        %s%d s%d = {0}, t%d = {0};", e->v, e->lanes, i, i);
    both_sides(e);
    for (int i = 0; i < e->k->slice; i++) {
        sp_line(e, "        s%d = alpha * (s%d + t%d);", i, i, i);
        sp_emit_store_part(e, i);
    }
}

/* Groups from which a diagonal leaves the matrix, entry by entry. */
static void edge_group(sp_emit *e, int total)
{
    sp_line(e,
            "        for (int64_t i = i0; i < i0 + %d && i < a->rows; i++) {",
            total);
    sp_line(e, "            %s s = 0;", e->T);
    sp_line(e, "            for (int64_t d = 0; d < many; d++) {");
    sp_line(e, "                const int64_t o = a->diagonal[d], j = i - o;");
    sp_line(e, "                if (i + o < a->rows)");
    sp_line(e, "                    s += w[d * TALL + i - i0] * B[i + o];");
    sp_line(e, "                if (o > 0 && j >= 0)");
    sp_line(e, "                    s += val[(j / ROWS * many + d) * TALL + "
               "j %% ROWS] * B[j];");
    sp_line(e, "            }");
    sp_line(e, "            C[i] = alpha * s + (beta != 0 ? beta * C[i] : 0);");
    sp_line(e, "            bad1 += C[i] - C[i];");
    sp_line(e, "        }");
}

void sp_emit_symmetric(sp_emit *e)
{
    int total = e->k->slice * e->lanes;

    sp_emit_opening(e);
    sp_line(e, "    (void)col;");
    sp_line(e, "    enum { ROWS = %d, TALL = ROWS + %d };", SP_TRIANGLE_ROWS,
            total);
    sp_line(e, "    const int64_t many = a->diagonals;");
    sp_line(e, "    const int64_t middle = many > 0 && a->diagonal[0] == 0;");
    sp_line(e, "    const int64_t high = many ? a->diagonal[many - 1] : 0;");
    sp_line(e, "    for (int64_t u = a->first; u < last; u++) {");
    sp_line(e, "        const int64_t i0 = u * %d;", total);
    sp_line(e,
            "        const %s *w = val + i0 / ROWS * many * TALL + i0 %% ROWS;",
            e->T);
    sp_line(e, "        if (i0 >= high && i0 + %d + high <= a->rows) {", total);
    inner_group(e);
    sp_line(e, "        continue;");
    sp_line(e, "        }");
    edge_group(e, total);
    sp_line(e, "    }");
    sp_emit_closing(e);
}
