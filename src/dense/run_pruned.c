/* run_pruned.c - one share of a convolution or product with sparse weights: a
 * tile of pixels after the other, `block` columns of it turned so that pixels
 * are neighbours, all channels multiplied while they are in the cache, sums
 * turned back on their way out. */
#include <string.h>

#include "dense/tiling.h"

static const void *array(const sp_pruned_head *w, int64_t at)
{
    return (const char *)w + at;
}

static int least(int64_t count, int most)
{
    return count < most ? (int)count : most;
}

/* Pixels of a tile that lie in one line of the result. */
typedef struct {
    int from, count;
    int64_t first; /* floats to the first tap of the first, there or not */
    int64_t y, x;  /* where that is in the image */
} tile_line;

typedef struct {
    const sp_dense_core *core;
    const sp_pruned_head *w;
    sp_finish finish;
    const spry_tensors *t;
    const sp_pruned_set *set;
    int64_t pitch;
    float *in, *sums;    /* scratch */
    int vectors, pixels; /* of them */
    int begins;          /* the share */
    int lines;
    tile_line line[SP_PRUNED_PIXELS];
    int64_t place[SP_PRUNED_PIXELS]; /* of results */
    int64_t tap;                     /* whose pixels these are: */
    const float *pixel[SP_PRUNED_PIXELS];
} tile;

static const float *zeros_of(const tile *a)
{
    return array(a->w, a->w->zeros);
}

/* The line of row `row` of the result, to its end. */
static tile_line line_at(const sp_dense_core *p, int64_t row)
{
    const spry_operator *op = &p->op;
    int64_t q = row % p->width, line = row / p->width;
    tile_line l = {.count = 0};

    if (op->kind == SPRY_MATMUL) {
        l.first = row / op->m * op->skip_in + row % op->m * op->pitch_in;
        l.count = least(op->m - row % op->m, SP_PRUNED_PIXELS);
        return l;
    }
    l.y = line % p->height * op->stride_h - op->pad_top;
    l.x = q * op->stride_w - op->pad_left;
    l.first = ((line / p->height * op->h + l.y) * op->w + l.x) * op->pitch_in;
    l.count = least(p->width - q, SP_PRUNED_PIXELS);
    return l;
}

/* Tile of vectors [from, to). */
static void begin_tile(tile *a, int64_t from, int64_t to)
{
    int64_t row = from * a->set->lanes, rows = a->core->rows;
    int i = 0;

    a->vectors = (int)(to - from);
    a->pixels = least(rows - row, a->vectors * a->set->lanes);
    for (a->lines = 0; i < a->pixels; a->lines++) {
        tile_line l = line_at(a->core, row + i);
        int64_t place = sp_operator_row(&a->core->op, row + i);

        l.from = i;
        if (l.count > a->pixels - i)
            l.count = a->pixels - i;
        for (int j = 0; j < l.count; j++)
            a->place[i + j] = place + j * a->core->op.pitch_out;
        a->line[a->lines] = l;
        i += l.count;
    }
    for (; i < a->vectors * a->set->lanes; i++)
        a->pixel[i] = zeros_of(a);
    a->tap = -1;
}

/* Pixels of a line for the tap that lies `down` and `right` of the first. */
static void set_line(tile *a, const tile_line *l, int64_t down, int64_t right)
{
    const spry_operator *op = &a->core->op;
    int conv = op->kind == SPRY_CONV2D, i = 0, end = l->count;
    int64_t stride = conv ? op->stride_w : 1, at = l->x + right;
    int64_t first = l->first + (down * op->w + right) * op->pitch_in;
    const float **out = a->pixel + l->from;

    if (conv && (uint64_t)(l->y + down) >= (uint64_t)op->h)
        end = 0;
    else if (conv)
        end = at >= op->w ? 0 : least((op->w - 1 - at) / stride + 1, end);
    for (; i < end && at + i * stride < 0; i++)
        out[i] = zeros_of(a);
    for (; i < end; i++)
        out[i] = a->t->in + first + i * stride * op->pitch_in;
    for (; i < l->count; i++)
        out[i] = zeros_of(a);
}

static void set_tap(tile *a, int64_t tap)
{
    const spry_operator *op = &a->core->op;

    if (a->tap == tap)
        return;
    a->tap = tap;
    for (int i = 0; i < a->lines; i++)
        set_line(a, &a->line[i], tap / op->s * op->dilate_h,
                 tap % op->s * op->dilate_w);
}

/* The columns of a block. */
static void turn_block(tile *a, int64_t block)
{
    const sp_pruned_head *w = a->w;
    int64_t from = block * w->block;
    int64_t to = from + w->block < w->columns ? from + w->block : w->columns;
    float *out = a->in;

    while (from < to) {
        int64_t tap = from / w->c, c = from % w->c;
        int64_t count = w->c - c < to - from ? w->c - c : to - from;

        set_tap(a, tap);
        if (a->pitch == 1)
            memcpy(out, *a->pixel + c, (size_t)count * sizeof *out);
        else
            a->set->turn(out, a->pitch, a->pixel, a->vectors, c, c + count);
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
        .first = block == 0,
        .far = a->begins};

    if (a->pitch == 1)
        a->set->single(&sweep);
    else
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
    a.pitch = sp_pruned_pitch(set, p->rows, p->x.v);
    a.in = scratch;
    a.sums = a.in + w->block * a.pitch;
    for (int64_t j = 0; j < tiles; j++) {
        a.begins = j == 0;
        begin_tile(&a, from + (to - from) * j / tiles,
                   from + (to - from) * (j + 1) / tiles);
        run_tile(&a, split ? cut[i] : 0, split ? cut[i + 1] : w->groups);
    }
}
