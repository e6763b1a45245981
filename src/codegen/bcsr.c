/* bcsr.c - dense r x c blocks.
 *
 * A block is stored column by column. Its column number is that of its first
 * column; blocks at the right edge are moved left when packed, so that they
 * never reach past the matrix. Rows past the last are not stored. */
#include "codegen/emit.h"

/* ---- spmm: r rows of C times a tile of columns in registers ---- */

static void block_row(sp_emit *e, const sp_pieces *p, int col)
{
    char v[16], mem[16];
    int r = e->k->r;

    for (int i = 0; i < p->count; i++)
        sp_line(e,
                "            const %s x%d_%d = *(const %s *)(x + %d * n + "
                "%d);",
                sp_vec(v, e, p->width[i]), col, i, sp_mem(mem, e, p->width[i]),
                col, p->offset[i]);
    for (int q = 0; q < r; q++)
        for (int i = 0; i < p->count; i++)
            sp_line(e, "            s%d_%d += w[%d] * x%d_%d;", q, i,
                    col * r + q, col, i);
}

static void tile(sp_emit *e, const sp_pieces *p)
{
    char v[16], stem[16], ahead[64];
    int r = e->k->r, c = e->k->c;

    for (int q = 0; q < r; q++)
        for (int i = 0; i < p->count; i++)
            sp_line(e, "        %s s%d_%d = %s;", sp_vec(v, e, p->width[i]), q,
                    i, p->width[i] > 1 ? "{0}" : "0");
    sp_line(e,
            "        const %s *b = B + (base ? (int64_t)base[u] * n : 0) "
            "+ j;",
            e->T);
    sp_line(e, "        for (int64_t k = start[u]; k < start[u + 1]; k++) {");
    for (int i = 0; i < c; i++) {
        snprintf(ahead, sizeof ahead, "b + ((int64_t)col[k + ahead] + %d) * n",
                 i);
        sp_emit_prefetch(e, p, ahead);
    }
    sp_line(e, "            const %s *x = b + (int64_t)col[k] * n;", e->T);
    sp_line(e, "            const %s *w = val + k * %d;", e->T, r * c);
    for (int i = 0; i < c; i++)
        block_row(e, p, i);
    sp_line(e, "        }");
    for (int q = 0; q < r; q++) {
        sp_line(e, "        if (u * %d + %d < a->rows) {", r, q);
        sp_line(e, "        %s *c = C + (u * %d + %d) * wide + j;", e->T, r, q);
        snprintf(stem, sizeof stem, "s%d_", q);
        sp_emit_store(e, p, stem);
        sp_line(e, "        }");
    }
}

void sp_emit_bcsr_spmm(sp_emit *e)
{
    sp_emit_passes(e, tile);
}

/* ---- spmv, r > 1: a vector of r rows, one multiply-add per column ---- */

static void column(sp_emit *e, const sp_pieces *p, int col)
{
    char mem[16];

    for (int i = 0; i < p->count; i++)
        sp_line(e, "        s%d_%d += x[%d] * *(const %s *)(w + %d);", col % 2,
                i, col, sp_mem(mem, e, p->width[i]),
                col * e->k->r + p->offset[i]);
}

static void rows_of_block(sp_emit *e, const sp_pieces *p)
{
    char v[16];
    int both = e->k->c > 1;

    for (int q = 0; q <= both; q++)
        for (int i = 0; i < p->count; i++)
            sp_line(e, "    %s s%d_%d = {0};", sp_vec(v, e, p->width[i]), q, i);
    sp_line(e, "    for (int64_t k = start[u]; k < start[u + 1]; k++) {");
    sp_line(e, "        const %s *x = b + col[k];", e->T);
    sp_line(e, "        const %s *w = val + k * %d;", e->T, e->k->r * e->k->c);
    for (int i = 0; i < e->k->c; i++)
        column(e, p, i);
    sp_line(e, "    }");
    for (int i = 0; both && i < p->count; i++)
        sp_line(e, "    s0_%d += s1_%d;", i, i);
}

/* Three rows are computed as four; the fourth is the next column's first and
 * is never stored. */
static sp_pieces rows_as_pieces(const sp_emit *e)
{
    return sp_pieces_of(e, e->k->r == 3 ? 4 : e->k->r);
}

/* All lanes of a whole block row. */
static void store_vectors(sp_emit *e, const sp_pieces *p)
{
    for (int i = 0; i < p->count; i++) {
        char mem[16], name[16];

        sp_line(e, "        s0_%d *= alpha;", i);
        sp_line(e, "        if (beta != 0)");
        sp_line(e, "            s0_%d += beta * *(%s *)(c + %d);", i,
                sp_mem(mem, e, p->width[i]), p->offset[i]);
        snprintf(name, sizeof name, "s0_%d", i);
        sp_emit_watch(e, p->width[i], name);
        sp_line(e, "        *(%s *)(c + %d) = s0_%d;",
                sp_mem(mem, e, p->width[i]), p->offset[i], i);
    }
}

static void store_lane(sp_emit *e, int piece, int lane, int at)
{
    sp_line(e, "        if (u * %d + %d < a->rows) {", e->k->r, at);
    sp_line(e,
            "        c[%d] = alpha * s0_%d[%d] + (beta != 0 ? beta "
            "* c[%d] : 0);",
            at, piece, lane, at);
    sp_line(e, "        bad1 += c[%d] - c[%d];", at, at);
    sp_line(e, "        }");
}

/* The last block row may be cut off, and three rows are no vector: lanes are
 * then stored one by one. */
static void store_rows(sp_emit *e, const sp_pieces *p)
{
    int r = e->k->r;

    sp_line(e, "    %s *c = C + u * %d;", e->T, r);
    if (p->total == r) {
        sp_line(e, "    if ((u + 1) * %d <= a->rows) {", r);
        store_vectors(e, p);
        sp_line(e, "    } else {");
    } else
        sp_line(e, "    {");
    for (int i = 0; i < p->count; i++)
        for (int l = 0; l < p->width[i] && p->offset[i] + l < r; l++)
            store_lane(e, i, l, p->offset[i] + l);
    sp_line(e, "    }");
}

/* ---- spmv, r = 1: a vector of c columns, summed at the row's end ---- */

static void wide_row(sp_emit *e)
{
    sp_pieces p = sp_pieces_of(e, e->k->c);
    char v[16], mem[16];

    for (int i = 0; i < p.count; i++)
        sp_line(e, "    %s s%d = {0};", sp_vec(v, e, p.width[i]), i);
    sp_line(e, "    for (int64_t k = start[u]; k < start[u + 1]; k++) {");
    for (int i = 0; i < p.count; i++)
        sp_line(e,
                "        s%d += *(const %s *)(val + k * %d + %d) * "
                "*(const %s *)(b + col[k] + %d);",
                i, sp_mem(mem, e, p.width[i]), e->k->c, p.offset[i], mem,
                p.offset[i]);
    sp_line(e, "    }");
    sp_line(e, "    %s s = 0;", e->T);
    for (int i = 0; i < p.count; i++)
        sp_line(e, "    s += sum_%s%d(s%d);", e->v, p.width[i], i);
    sp_line(e, "    C[u] = alpha * s + (beta != 0 ? beta * C[u] : 0);");
    sp_line(e, "    bad1 += C[u] - C[u];");
}

void sp_emit_bcsr_spmv(sp_emit *e)
{
    sp_pieces p = rows_as_pieces(e);

    sp_emit_opening(e);
    sp_line(e, "    for (int64_t u = a->first; u < last; u++) {");
    sp_line(e, "    const %s *b = B + (base ? (int64_t)base[u] : 0);", e->T);
    if (e->k->r > 1) {
        rows_of_block(e, &p);
        store_rows(e, &p);
    } else
        wide_row(e);
    sp_line(e, "    }");
    sp_emit_closing(e);
}
