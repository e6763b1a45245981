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

/* Filters of this many channels are transformed side by side. */
enum { SIDE = 4 };
typedef float side[SIDE];

/* Four lines of G times three numbers. */
static void transform_line(side *out, int skip, const float *a, const float *b,
                           const float *c)
{
    for (int l = 0; l < SIDE; l++) {
        out[0][l] = a[l];
        out[skip][l] = (a[l] + b[l] + c[l]) * 0.5f;
        out[2 * skip][l] = (a[l] - b[l] + c[l]) * 0.5f;
        out[3 * skip][l] = c[l];
    }
}

/* G g G'. */
static void transform_filters(side out[16], side g[9])
{
    side y[12];

    for (int j = 0; j < 3; j++)
        transform_line(y + j, 3, g[j], g[3 + j], g[6 + j]);
    for (int i = 0; i < 4; i++)
        transform_line(out + 4 * i, 1, y[3 * i], y[3 * i + 1], y[3 * i + 2]);
}

/* Channels j .. j + SIDE of a block, of which `keep` exist. */
static void pack_side(float *block, const sp_tiling *t, const float *from,
                      int64_t wide, int64_t j, int64_t keep)
{
    int64_t there = keep - j < SIDE ? keep - j : SIDE, row = t->c * 9;
    size_t bytes = (size_t)(wide - j < SIDE ? wide - j : SIDE) * sizeof(float);

    for (int64_t c = 0; c < t->c; c++) {
        side g[9] = {{0}}, u[16];

        for (int64_t l = 0; l < there; l++)
            for (int i = 0; i < 9; i++)
                g[i][l] = from[(j + l) * row + c * 9 + i];
        transform_filters(u, g);
        for (int i = 0; i < 16; i++)
            memcpy(block + (i * t->c + c) * wide + j, u[i], bytes);
    }
}

/* [k][c][3][3] to [block][16][c][channels of the block]. */
static void pack(float *out, const sp_tiling *t, const spry_operator *op,
                 int lanes)
{
    for (int64_t b = 0; b < t->blocks; b++) {
        int64_t wide = sp_tiling_vectors(t, b, lanes) * lanes;
        int64_t keep = sp_tiling_keep(t, b);
        float *block = out + b * 16 * t->c * t->nr;
        const float *from = op->weights + b * t->nr * t->c * 9;

        for (int64_t j = 0; j < wide; j += SIDE)
            pack_side(block, t, from, wide, j, keep);
    }
}

static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    const spry_operator *op = &plan->p->op;
    int lanes = sp_dense_loops_of(m->isa).tiles->lanes;
    int64_t wide, count, depth;
    int packs;
    sp_tiling *t;
    spry_status s = sp_tiling_make(&plan->tiling, &plan->core);

    if (s != SPRY_OK)
        return s;
    t = plan->tiling;
    wide = (t->blocks - 1) * t->nr +
           sp_tiling_vectors(t, t->blocks - 1, lanes) * lanes;
    count = 16 * t->c * wide;
    s = sp_dense_room(plan, count, &packs);
    if (s == SPRY_OK)
        s = sp_dense_pack_bias(plan, 1, op->k, wide);
    if (s != SPRY_OK)
        return s;
    if (packs)
        pack(plan->packed, t, op, lanes);
    depth = (t->c + lanes - 1) / lanes * lanes;
    plan->scratch = 4 * 16 * plan->x.block * (depth + t->nr);
    return SPRY_OK;
}

/* Sums of four inputs, nine weights and nine products. */
const sp_dense_algorithm sp_dense_wino2 = {illegal, prepare, sp_winograd_part,
                                           12};
