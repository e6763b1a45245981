/* run_winograd.c - one share of a 3x3 convolution by Winograd: `block` tiles
 * of 2 x 2 results are transformed, multiplied with all channels and
 * transformed back while they are in the cache. */
#include "dense/tiling.h"

/* Transformed tiles of a channel are whole vectors apart. */
static int64_t padded(const sp_dense_core *p)
{
    int lanes = p->loops.tiles->lanes;

    return (p->tiling->c + lanes - 1) / lanes * lanes;
}

/* ---- tiles of 2 x 2 results ---- */

typedef struct {
    int64_t image, p, q; /* of its first result */
} corner;

static corner corner_of(const sp_dense_core *p, int64_t i)
{
    int64_t wide = (p->width + 1) / 2, high = (p->height + 1) / 2;

    return (corner){i / wide / high, i / wide % high * 2, i % wide * 2};
}

static void gather(float *out, int64_t skip, const sp_dense_core *p,
                   const spry_tensors *t, corner at)
{
    const spry_operator *op = &p->op;
    const float *pixel[16];

    for (int i = 0; i < 16; i++) {
        int64_t y = at.p - op->pad_top + i / 4, x = at.q - op->pad_left + i % 4;

        pixel[i] =
            y < 0 || y >= op->h || x < 0 || x >= op->w
                ? NULL
                : t->in + ((at.image * op->h + y) * op->w + x) * op->pitch_in;
    }
    p->loops.winograd->in(out, skip, pixel, op->c);
}

static void scatter(const sp_dense_core *p, const spry_tensors *t, corner at,
                    int64_t block, const float *sums, int64_t skip)
{
    const sp_tiling *g = p->tiling;
    sp_winograd_out o = {.keep = sp_tiling_keep(g, block),
                         .bias = p->bias ? p->bias + block * g->nr : NULL,
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
    p->loops.winograd->out(&o, sums, skip);
}

/* One of the 16 products: count tiles x channels of a block. The weights of
 * the next one lie behind its own and are fetched meanwhile, unless it is the
 * last. */
static void multiply(const sp_dense_core *p, float *sums, const float *in,
                     const float *w, int v, int64_t count, int last)
{
    static const sp_finish none = {.clamps = 0};
    const sp_tile_set *set = p->loops.tiles;
    int64_t wide = (int64_t)v * set->lanes, depth = padded(p);
    int64_t parts = (count + p->x.mr - 1) / p->x.mr;
    int64_t base = count / parts, extra = count % parts;
    int64_t size = p->tiling->c * wide, lines = size / SP_TILE_LINE;
    int64_t early = lines - parts * p->tiling->c;
    sp_tile a = {.in = in,
                 .pixel = depth,
                 .rows = 1,
                 .cols = 1,
                 .length = p->tiling->c,
                 .w = w,
                 .first = 1,
                 .last = 1,
                 .pitch = wide,
                 .keep = wide,
                 .f = &none,
                 .tiles = extra,
                 .next = w + size,
                 .fetched = early < 0 ? early : 0,
                 .lines = last ? 0 : lines};

    a.out = sums;
    if (extra)
        set->tile[v][base + 1](&a);
    a.in += extra * (base + 1) * depth;
    a.out += extra * (base + 1) * wide;
    a.fetched += extra * a.length;
    a.tiles = parts - extra;
    set->tile[v][base](&a);
}

/* Tiles [from, from + count), blocks [first, last). */
static void run_block(const sp_dense_core *p, const spry_tensors *t,
                      int64_t from, int64_t count, int64_t first, int64_t last,
                      float *scratch)
{
    const sp_tiling *g = p->tiling;
    int lanes = p->loops.tiles->lanes;
    int64_t depth = padded(p), skip = count * depth;
    float *sums = scratch + 16 * p->x.block * depth;

    for (int64_t i = 0; i < count; i++)
        gather(scratch + i * depth, skip, p, t, corner_of(p, from + i));
    for (int64_t b = first; b < last; b++) {
        int v = sp_tiling_vectors(g, b, lanes);
        const float *w = p->packed + b * 16 * g->c * g->nr;

        for (int i = 0; i < 16; i++)
            multiply(p, sums + i * count * v * lanes, scratch + i * skip,
                     w + i * g->c * v * lanes, v, count, i == 15);
        for (int64_t i = 0; i < count; i++)
            scatter(p, t, corner_of(p, from + i), b, sums + i * v * lanes,
                    count * v * lanes);
    }
}

void sp_winograd_part(const sp_dense_core *p, const spry_tensors *t, int i,
                      void *scratch)
{
    int64_t tiles = p->op.n * ((p->height + 1) / 2) * ((p->width + 1) / 2);
    int64_t blocks = p->tiling->blocks, shares = p->x.threads;
    int64_t from = p->x.channels ? 0 : tiles * i / shares;
    int64_t to = p->x.channels ? tiles : tiles * (i + 1) / shares;
    int64_t first = p->x.channels ? blocks * i / shares : 0;
    int64_t last = p->x.channels ? blocks * (i + 1) / shares : blocks;

    if (first == last)
        return;
    for (; from < to; from += p->x.block)
        run_block(p, t, from, to - from < p->x.block ? to - from : p->x.block,
                  first, last, scratch);
}
