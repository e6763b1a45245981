/* run_direct.c - one share of a convolution or product by tiles of sums.
 *
 * Blocks of channels are taken one after the other over `block` tiles, so
 * that what both need stays in the cache. */
#include <string.h>

#include "dense/tiling.h"
#include "dense/turn.h"

/* ---- one line ---- */

/* What all tiles of a block share. */
typedef struct {
    const sp_tiling *t;
    sp_tile_kernel *const *kernel; /* of the block, by pixels */
    sp_tile args;
    const float *in, *add, *w; /* of the group, the block */
    float *out;
    int wide;        /* channels of the block, padded */
    int64_t fetched; /* lines of what comes next */
} sweep;

static void run_kernel(sweep *w, sp_tile *a, int mr)
{
    a->fetched = w->fetched;
    w->kernel[mr](a);
    w->fetched += a->tiles * a->rows * a->cols * a->length;
}

/* Taps [from, to) of the line: one run of numbers where they touch. */
static void set_taps(sp_tile *a, const sweep *w, int64_t from, int64_t to)
{
    const sp_tiling *t = w->t;

    a->cols = t->joined ? to > from : to - from;
    a->length = t->joined ? (to - from) * t->c : t->c;
    a->w += from * t->c * w->wide;
    a->in += from * t->tap_pixel;
}

/* A tile at an edge: sums that wait in memory for the taps that only some of
 * its pixels have. */
static void run_edge(sweep *w, const sp_tile *line, const sp_tile_place *x)
{
    sp_tile a = *line;

    a.last = 0;
    set_taps(&a, w, x->from, x->to);
    run_kernel(w, &a, x->mr);
    for (int i = 0; i < x->edges; i++) {
        const sp_edge_tap *e = &w->t->edge[x->first_edge + i];
        sp_tile b = *line;

        b.first = b.last = 0;
        b.in += e->low * b.pixel;
        b.sums += (int64_t)e->low * w->wide;
        set_taps(&b, w, e->tap, e->tap + 1);
        run_kernel(w, &b, e->high - e->low);
    }
    a = *line;
    a.rows = a.first = 0;
    run_kernel(w, &a, x->mr);
}

/* Tiles [from, to) of line p of an image. */
static void run_line(sweep *w, int64_t image, int64_t p, int from, int to)
{
    const sp_tiling *t = w->t;
    int64_t y = p * t->step_h - t->top;
    sp_taps r = sp_taps_inside(y, t->taps_h, t->dilate_h, t->h);
    int64_t in = image * t->in_image, out = image * t->out_image;
    sp_tile line = w->args;

    line.rows = r.to - r.from;
    line.w = w->w + image * t->w_image + r.from * line.w_row;
    in += (y + r.from * t->dilate_h) * t->in_line;
    out += p * t->out_line;
    for (int i = from; i < to;) {
        const sp_tile_place *x = &t->tile[i];
        int run = x->run < to - i ? x->run : to - i;
        sp_tile a = line;

        a.in = w->in + in + x->at * t->in_pixel - t->left * t->pitch;
        a.out = w->out + out + x->at * t->out_pixel;
        a.add = w->add ? w->add + out + x->at * t->out_pixel : NULL;
        a.tiles = run;
        if (x->edges || x->from == x->to) {
            a.tiles = run = 1;
            run_edge(w, &a, x);
        } else {
            set_taps(&a, w, x->from, x->to);
            run_kernel(w, &a, x->mr);
        }
        i += run;
    }
}

/* Tiles [from, to), which may lie in several lines. */
static void run_tiles(sweep *w, int64_t from, int64_t to)
{
    const sp_tiling *t = w->t;

    while (from < to) {
        int64_t line = from / t->tiles, begin = line * t->tiles;
        int64_t end = begin + t->tiles < to ? begin + t->tiles : to;

        run_line(w, line / t->height, line % t->height, (int)(from - begin),
                 (int)(end - begin));
        from = end;
    }
}

/* ---- shares ---- */

static sweep sweep_of(const sp_dense_core *p, const spry_tensors *tensors,
                      const float *packed, int64_t block, float *sums)
{
    const sp_tiling *t = p->tiling;
    const sp_tile_set *set = p->loops.tiles;
    int64_t g = block / t->blocks, b = block % t->blocks;
    int64_t k0 = g * t->k + b * t->nr, terms = t->taps_h * t->taps_w * t->c;
    int64_t padded = (t->k + set->lanes - 1) / set->lanes * set->lanes;
    int v = sp_tiling_vectors(t, b, set->lanes);
    sweep w = {.t = t,
               .kernel = set->tile[v],
               .in = tensors->in + g * t->c,
               .out = tensors->out + k0,
               .add = tensors->add ? tensors->add + k0 : NULL,
               .wide = v * set->lanes};

    if (packed)
        w.w = packed + g * t->w_group + b * t->nr * terms;

    w.args =
        (sp_tile){.pixel = t->in_pixel,
                  .row = t->tap_line,
                  .col = t->tap_pixel,
                  .w_row = t->taps_w * t->c * w.wide,
                  .w_col = t->c * w.wide,
                  .first = 1,
                  .last = 1,
                  .pitch = t->out_pixel,
                  .bias = p->bias ? p->bias + g * padded + b * t->nr : NULL,
                  .keep = sp_tiling_keep(t, b),
                  .f = &t->finish,
                  .tiles = 1};
    w.args.sums = sums;
    return w;
}

/* While the last tiles of a sweep are summed up, what the next one needs is
 * fetched: it comes from afar, and what is fetched too early is in the way. A
 * line is fetched for each term of a sum, so whole sums fetch a bit too much. */
static void fetch(sweep *w, const float *next, int64_t floats, int64_t tiles)
{
    const sp_tiling *t = w->t;
    int64_t terms = t->taps_h * t->taps_w * t->c;
    int64_t lines = (floats + SP_TILE_LINE - 1) / SP_TILE_LINE;

    w->args.next = next;
    w->args.lines = (lines + t->c - 1) / t->c * t->c;
    w->fetched = w->args.lines - tiles * terms;
    if (w->fetched > 0)
        w->fetched = 0;
}

static void fetch_weights(sweep *w, const sp_dense_core *p, int64_t next,
                          int64_t tiles)
{
    const sp_tiling *t = w->t;
    int64_t terms = t->taps_h * t->taps_w * t->c, b = next % t->blocks;
    int lanes = p->loops.tiles->lanes;

    if (!t->w_image)
        fetch(w, p->packed + next / t->blocks * t->w_group + b * t->nr * terms,
              terms * sp_tiling_vectors(t, b, lanes) * lanes, tiles);
}

/* Is every number of the input new to the next tiles, and are the weights few
 * enough, a quarter of the second cache, to stay there meanwhile? */
static int input_is_new(const sp_dense_core *p)
{
    const sp_tiling *t = p->tiling;
    int64_t few = p->second / 4 / (int64_t)sizeof(float);

    return t->groups == 1 && t->taps_h * t->taps_w == 1 && t->step_h == 1 &&
           t->in_pixel == t->c && t->w_group <= few;
}

/* Where tile i begins in the input. */
static const float *input_of(const sp_tiling *t, const float *in, int64_t i)
{
    int64_t line = i / t->tiles;

    return in + line / t->height * t->in_image + line % t->height * t->in_line +
           t->tile[i % t->tiles].at * t->in_pixel;
}

static void fetch_input(sweep *w, int64_t from, int64_t to, int64_t tiles)
{
    const sp_tiling *t = w->t;
    const float *first = input_of(t, w->in, from);
    const float *last = input_of(t, w->in, to - 1);

    fetch(w, first, last - first + t->tile[(to - 1) % t->tiles].mr * t->c,
          tiles);
}

static void share(const sp_dense_core *p, const spry_tensors *tensors, int i,
                  void *scratch)
{
    const sp_tiling *t = p->tiling;
    int64_t tiles = t->images * t->height * t->tiles;
    int64_t blocks = t->groups * t->blocks;
    int64_t from = p->x.channels ? 0 : t->cut[i];
    int64_t to = p->x.channels ? tiles : t->cut[i + 1];
    int64_t first = p->x.channels ? t->cut[i] : 0;
    int64_t last = p->x.channels ? t->cut[i + 1] : blocks;
    int64_t step = p->x.block ? p->x.block : tiles;

    for (int64_t at = from; at < to; at += step)
        for (int64_t b = first; b < last; b++) {
            sweep w = sweep_of(p, tensors, p->packed, b, scratch);
            int64_t end = at + step < to ? at + step : to;

            if (b + 1 < last)
                fetch_weights(&w, p, b + 1, end - at);
            else if (end < to && input_is_new(p))
                fetch_input(&w, end, end + step < to ? end + step : to,
                            end - at);
            else if (end < to)
                fetch_weights(&w, p, first, end - at);
            run_tiles(&w, at, end);
        }
}

/* ---- products with a B of each run ---- */

/* The same of a B whose columns are given as rows. */
static void pack_turned(float *out, const spry_operator *op, const float *b,
                        int64_t keep, int64_t wide)
{
    int64_t place[SP_TURN_LINE];

    for (int64_t c = 0; c < op->k && keep < wide; c++)
        for (int64_t j = keep; j < wide; j++)
            out[c * wide + j] = 0;
    for (int i = 0; i < SP_TURN_LINE; i++)
        place[i] = i * wide;
    for (int64_t c = 0; c < op->k; c += SP_TURN_LINE)
        sp_turn_line(
            out + c * wide, place, b + c, op->pitch_b, keep,
            (int)(op->k - c < SP_TURN_LINE ? op->k - c : SP_TURN_LINE));
}

/* The same of whole vectors, if the loops that turn pixels are there. */
static int pack_squares(float *out, const sp_dense_core *p, const float *b,
                        int64_t keep, int64_t wide)
{
    const sp_pruned_set *set = p->loops.pruned;
    const float *row[SP_PRUNED_PIXELS];

    if (!set || keep < wide || wide > SP_PRUNED_PIXELS)
        return 0;
    for (int64_t j = 0; j < wide; j++)
        row[j] = b + j * p->op.pitch_b;
    set->turn(out, wide, row, (int)(wide / set->lanes), 0, p->op.k);
    return 1;
}

/* Columns k0 .. k0 + keep of B, padded with zeros to `wide`. */
static void pack_given(float *out, const sp_dense_core *p, const float *b,
                       int64_t keep, int64_t wide)
{
    const spry_operator *op = &p->op;

    if (op->transposed && pack_squares(out, p, b, keep, wide))
        return;
    if (op->transposed) {
        pack_turned(out, op, b, keep, wide);
        return;
    }
    for (int64_t c = 0; c < op->k; c++, out += wide, b += op->pitch_b) {
        memcpy(out, b, (size_t)keep * sizeof *out);
        for (int64_t j = keep; j < wide; j++)
            out[j] = 0;
    }
}

/* A block is packed, then multiplied with all rows that need it. */
static void share_given(const sp_dense_core *p, const spry_tensors *tensors,
                        int i, float *scratch)
{
    const spry_operator *op = &p->op;
    const sp_tiling *t = p->tiling;
    int lanes = p->loops.tiles->lanes;
    int64_t shares = p->x.threads, all = t->images * t->blocks;
    float *packed = scratch + (int64_t)SP_TILE_MR * SP_TILE_V * lanes;

    for (int64_t u = all * i / shares; u < all * (i + 1) / shares; u++) {
        int64_t image = u / t->blocks, b = u % t->blocks;
        const float *from =
            tensors->b + (op->shared_b ? 0 : image * op->skip_b);
        sweep w = sweep_of(p, tensors, NULL, b, scratch);

        pack_given(packed, p,
                   from + b * t->nr * (op->transposed ? op->pitch_b : 1),
                   w.args.keep, w.wide);
        w.w = packed;
        run_tiles(&w, image * t->tiles, (image + 1) * t->tiles);
    }
}

void sp_direct_part(const sp_dense_core *p, const spry_tensors *t, int i,
                    void *scratch)
{
    if (p->op.given)
        share_given(p, t, i, scratch);
    else
        share(p, t, i, scratch);
}
