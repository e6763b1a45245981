/* mttkrp.c - C(i,j) = sum_kl A(i,k,l) B(k,j) D(l,j), a tile of j at a time.
 *
 * Three walks. Entry by entry (csr): the tile of C stays in registers, each
 * entry multiplies a row of B by a row of D. Fiber by fiber (csf): a fiber's
 * rows of D are summed in registers first and multiplied by B's row once.
 * Scattered (csf, the result's mode innermost): the product of two rows
 * stays in registers and is added to rows of C.
 *
 * The kernel calls the operand of the middle mode B and that of the inner
 * mode D; scattered, that of the outer mode is B and of the middle one D. */
#include "codegen/emit.h"

/* s<q>_<i> = {0} for the unrolled sums. */
static void declare(sp_emit *e, const sp_pieces *p, const char *stem)
{
    char v[16];

    for (int i = 0; i < p->count; i++)
        sp_line(e, "        %s %s%d = %s;", sp_vec(v, e, p->width[i]), stem, i,
                p->width[i] > 1 ? "{0}" : "0");
}

static void declare_sums(sp_emit *e, const sp_pieces *p)
{
    char stem[16];

    for (int q = 0; q < e->k->unroll; q++) {
        snprintf(stem, sizeof stem, "s%d_", q);
        declare(e, p, stem);
    }
}

/* s0 += s1 + ... */
static void add_sums(sp_emit *e, const sp_pieces *p)
{
    for (int q = 1; q < e->k->unroll; q++)
        for (int i = 0; i < p->count; i++)
            sp_line(e, "        s0_%d += s%d_%d;", i, q, i);
}

/* for (; k < end; k++) step, `unroll` of them at a time while they last. */
typedef void stepper(sp_emit *e, const sp_pieces *p, int q);
static void walk_entries(sp_emit *e, const sp_pieces *p, stepper *step,
                         int unroll)
{
    if (unroll > 1) {
        sp_line(e, "        for (; k + %d <= end; k += %d) {", unroll, unroll);
        for (int q = 0; q < unroll; q++)
            step(e, p, q);
        sp_line(e, "        }");
    }
    sp_line(e, "        for (; k < end; k++) {");
    step(e, p, 0);
    sp_line(e, "        }");
}

/* ---- entry by entry ---- */

static void entry(sp_emit *e, const sp_pieces *p, int q)
{
    char mem[16], ahead[64];

    snprintf(ahead, sizeof ahead, "d + (int64_t)col[k + %d + ahead] * n", q);
    sp_emit_prefetch(e, p, ahead);
    snprintf(ahead, sizeof ahead, "b + (int64_t)mid[k + %d + ahead] * n", q);
    sp_emit_prefetch(e, p, ahead);
    sp_line(e, "            const %s *x%d = d + (int64_t)col[k + %d] * n;",
            e->T, q, q);
    sp_line(e, "            const %s *y%d = b + (int64_t)mid[k + %d] * n;",
            e->T, q, q);
    sp_line(e, "            const %s w%d = val[k + %d];", e->T, q, q);
    for (int i = 0; i < p->count; i++) {
        sp_mem(mem, e, p->width[i]);
        sp_line(e,
                "            s%d_%d += w%d * *(const %s *)(y%d + %d) * "
                "*(const %s *)(x%d + %d);",
                q, i, q, mem, q, p->offset[i], mem, q, p->offset[i]);
    }
}

static void entries_tile(sp_emit *e, const sp_pieces *p)
{
    declare_sums(e, p);
    sp_line(e, "        const %s *b = B + j, *d = D + j;", e->T);
    sp_line(e, "        int64_t k = start[u];");
    sp_line(e, "        const int64_t end = start[u + 1];");
    walk_entries(e, p, entry, e->k->unroll);
    add_sums(e, p);
    sp_line(e, "        %s *c = C + (row ? (int64_t)row[u] : u) * n + j;",
            e->T);
    sp_emit_store(e, p, "s0_");
}

/* ---- fiber by fiber ---- */

/* s<q> += val[k + q] * D's row; or = for a fiber's first. */
static void add_inner(sp_emit *e, const sp_pieces *p, int q, int first)
{
    char mem[16], v[16], ahead[64];

    snprintf(ahead, sizeof ahead, "d + (int64_t)col[k + %d + ahead] * n", q);
    sp_emit_prefetch(e, p, ahead);
    sp_line(e, "            const %s *x%d = d + (int64_t)col[k + %d] * n;",
            e->T, q, q);
    sp_line(e, "            const %s w%d = val[k + %d];", e->T, q, q);
    for (int i = 0; i < p->count; i++) {
        sp_mem(mem, e, p->width[i]);
        if (first)
            sp_line(e, "        %s s%d_%d = w%d * *(const %s *)(x%d + %d);",
                    sp_vec(v, e, p->width[i]), q, i, q, mem, q, p->offset[i]);
        else
            sp_line(e, "            s%d_%d += w%d * *(const %s *)(x%d + %d);",
                    q, i, q, mem, q, p->offset[i]);
    }
}

static void inner_step(sp_emit *e, const sp_pieces *p, int q)
{
    add_inner(e, p, q, 0);
}

/* A fiber has an entry at least: it makes s0, the rest is added. */
static void fiber(sp_emit *e, const sp_pieces *p)
{
    char mem[16], stem[16];

    sp_emit_prefetch(e, p, "b + (int64_t)mid[f + mid_ahead] * n");
    sp_line(e, "        int64_t k = mid_start[f];");
    sp_line(e, "        const int64_t end = mid_start[f + 1];");
    add_inner(e, p, 0, 1);
    for (int q = 1; q < e->k->unroll; q++) {
        snprintf(stem, sizeof stem, "s%d_", q);
        declare(e, p, stem);
    }
    sp_line(e, "        k++;");
    walk_entries(e, p, inner_step, e->k->unroll);
    add_sums(e, p);
    sp_line(e, "        const %s *y = b + (int64_t)mid[f] * n;", e->T);
    for (int i = 0; i < p->count; i++)
        sp_line(e, "        c%d += s0_%d * *(const %s *)(y + %d);", i, i,
                sp_mem(mem, e, p->width[i]), p->offset[i]);
}

static void fibers_tile(sp_emit *e, const sp_pieces *p)
{
    declare(e, p, "c");
    sp_line(e, "        const %s *b = B + j, *d = D + j;", e->T);
    sp_line(e, "        for (int64_t f = start[u]; f < start[u + 1]; f++) {");
    fiber(e, p);
    sp_line(e, "        }");
    sp_line(e, "        %s *c = C + (row ? (int64_t)row[u] : u) * n + j;",
            e->T);
    sp_emit_store(e, p, "c");
}

/* ---- scattered ---- */

static void scatter_step(sp_emit *e, const sp_pieces *p, int q)
{
    char mem[16], ahead[64];

    snprintf(ahead, sizeof ahead, "c + (int64_t)col[k + %d + ahead] * n", q);
    sp_emit_prefetch(e, p, ahead);
    sp_line(e, "            %s *x%d = c + (int64_t)col[k + %d] * n;", e->T, q,
            q);
    sp_line(e, "            const %s w%d = val[k + %d];", e->T, q, q);
    for (int i = 0; i < p->count; i++)
        sp_line(e, "            *(%s *)(x%d + %d) += w%d * t%d;",
                sp_mem(mem, e, p->width[i]), q, p->offset[i], q, i);
}

static void scatter_tile(sp_emit *e, const sp_pieces *p)
{
    char mem[16], v[16];

    sp_line(e, "        const %s *b = B + (int64_t)row[u] * n + j, *d = D + j;",
            e->T);
    sp_line(e, "        %s *c = C + j;", e->T);
    for (int i = 0; i < p->count; i++)
        sp_line(e, "        const %s b%d = alpha * *(const %s *)(b + %d);",
                sp_vec(v, e, p->width[i]), i, sp_mem(mem, e, p->width[i]),
                p->offset[i]);
    sp_line(e, "        for (int64_t f = start[u]; f < start[u + 1]; f++) {");
    sp_emit_prefetch(e, p, "d + (int64_t)mid[f + mid_ahead] * n");
    sp_line(e, "        const %s *y = d + (int64_t)mid[f] * n;", e->T);
    for (int i = 0; i < p->count; i++)
        sp_line(e, "        const %s t%d = b%d * *(const %s *)(y + %d);",
                sp_vec(v, e, p->width[i]), i, i, sp_mem(mem, e, p->width[i]),
                p->offset[i]);
    sp_line(e, "        int64_t k = mid_start[f];");
    sp_line(e, "        const int64_t end = mid_start[f + 1];");
    walk_entries(e, p, scatter_step, 1);
    sp_line(e, "        }");
}

void sp_emit_mttkrp(sp_emit *e)
{
    sp_emit_passes(e, e->k->scatter                     ? scatter_tile
                      : sp_formats[e->k->format].fibers ? fibers_tile
                                                        : entries_tile);
}
