/* direct.c - convolutions and products by tiles of sums: no copies of the
 * input, no padding; taps outside of the image are left out.
 *
 * Weights are packed as [group][block][tap line][tap][c][channels of the
 * block], so that a tile reads them from front to back. */
#include <string.h>

#include "base/base.h"
#include "dense/internal.h"
#include "dense/tiling.h"
#include "dense/turn.h"

/* ---- packing ---- */

/* Where the weights of one block come from: those of channel j lie at
 * from[j * row], the taps of an input together; or, row 0, channels are
 * neighbours and inputs `step` apart. */
typedef struct {
    const float *from;
    int64_t row, step, c, taps;
} block_source;

static block_source source_of(const spry_operator *op, const sp_tiling *t,
                              int64_t image, int64_t k0)
{
    block_source b = {op->weights, 0, 0, t->c, t->taps_h * t->taps_w};

    if (op->kind == SPRY_CONV2D) {
        b.row = b.c * b.taps;
        b.from += k0 * b.row;
    } else if (op->transposed) {
        b.row = op->pitch_b;
        b.from += image * op->skip_b + k0 * b.row;
    } else {
        b.step = op->pitch_b;
        b.from += image * op->skip_b + k0;
    }
    return b;
}

/* One block: `keep` channels, padded with zeros to `wide`. */
static void pack_block(float *out, const block_source *b, int64_t keep,
                       int64_t wide)
{
    int64_t terms = b->taps * b->c;

    if (keep < wide)
        memset(out, 0, (size_t)(terms * wide) * sizeof *out);
    for (int64_t c = 0; c < b->c && !b->row; c++)
        memcpy(out + c * wide, b->from + c * b->step,
               (size_t)keep * sizeof *out);
    for (int64_t at = 0; at < terms && b->row; at += SP_TURN_LINE) {
        int64_t place[SP_TURN_LINE];
        int count =
            (int)(terms - at < SP_TURN_LINE ? terms - at : SP_TURN_LINE);

        for (int i = 0; i < count; i++)
            place[i] = ((at + i) % b->taps * b->c + (at + i) / b->taps) * wide;
        sp_turn_line(out, place, b->from + at, b->row, keep, count);
    }
}

static spry_status pack(sp_dense_plan *plan, int lanes)
{
    const spry_operator *op = &plan->p->op;
    const sp_tiling *t = plan->tiling;
    int64_t terms = t->taps_h * t->taps_w * t->c;
    int64_t images = op->kind == SPRY_MATMUL && !op->shared_b ? op->batch : 1;
    int packs = 0;
    spry_status s =
        op->given
            ? SPRY_OK
            : sp_dense_room(plan, images * t->groups * t->w_group, &packs);

    for (int64_t i = 0; packs && s == SPRY_OK && i < images; i++)
        for (int64_t g = 0; g < t->groups; g++)
            for (int64_t b = 0; b < t->blocks; b++) {
                block_source from = source_of(op, t, i, g * t->k + b * t->nr);

                pack_block(plan->packed + i * t->w_image + g * t->w_group +
                               b * t->nr * terms,
                           &from, sp_tiling_keep(t, b),
                           sp_tiling_vectors(t, b, lanes) * lanes);
            }
    return s;
}

static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    int lanes = sp_dense_loops_of(m->isa).tiles->lanes;
    spry_status s = sp_tiling_make(&plan->tiling, &plan->core);

    if (s == SPRY_OK)
        s = pack(plan, lanes);
    if (s == SPRY_OK)
        s = sp_dense_pack_bias(plan, plan->tiling->groups, plan->tiling->k,
                               (plan->tiling->k + lanes - 1) / lanes * lanes);
    plan->scratch = SP_TILE_MR * SP_TILE_V * lanes * (int64_t)sizeof(float);
    if (s == SPRY_OK && plan->p->op.given)
        plan->scratch +=
            plan->p->op.k * plan->tiling->nr * (int64_t)sizeof(float);
    return s;
}

/* ---- legality ---- */

const char *sp_tile_missing(const sp_dense_way *x, const spry_machine *m)
{
    const sp_tile_set *set = sp_dense_loops_of(m->isa).tiles;

    if (!set || x->mr > SP_TILE_MR || x->v > SP_TILE_V ||
        !set->tile[x->v][x->mr])
        return "there is no such tile";
    for (int v = 1; v < x->v; v++)
        if (!set->tile[v][x->mr])
            return "there is no such tile for the last channels";
    return NULL;
}

static const char *illegal(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m)
{
    if (p->op.kind != SPRY_CONV2D && p->op.kind != SPRY_MATMUL)
        return "it computes convolutions and products";
    if (p->op.given && (x->block || x->channels))
        return "a B of each run has neither blocks nor a split";
    return sp_tile_missing(x, m);
}

const sp_dense_algorithm sp_dense_direct = {illegal, prepare, sp_direct_part,
                                            1};
