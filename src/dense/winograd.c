/* winograd.c - 3x3 convolutions with 16 products for every 4 results instead
 * of 36. `block` tiles of 2 x 2 results are transformed, multiplied with all
 * channels and transformed back while they are in the cache. */
#include <string.h>

#include "base/base.h"
#include "dense/tiling.h"

static const char *illegal(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m)
{
    const spry_operator *op = &p->op;
    const sp_tile_set *set = sp_dense_loops_of(m->isa).tiles;

    if (op->kind != SPRY_CONV2D || op->r != 3 || op->s != 3 ||
        op->stride_h != 1 || op->stride_w != 1 || op->dilate_h != 1 ||
        op->dilate_w != 1 || op->groups != 1)
        return "it computes 3x3 convolutions, stride 1, one group";
    if (x->block < 1 || x->block > 4096)
        return "a block has 1 to 4096 tiles";
    if (!set || x->mr > SP_TILE_MR || x->v > SP_TILE_V ||
        !set->tile[x->v][x->mr])
        return "there is no such tile";
    for (int v = 1; v < x->v; v++)
        if (!set->tile[v][x->mr])
            return "there is no such tile for the last channels";
    return NULL;
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

/* Transformed tiles of a channel are whole vectors apart. */
static int64_t padded(const sp_dense_plan *plan)
{
    int lanes = sp_dense_loops_of(plan->machine.isa).tiles->lanes;

    return (plan->tiling->c + lanes - 1) / lanes * lanes;
}

static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    const spry_operator *op = &plan->p->op;
    int lanes = sp_dense_loops_of(m->isa).tiles->lanes;
    int64_t wide, count;
    sp_tiling *t;
    spry_status s = sp_tiling_make(&plan->tiling, plan->p, &plan->x, lanes);

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
    plan->scratch = 4 * 16 * plan->x.block * (padded(plan) + t->nr);
    return SPRY_OK;
}

/* ---- tiles of 2 x 2 results ---- */

typedef struct {
    int64_t image, p, q; /* of its first result */
} corner;

static corner corner_of(const sp_dense_problem *p, int64_t i)
{
    int64_t wide = (p->width + 1) / 2, high = (p->height + 1) / 2;

    return (corner){i / wide / high, i / wide % high * 2, i % wide * 2};
}

static void gather(float *out, int64_t skip, const sp_dense_plan *plan,
                   const spry_tensors *t, corner at)
{
    const spry_operator *op = &plan->p->op;
    const float *pixel[16];

    for (int i = 0; i < 16; i++) {
        int64_t y = at.p - op->pad_top + i / 4, x = at.q - op->pad_left + i % 4;

        pixel[i] =
            y < 0 || y >= op->h || x < 0 || x >= op->w
                ? NULL
                : t->in + ((at.image * op->h + y) * op->w + x) * op->pitch_in;
    }
    sp_dense_loops_of(plan->machine.isa).winograd->in(out, skip, pixel, op->c);
}

static void scatter(const sp_dense_plan *plan, const spry_tensors *t, corner at,
                    int64_t block, const float *sums, int64_t skip)
{
    const sp_dense_problem *p = plan->p;
    const sp_tiling *g = plan->tiling;
    sp_winograd_out o = {.keep = sp_tiling_keep(g, block),
                         .bias = plan->bias ? plan->bias + block * g->nr : NULL,
                         .f = &g->finish};

    for (int i = 0; i < 4; i++) {
        int64_t y = at.p + i / 2, x = at.q + i % 2;
        int64_t place =
            ((at.image * p->height + y) * p->width + x) * p->op.pitch_out +
            block * g->nr;

        if (y >= p->height || x >= p->width)
            continue;
        o.out[i] = t->out + place;
        o.add[i] = t->add ? t->add + place : NULL;
    }
    sp_dense_loops_of(plan->machine.isa).winograd->out(&o, sums, skip);
}

/* One of the 16 products: count tiles x channels of a block. */
static void multiply(const sp_dense_plan *plan, float *sums, const float *in,
                     const float *w, int v, int64_t count)
{
    static const sp_finish none = {.clamps = 0};
    const sp_tile_set *set = sp_dense_loops_of(plan->machine.isa).tiles;
    int64_t wide = v * set->lanes, depth = padded(plan);
    int64_t parts = (count + plan->x.mr - 1) / plan->x.mr;
    int64_t base = count / parts, extra = count % parts;
    sp_tile a = {.in = in,
                 .pixel = depth,
                 .rows = 1,
                 .cols = 1,
                 .length = plan->tiling->c,
                 .w = w,
                 .first = 1,
                 .last = 1,
                 .out = sums,
                 .pitch = wide,
                 .keep = wide,
                 .f = &none,
                 .tiles = extra};

    if (extra)
        set->tile[v][base + 1](&a);
    a.in += extra * (base + 1) * depth;
    a.out += extra * (base + 1) * wide;
    a.tiles = parts - extra;
    set->tile[v][base](&a);
}

/* Tiles [from, from + count), blocks [first, last). */
static void run_block(const sp_dense_plan *plan, const spry_tensors *t,
                      int64_t from, int64_t count, int64_t first, int64_t last,
                      float *scratch)
{
    const sp_tiling *g = plan->tiling;
    int lanes = sp_dense_loops_of(plan->machine.isa).tiles->lanes;
    int64_t depth = padded(plan), skip = count * depth;
    float *sums = scratch + 16 * plan->x.block * depth;

    for (int64_t i = 0; i < count; i++)
        gather(scratch + i * depth, skip, plan, t,
               corner_of(plan->p, from + i));
    for (int64_t b = first; b < last; b++) {
        int v = sp_tiling_vectors(g, b, lanes);
        const float *w = plan->packed + b * 16 * g->c * g->nr;

        for (int i = 0; i < 16; i++)
            multiply(plan, sums + i * count * v * lanes, scratch + i * skip,
                     w + i * g->c * v * lanes, v, count);
        for (int64_t i = 0; i < count; i++)
            scatter(plan, t, corner_of(plan->p, from + i), b,
                    sums + i * v * lanes, count * v * lanes);
    }
}

static void share(const sp_dense_plan *plan, const spry_tensors *t, int i,
                  void *scratch)
{
    const sp_dense_problem *p = plan->p;
    int64_t tiles = p->op.n * ((p->height + 1) / 2) * ((p->width + 1) / 2);
    int64_t blocks = plan->tiling->blocks, shares = plan->x.threads;
    int64_t from = plan->x.channels ? 0 : tiles * i / shares;
    int64_t to = plan->x.channels ? tiles : tiles * (i + 1) / shares;
    int64_t first = plan->x.channels ? blocks * i / shares : 0;
    int64_t last = plan->x.channels ? blocks * (i + 1) / shares : blocks;

    if (first == last)
        return;
    for (; from < to; from += plan->x.block)
        run_block(plan, t, from,
                  to - from < plan->x.block ? to - from : plan->x.block, first,
                  last, scratch);
}

/* Sums of four inputs, nine weights and nine products. */
const sp_dense_algorithm sp_dense_wino2 = {illegal, prepare, share, 12};
