/* direct.c - convolutions and products by tiles of sums: no copies of the
 * input, no padding; taps outside of the image are left out.
 *
 * Weights are packed as [group][block][tap line][tap][c][channels of the
 * block], so that a tile reads them from front to back. */
#include <string.h>

#include "base/base.h"
#include "dense/internal.h"
#include "dense/tiling.h"

/* ---- packing ---- */

static float weight_at(const spry_operator *op, int64_t image, int64_t k,
                       int64_t c, int64_t r, int64_t s)
{
    if (op->kind == SPRY_CONV2D)
        return op
            ->weights[((k * (op->c / op->groups) + c) * op->r + r) * op->s + s];
    return op
        ->weights[image * op->skip_b +
                  (op->transposed ? k * op->pitch_b + c : c * op->pitch_b + k)];
}

/* One block: channels k0 .. k0 + keep, padded with zeros to `wide`. */
static void pack_block(float *out, const sp_tiling *t, const spry_operator *op,
                       int64_t image, int64_t k0, int64_t keep, int64_t wide)
{
    for (int64_t r = 0; r < t->taps_h; r++)
        for (int64_t s = 0; s < t->taps_w; s++)
            for (int64_t c = 0; c < t->c; c++, out += wide)
                for (int64_t j = 0; j < wide; j++)
                    out[j] =
                        j < keep ? weight_at(op, image, k0 + j, c, r, s) : 0;
}

static spry_status pack(sp_dense_plan *plan, int lanes)
{
    const spry_operator *op = &plan->p->op;
    const sp_tiling *t = plan->tiling;
    int64_t terms = t->taps_h * t->taps_w * t->c;
    int64_t images = op->kind == SPRY_MATMUL && !op->shared_b ? op->batch : 1;

    if (op->given)
        return SPRY_OK;
    plan->packed = sp_alloc_raw(images * t->groups * t->w_group, sizeof(float));
    if (!plan->packed)
        return sp_fail_memory((size_t)(images * t->w_group) * sizeof(float));
    plan->head.bytes = 4 * (double)(images * t->groups * t->w_group);
    for (int64_t i = 0; i < images; i++)
        for (int64_t g = 0; g < t->groups; g++)
#pragma omp parallel for schedule(dynamic)
            for (int64_t b = 0; b < t->blocks; b++)
                pack_block(plan->packed + i * t->w_image + g * t->w_group +
                               b * t->nr * terms,
                           t, op, i, g * t->k + b * t->nr, sp_tiling_keep(t, b),
                           sp_tiling_vectors(t, b, lanes) * lanes);
    return SPRY_OK;
}

/* Of every group, padded as its blocks are. */
static spry_status pack_bias(sp_dense_plan *plan, int lanes)
{
    const sp_tiling *t = plan->tiling;
    int64_t wide = (t->k + lanes - 1) / lanes * lanes;

    if (!plan->p->op.with_bias)
        return SPRY_OK;
    plan->bias = sp_alloc(t->groups * wide, sizeof(float));
    if (!plan->bias)
        return sp_fail_memory((size_t)(t->groups * wide) * sizeof(float));
    for (int64_t g = 0; g < t->groups; g++)
        memcpy(plan->bias + g * wide, plan->p->op.bias + g * t->k,
               (size_t)t->k * sizeof(float));
    return SPRY_OK;
}

static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    int lanes = sp_dense_loops_of(m->isa).tiles->lanes;
    spry_status s = sp_tiling_make(&plan->tiling, &plan->core);

    if (s == SPRY_OK)
        s = pack(plan, lanes);
    if (s == SPRY_OK)
        s = pack_bias(plan, lanes);
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
