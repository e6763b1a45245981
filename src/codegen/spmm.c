/* spmm.c - C = A B with a tile of C's row held in registers.
 *
 * For every row the tile's accumulators live in vector registers over all
 * its entries, so C is touched once; entries are taken `unroll` at a time
 * into separate accumulators to hide the latency of the multiply-add. */
#include "codegen/emit.h"

/* What is left of a row of any width is less than a vector: not worth the
 * time that the compiler would need for it. */
static int entries_at_a_time(const sp_emit *e, const sp_pieces *p)
{
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

static void tile(sp_emit *e, const sp_pieces *p)
{
    int unroll = entries_at_a_time(e, p);

    declare(e, p);
    sp_line(e,
            "        const %s *b = B + (base ? (int64_t)base[u] * n : 0) "
            "+ j;",
            e->T);
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
