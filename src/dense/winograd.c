/* winograd.c - 3x3 convolutions with 16 products for every 4 results instead
 * of 36: which there are, and their filters. */
#include <string.h>

#include "base/base.h"
#include "dense/internal.h"
#include "dense/tiling.h"

static const char *illegal(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m)
{
    const spry_operator *op = &p->op;

    if (op->kind != SPRY_CONV2D || op->r != 3 || op->s != 3 ||
        op->stride_h != 1 || op->stride_w != 1 || op->dilate_h != 1 ||
        op->dilate_w != 1 || op->groups != 1)
        return "it computes 3x3 convolutions, stride 1, one group";
    if (x->block < 1 || x->block > 4096)
        return "a block has 1 to 4096 tiles";
    return sp_tile_missing(x, m);
}

/* G g G', of one filter. */
static void transform_filter(float out[16], const float *g)
{
    float y[12];

    for (int j = 0; j < 3; j++) {
        float a = g[j], b = g[3 + j], c = g[6 + j];

        y[j] = a;
        y[3 + j] = (a + b + c) * 0.5f;
        y[6 + j] = (a - b + c) * 0.5f;
        y[9 + j] = c;
    }
    for (int i = 0; i < 4; i++) {
        float a = y[3 * i], b = y[3 * i + 1], c = y[3 * i + 2];

        out[4 * i] = a;
        out[4 * i + 1] = (a + b + c) * 0.5f;
        out[4 * i + 2] = (a - b + c) * 0.5f;
        out[4 * i + 3] = c;
    }
}

/* [k][c][3][3] to [block][16][c][channels of the block]. */
static void pack(float *out, const sp_tiling *t, const spry_operator *op,
                 int lanes)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = 0; b < t->blocks; b++) {
        int64_t wide = sp_tiling_vectors(t, b, lanes) * lanes;
        int64_t keep = sp_tiling_keep(t, b);
        float *block = out + b * 16 * t->c * t->nr;

        for (int64_t c = 0; c < t->c; c++)
            for (int64_t j = 0; j < wide; j++) {
                float u[16] = {0};

                if (j < keep)
                    transform_filter(u, op->weights +
                                            ((b * t->nr + j) * t->c + c) * 9);
                for (int i = 0; i < 16; i++)
                    block[(i * t->c + c) * wide + j] = u[i];
            }
    }
}

static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    const spry_operator *op = &plan->p->op;
    int lanes = sp_dense_loops_of(m->isa).tiles->lanes;
    int64_t wide, count, depth;
    sp_tiling *t;
    spry_status s = sp_tiling_make(&plan->tiling, &plan->core);

    if (s != SPRY_OK)
        return s;
    t = plan->tiling;
    wide = (t->blocks - 1) * t->nr +
           sp_tiling_vectors(t, t->blocks - 1, lanes) * lanes;
    count = 16 * t->c * wide;
    plan->packed = sp_alloc_raw(count, sizeof(float));
    plan->bias = op->with_bias ? sp_alloc(wide, sizeof(float)) : NULL;
    if (!plan->packed || (op->with_bias && !plan->bias))
        return sp_fail_memory((size_t)count * sizeof(float));
    plan->head.bytes = 4 * (double)count;
    pack(plan->packed, t, op, lanes);
    if (plan->bias)
        memcpy(plan->bias, op->bias, (size_t)op->k * sizeof(float));
    depth = (t->c + lanes - 1) / lanes * lanes;
    plan->scratch = 4 * 16 * plan->x.block * (depth + t->nr);
    return SPRY_OK;
}

/* Sums of four inputs, nine weights and nine products. */
const sp_dense_algorithm sp_dense_wino2 = {illegal, prepare, sp_winograd_part,
                                           12};
