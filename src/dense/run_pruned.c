/* run_pruned.c - one share of a convolution or product with sparse weights: a
 * tile of pixels after the other, `block` columns of it turned so that pixels
 * are neighbours, all channels multiplied while they are in the cache, sums
 * turned back on their way out. */
#include "dense/tiling.h"

static const void *array(const sp_pruned_head *w, int64_t at)
{
    return (const char *)w + at;
}

typedef struct {
    const sp_dense_core *core;
    const sp_pruned_head *w;
    sp_finish finish;
    const spry_tensors *t;
    const sp_pruned_set *set;
    int64_t pitch;
    float *in, *sums;    /* scratch */
    int vectors, pixels; /* of them */
    int64_t tap;         /* whose pixels these are: */
    const float *pixel[SP_PRUNED_PIXELS];
    int64_t place[SP_PRUNED_PIXELS]; /* of results */
    int64_t first[SP_PRUNED_PIXELS]; /* of the first tap, there or not */
    int64_t y[SP_PRUNED_PIXELS], x[SP_PRUNED_PIXELS];
} tile;

static const float *zeros_of(const tile *a)
{
    return array(a->w, a->w->zeros);
}

static void place_pixel(tile *a, int i, int64_t row)
{
    const sp_dense_core *p = a->core;
    const spry_operator *op = &p->op;
    int64_t q = row % p->width, line = row / p->width;

    a->place[i] = sp_operator_row(op, row);
    if (op->kind == SPRY_MATMUL) {
        a->y[i] = a->x[i] = 0;
        a->first[i] = row / op->m * op->skip_in + row % op->m * op->pitch_in;
        return;
    }
    a->y[i] = line % p->height * op->stride_h - op->pad_top;
    a->x[i] = q * op->stride_w - op->pad_left;
    a->first[i] =
        ((line / p->height * op->h + a->y[i]) * op->w + a->x[i]) * op->pitch_in;
}

/* Tile of vectors [from, to). */
static void begin_tile(tile *a, int64_t from, int64_t to)
{
    int64_t row = from * a->set->lanes, rows = a->core->rows;

    a->vectors = (int)(to - from);
    a->pixels = a->vectors * a->set->lanes;
    if (row + a->pixels > rows)
        a->pixels = (int)(rows - row);
    for (int i = 0; i < a->pixels; i++)
        place_pixel(a, i, row + i);
    for (int i = a->pixels; i < a->vectors * a->set->lanes; i++)
        a->pixel[i] = zeros_of(a);
    a->tap = -1;
}

static void set_tap(tile *a, int64_t tap)
{
    const spry_operator *op = &a->core->op;
    int64_t down = tap / op->s * op->dilate_h,
            right = tap % op->s * op->dilate_w;
    int64_t step = (down * op->w + right) * op->pitch_in;

    if (a->tap == tap)
        return;
    a->tap = tap;
    for (int i = 0; i < a->pixels; i++)
        a->pixel[i] = (uint64_t)(a->y[i] + down) < (uint64_t)op->h &&
                              (uint64_t)(a->x[i] + right) < (uint64_t)op->w
                          ? a->t->in + a->first[i] + step
                          : zeros_of(a);
}

/* The columns of a block. */
static void turn_block(tile *a, int64_t block)
{
    const sp_pruned_head *w = a->w;
    int64_t from = block * w->block;
    int64_t to = from + w->block < w->columns ? from + w->block : w->columns;
    const float *pixel[SP_PRUNED_PIXELS];
    float *out = a->in;

    while (from < to) {
        int64_t tap = from / w->c, c = from % w->c;
        int64_t count = w->c - c < to - from ? w->c - c : to - from;

        set_tap(a, tap);
        for (int i = 0; i < a->vectors * a->set->lanes; i++)
            pixel[i] = a->pixel[i] + c;
        a->set->turn(out, a->pitch, pixel, a->vectors, count);
        out += count * a->pitch;
        from += count;
    }
}

static void multiply(const tile *a, int64_t block, int64_t group, float *sums)
{
    const sp_pruned_head *w = a->w;
    const sp_pruned_at *at =
        (const sp_pruned_at *)array(w, w->part) + block * w->groups + group;
    sp_pruned_sweep sweep = {
        .run = (const sp_pruned_run *)array(w, w->run) + at->run,
        .runs = at[1].run - at->run,
        .row = (const int32_t *)array(w, w->row) + at->row,
        .nonzero = (const sp_nonzero *)array(w, w->nonzero) + at->nonzero,
        .in = a->in,
        .sums = sums,
        .pitch = a->pitch,
        .first = block == 0};

    a->set->sweep[a->core->x.mr][a->vectors](&sweep);
}

static void put(const tile *a, int64_t group, const float *sums)
{
    const sp_pruned_head *w = a->w;
    int64_t k = group * SP_PRUNED_GROUP;
    sp_pruned_out o = {.sums = sums,
                       .pitch = a->pitch,
                       .keep = w->k - k < SP_PRUNED_GROUP ? w->k - k
                                                          : SP_PRUNED_GROUP,
                       .pixels = a->pixels,
                       .place = a->place,
                       .out = a->t->out + k,
                       .add = a->t->add ? a->t->add + k : NULL,
                       .bias = a->core->bias ? a->core->bias + k : NULL,
                       .f = &a->finish};

    a->set->put(&o);
}

/* Groups [from, to) of a tile; with one block their sums have one place. */
static void run_tile(tile *a, int64_t from, int64_t to)
{
    const sp_pruned_head *w = a->w;
    int64_t step =
        w->blocks > 1 ? SP_PRUNED_CHUNK / SP_PRUNED_GROUP : to - from;

    for (; from < to; from += step)
        for (int64_t b = 0; b < w->blocks; b++) {
            turn_block(a, b);
            for (int64_t g = from; g < from + step && g < to; g++) {
                float *sums = a->sums;

                if (w->blocks > 1)
                    sums += (g - from) * SP_PRUNED_GROUP * a->pitch;
                multiply(a, b, g, sums);
                if (b == w->blocks - 1)
                    put(a, g, sums);
            }
        }
}

void sp_pruned_part(const sp_dense_core *p, const spry_tensors *t, int i,
                    void *scratch)
{
    const sp_pruned_head *w = (const void *)p->packed;
    const sp_pruned_set *set = p->loops.pruned;
    const int64_t *cut = array(w, w->cut);
    int64_t all = (p->rows + set->lanes - 1) / set->lanes;
    int shares = p->x.threads, split = p->x.channels;
    int64_t from = split ? 0 : all * i / shares;
    int64_t to = split ? all : all * (i + 1) / shares;
    int64_t tiles = (to - from + p->x.v - 1) / p->x.v;
    tile a = {.core = p, .t = t, .set = set, .w = w};

    a.finish = sp_finish_of(&p->op);
    a.pitch = p->x.v * set->lanes;
    a.in = scratch;
    a.sums = a.in + w->block * a.pitch;
    for (int64_t j = 0; j < tiles; j++) {
        begin_tile(&a, from + (to - from) * j / tiles,
                   from + (to - from) * (j + 1) / tiles);
        run_tile(&a, split ? cut[i] : 0, split ? cut[i + 1] : w->groups);
    }
}
