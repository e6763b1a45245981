/* run_depthwise.c - one share of a depthwise convolution: lines of the result,
 * since threads that work on columns of the same lines take them from each
 * other's caches. In them columns of tiles, so that the lines of the input that
 * tiles below each other share are still in the nearest cache; `block` channels
 * of all tiles before the next. */
#include "dense/tiling.h"

/* What all tiles of a share have in common. */
typedef struct {
    const sp_dense_core *p;
    sp_depthwise args; /* of the first pixel of input and result */
} share;

static void place(sp_depthwise *d, const share *w, const sp_tile_place *x)
{
    const spry_operator *op = &w->p->op;
    int64_t first = x->at * op->stride_w - op->pad_left;

    d->in += first * op->pitch_in;
    d->low = first < 0 ? -first : 0;
    d->high = op->w - first;
    d->out += x->at * op->pitch_out;
    d->add = d->add ? d->add + x->at * op->pitch_out : NULL;
}

static sp_overhang overhang_of(const sp_depthwise *d, const spry_operator *op,
                               int mr)
{
    int64_t count = (mr - 1) * op->stride_w + op->s, half = op->s / 2;

    if (d->low == 0 && d->high >= count)
        return SP_OVERHANG_NONE;
    return d->low <= half && d->high >= count - half ? SP_OVERHANG_HALF
                                                     : SP_OVERHANG_ANY;
}

/* Is the input of a tile and of the next one in the nearest cache? Then the
 * next one is fetched early; what is only a part of the channels does not lie
 * in one piece. */
static int fetches(const sp_depthwise *d, const sp_dense_core *p, int mr)
{
    const spry_operator *op = &p->op;
    int64_t line = 4 * d->channels * ((mr - 1) * op->stride_w + op->s);

    return d->channels == d->pitch &&
           (op->r + op->stride_h) * line <= p->near / 4 * 3;
}

/* Filter lines that line `line` of the result meets. */
static sp_taps lines_of(const spry_operator *op, int64_t line)
{
    return sp_taps_inside(line * op->stride_h - op->pad_top, op->r,
                          op->dilate_h, op->h);
}

/* Lines [from, to) of a column of tiles: those that meet the same filter lines
 * at once. */
static void run_column(const share *w, int64_t image, const sp_tile_place *x,
                       int64_t from, int64_t to)
{
    const spry_operator *op = &w->p->op;
    const sp_tiling *t = w->p->tiling;

    while (from < to) {
        sp_taps l = lines_of(op, from), next;
        int64_t end = from, y = from * op->stride_h - op->pad_top;
        int64_t out = image * t->out_image + from * t->out_line;
        sp_depthwise d = w->args;

        do
            next = lines_of(op, ++end);
        while (end < to && next.from == l.from && next.to == l.to);
        d.in += image * t->in_image + (y + l.from * op->dilate_h) * t->in_line;
        d.rows = l.to - l.from;
        d.w += l.from * op->s * t->w_tap;
        d.out += out;
        d.add = d.add ? d.add + out : NULL;
        d.tiles = end - from;
        d.fetch = fetches(&d, w->p, x->mr);
        place(&d, w, x);
        w->p->loops.depthwise->tile[op->s / 2][op->stride_w][x->mr]
                                   [overhang_of(&d, op, x->mr)](&d);
        from = end;
    }
}

/* Lines [from, to) of all images, `count` channels of them. */
static void run_tiles(const sp_dense_core *p, const spry_tensors *tensors,
                      int64_t from, int64_t to, int64_t c, int64_t count)
{
    const spry_operator *op = &p->op;
    const sp_tiling *t = p->tiling;
    share w = {p,
               {.in = tensors->in + c,
                .pitch = op->pitch_in,
                .row = op->dilate_h * t->in_line,
                .w = p->packed + c,
                .w_tap = t->w_tap,
                .bias = p->bias ? p->bias + c : NULL,
                .add = tensors->add ? tensors->add + c : NULL,
                .out = tensors->out + c,
                .pitch_out = op->pitch_out,
                .channels = count,
                .in_tile = op->stride_h * t->in_line,
                .out_tile = t->out_line,
                .f = &t->finish}};

    while (from < to) {
        int64_t image = from / t->height, begin = image * t->height;
        int64_t end = begin + t->height < to ? begin + t->height : to;

        for (int64_t i = 0; i < t->tiles; i++)
            run_column(&w, image, &t->tile[i], from - begin, end - begin);
        from = end;
    }
}

void sp_depthwise_part(const sp_dense_core *p, const spry_tensors *tensors,
                       int i, void *scratch)
{
    const sp_tiling *t = p->tiling;
    int64_t lines = t->images * t->height;
    int64_t from = p->x.channels ? 0 : t->cut[i];
    int64_t to = p->x.channels ? lines : t->cut[i + 1];
    int64_t first = p->x.channels ? t->cut[i] : 0;
    int64_t last = p->x.channels ? t->cut[i + 1] : p->op.c;
    int64_t step = p->x.block ? p->x.block : last - first;

    (void)scratch;
    for (int64_t c = first; c < last; c += step)
        run_tiles(p, tensors, from, to, c, c + step < last ? step : last - c);
}
