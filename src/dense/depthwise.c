/* depthwise.c - every channel for itself: which there are, and their
 * filters. */
#include <string.h>

#include "base/base.h"
#include "dense/internal.h"
#include "dense/tiling.h"

static const char *illegal(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m)
{
    const spry_operator *op = &p->op;
    const sp_depthwise_set *set = sp_dense_loops_of(m->isa).depthwise;

    if (!sp_operator_depthwise(op) || op->k != op->c)
        return "it computes depthwise convolutions";
    if ((op->s != 3 && op->s != 5) || op->stride_w > 2 || op->dilate_w != 1)
        return "it takes filters 3 or 5 wide, stride 1 or 2, no dilation";
    if (x->mr > SP_DEPTHWISE_MR || x->v != 1 || !set ||
        !set->tile[op->s / 2][op->stride_w][x->mr][SP_OVERHANG_NONE])
        return "there is no such tile";
    if (x->block % 16)
        return "a block has 16 channels, or so many times as many";
    return NULL;
}

/* [k][1][r][s] to [r][s][channels, padded]. */
static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    const spry_operator *op = &plan->p->op;
    int lanes = sp_dense_loops_of(m->isa).tiles->lanes;
    int64_t wide = (op->c + lanes - 1) / lanes * lanes;
    int64_t taps = op->r * op->s;
    int packs = 0;
    spry_status s = sp_tiling_make(&plan->tiling, &plan->core);

    if (s == SPRY_OK)
        s = sp_dense_room(plan, taps * wide, &packs);
    if (s == SPRY_OK)
        s = sp_dense_pack_bias(plan, 1, op->c, wide);
    if (s != SPRY_OK)
        return s;
    if (packs)
        memset(plan->packed, 0, (size_t)(taps * wide) * sizeof(float));
    for (int64_t c = 0; packs && c < op->c; c++)
        for (int64_t i = 0; i < taps; i++)
            plan->packed[i * wide + c] = op->weights[c * taps + i];
    return SPRY_OK;
}

const sp_dense_algorithm sp_dense_dw = {illegal, prepare, sp_depthwise_part, 1};
