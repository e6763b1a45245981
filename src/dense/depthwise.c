/* depthwise.c - every channel for itself: tiles of pixels of a line, all
 * channels of a tile before the next. */
#include <string.h>

#include "base/base.h"
#include "dense/tiling.h"

static const char *illegal(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m)
{
    const spry_operator *op = &p->op;

    if (!sp_operator_depthwise(op) || op->k != op->c)
        return "it computes depthwise convolutions";
    if ((op->s != 3 && op->s != 5) || op->stride_w > 2 || op->dilate_w != 1)
        return "it takes filters 3 or 5 wide, stride 1 or 2, no dilation";
    if (x->mr > SP_DEPTHWISE_MR || x->v != 1 ||
        !sp_dense_loops_of(m->isa).depthwise)
        return "there is no such tile";
    return NULL;
}

/* [k][1][r][s] to [r][s][channels, padded]. */
static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    const spry_operator *op = &plan->p->op;
    int lanes = sp_dense_loops_of(m->isa).tiles->lanes;
    int64_t wide = (op->c + lanes - 1) / lanes * lanes;
    int64_t taps = op->r * op->s;
    spry_status s = sp_tiling_make(&plan->tiling, plan->p, &plan->x, lanes);

    if (s != SPRY_OK)
        return s;
    plan->packed = sp_alloc(taps * wide, sizeof(float));
    plan->bias = op->with_bias ? sp_alloc(wide, sizeof(float)) : NULL;
    if (!plan->packed || (op->with_bias && !plan->bias))
        return sp_fail_memory((size_t)(taps * wide) * sizeof(float));
    plan->head.bytes = 4 * (double)(taps * wide);
    for (int64_t c = 0; c < op->c; c++)
        for (int64_t i = 0; i < taps; i++)
            plan->packed[i * wide + c] = op->weights[c * taps + i];
    if (plan->bias)
        memcpy(plan->bias, op->bias, (size_t)op->c * sizeof(float));
    plan->tiling->w_tap = wide;
    return SPRY_OK;
}

static void run_tile(const sp_dense_plan *plan, const sp_depthwise *line,
                     const sp_tile_place *x)
{
    const spry_operator *op = &plan->p->op;
    const sp_tiling *t = plan->tiling;
    int64_t first = x->at * op->stride_w - op->pad_left;
    int64_t last = first + (x->mr - 1) * op->stride_w + op->s;
    sp_depthwise d = *line;
    int edge = first < 0 || last > op->w;

    d.in += first * op->pitch_in;
    d.low = first < 0 ? -first : 0;
    d.high = op->w - first;
    d.out += x->at * t->out_pixel;
    d.add = d.add ? d.add + x->at * t->out_pixel : NULL;
    sp_dense_loops_of(plan->machine.isa)
        .depthwise->tile[op->s / 2][op->stride_w][x->mr][edge](&d);
}

static void share(const sp_dense_plan *plan, const spry_tensors *tensors, int i,
                  void *scratch)
{
    const spry_operator *op = &plan->p->op;
    const sp_tiling *t = plan->tiling;

    (void)scratch;
    for (int64_t at = t->cut[i]; at < t->cut[i + 1]; at++) {
        int64_t line = at / t->tiles, image = line / t->height;
        int64_t p = line % t->height, y = p * op->stride_h - op->pad_top;
        int64_t r0 = 0, r1 = op->r;
        int64_t out = image * t->out_image + p * t->out_line;

        while (r0 < r1 && y + r0 * op->dilate_h < 0)
            r0++;
        while (r1 > r0 && y + (r1 - 1) * op->dilate_h >= op->h)
            r1--;
        run_tile(
            plan,
            &(sp_depthwise){.in = tensors->in + image * t->in_image +
                                  (y + r0 * op->dilate_h) * t->in_line,
                            .pitch = op->pitch_in,
                            .rows = r1 - r0,
                            .row = op->dilate_h * t->in_line,
                            .w = plan->packed + r0 * op->s * t->w_tap,
                            .w_tap = t->w_tap,
                            .bias = plan->bias,
                            .add = tensors->add ? tensors->add + out : NULL,
                            .out = tensors->out + out,
                            .pitch_out = op->pitch_out,
                            .channels = op->c,
                            .f = &t->finish},
            &t->tile[at % t->tiles]);
    }
}

const sp_dense_algorithm sp_dense_dw = {illegal, prepare, share, 1};
