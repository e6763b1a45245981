/* spmm.c - C = A B with a tile of C's row held in registers.
 *
 * For every row the tile's accumulators live in vector registers over all
 * its entries, so C is touched once. To hide the latency of the multiply-add
 * there are several sets of them: for `unroll` entries of the row at a time,
 * or, in slices of rows, for one entry of each row. */
#include "codegen/emit.h"

/* What is left of a row of any width is less than a vector: not worth the
 * time that the compiler would need for it. */
static int entries_at_a_time(const sp_emit *e, const sp_pieces *p)
{
    if (sp_formats[e->k->format].slices)
        return e->k->slice;
    return !e->k->n && p->total < e->lanes ? 1 : e->k->unroll;
}

static void declare(sp_emit *e, const sp_pieces *p)
{
    char v[16];

    for (int q = 0; q < entries_at_a_time(e, p); q++)
        for (int i = 0; i < p->count; i++)
            sp_line(e, "        %s s%d_%d = %s;", sp_vec(v, e, p->width[i]), q,
                    i, p->width[i] > 1 ? "{0}" : "0");
}

/* s += val[k + q] * B's row of that entry. */
static void accumulate(sp_emit *e, const sp_pieces *p, int q)
{
    char mem[16], ahead[64];

    snprintf(ahead, sizeof ahead, "b + (int64_t)col[k + %d + ahead] * n", q);
    sp_emit_prefetch(e, p, ahead);
    sp_line(e, "            const %s *x%d = b + (int64_t)col[k + %d] * n;",
            e->T, q, q);
    sp_line(e, "            const %s w%d = val[k + %d];", e->T, q, q);
    for (int i = 0; i < p->count; i++)
        sp_line(e, "            s%d_%d += w%d * *(const %s *)(x%d + %d);", q, i,
                q, sp_mem(mem, e, p->width[i]), q, p->offset[i]);
}

static void begin(sp_emit *e, const sp_pieces *p)
{
    declare(e, p);
    sp_line(e,
            "        const %s *b = B + (base ? (int64_t)base[u] * n : 0) "
            "+ j;",
            e->T);
}

static void tile(sp_emit *e, const sp_pieces *p)
{
    int unroll = entries_at_a_time(e, p);

    begin(e, p);
    sp_line(e, "        int64_t k = start[u];");
    sp_line(e, "        const int64_t end = start[u + 1];");
    if (unroll > 1) {
        sp_line(e, "        for (; k + %d <= end; k += %d) {", unroll, unroll);
        for (int q = 0; q < unroll; q++)
            accumulate(e, p, q);
        sp_line(e, "        }");
    }
    sp_line(e, "        for (; k < end; k++) {");
    accumulate(e, p, 0);
    sp_line(e, "        }");
    for (int q = 1; q < unroll; q++)
        for (int i = 0; i < p->count; i++)
            sp_line(e, "        s0_%d += s%d_%d;", i, q, i);
    sp_line(e, "        %s *c = C + (row ? (int64_t)row[u] : u) * wide + j;",
            e->T);
    sp_emit_store(e, p, "s0_");
}

void sp_emit_csr_spmm(sp_emit *e)
{
    sp_emit_passes(e, tile);
}

/* Rows of a slice are as long as its longest; lanes past the last row are
 * walked and not stored. */
static void slice_tile(sp_emit *e, const sp_pieces *p)
{
    int rows = e->k->slice;
    char stem[16];

    begin(e, p);
    sp_line(e,
            "        for (int64_t k = start[u]; k < start[u + 1]; k += %d) {",
            rows);
    for (int q = 0; q < rows; q++)
        accumulate(e, p, q);
    sp_line(e, "        }");
    for (int q = 0; q < rows; q++) {
        sp_line(e,
                "        const int64_t r%d = row ? (int64_t)row[u * %d + %d] : "
                "u * %d + %d;",
                q, rows, q, rows, q);
        sp_line(e, "        if (r%d >= 0 && r%d < a->rows) {", q, q);
        sp_line(e, "        %s *c = C + r%d * wide + j;", e->T, q);
        snprintf(stem, sizeof stem, "s%d_", q);
        sp_emit_store(e, p, stem);
        sp_line(e, "        }");
    }
}

void sp_emit_sell_spmm(sp_emit *e)
{
    sp_emit_passes(e, slice_tile);
}
