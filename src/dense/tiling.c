/* tiling.c - an operator becomes tiles of pixels and blocks of channels. */
#include "dense/tiling.h"

#include <math.h>

#include "base/base.h"

sp_finish sp_finish_of(const spry_operator *op)
{
    sp_finish f = {.low = -INFINITY,
                   .high = INFINITY,
                   .act = op->act,
                   .alpha = op->alpha,
                   .beta = op->beta,
                   .adds_before = op->add == SPRY_ADD_BEFORE,
                   .adds_after = op->add == SPRY_ADD_AFTER};

    if (op->act == SPRY_ACT_RELU)
        f.low = 0;
    if (op->act == SPRY_ACT_CLIP) {
        f.low = op->alpha;
        f.high = op->beta;
    }
    f.clamps = op->act == SPRY_ACT_RELU || op->act == SPRY_ACT_CLIP;
    f.curved = op->act != SPRY_ACT_NONE && !f.clamps;
    return f;
}

int64_t sp_tiling_keep(const sp_tiling *t, int64_t block)
{
    int64_t left = t->k - block * t->nr;

    return left < t->nr ? left : t->nr;
}

int sp_tiling_vectors(const sp_tiling *t, int64_t block, int lanes)
{
    return (int)((sp_tiling_keep(t, block) + lanes - 1) / lanes);
}

/* ---- geometry ---- */

static void shape_product(sp_tiling *t, const spry_operator *op)
{
    int dense_in = op->skip_in == op->m * op->pitch_in;
    int dense_out = op->skip_out == op->m * op->pitch_out;
    int flat = op->shared_b && dense_in && dense_out;

    t->images = flat ? 1 : op->batch;
    t->width = flat ? op->batch * op->m : op->m;
    t->height = t->h = t->taps_h = t->taps_w = 1;
    t->w = t->width;
    t->in_image = op->skip_in;
    t->out_image = op->skip_out;
    t->c = op->k;
    t->k = op->n;
    t->groups = 1;
}

/* A filter of one tap that meets every pixel: a product. */
static int is_pointwise(const spry_operator *op)
{
    return op->r == 1 && op->s == 1 && op->stride_h == 1 && op->stride_w == 1 &&
           !op->pad_top && !op->pad_left && !op->pad_bottom && !op->pad_right;
}

static void shape_images(sp_tiling *t, const sp_dense_core *p)
{
    const spry_operator *op = &p->op;
    int flat = is_pointwise(op);

    t->images = flat ? 1 : op->n;
    t->height = flat ? 1 : p->height;
    t->width = flat ? p->rows : p->width;
    t->h = flat ? 1 : op->h;
    t->w = flat ? p->rows : op->w;
    t->in_line = op->w * op->pitch_in;
    t->out_line = p->width * op->pitch_out;
    t->in_image = op->h * t->in_line;
    t->out_image = p->height * t->out_line;
    t->step_h = op->stride_h;
    t->step_w = op->stride_w;
    t->top = op->pad_top;
    t->left = op->pad_left;
    t->taps_h = op->r;
    t->taps_w = op->s;
    t->dilate_h = op->dilate_h;
    t->dilate_w = op->dilate_w;
    t->groups = op->groups;
    t->c = op->c / op->groups;
    t->k = op->k / op->groups;
}

static void shape(sp_tiling *t, const sp_dense_core *p)
{
    const spry_operator *op = &p->op;

    t->step_h = t->step_w = t->dilate_h = t->dilate_w = 1;
    if (op->kind == SPRY_MATMUL)
        shape_product(t, op);
    else
        shape_images(t, p);
    t->pitch = op->pitch_in;
    t->in_pixel = t->step_w * op->pitch_in;
    t->out_pixel = op->pitch_out;
    t->tap_line = t->dilate_h * t->in_line;
    t->tap_pixel = t->dilate_w * op->pitch_in;
    t->joined = t->taps_w > 1 && t->tap_pixel == t->c;
    t->finish = sp_finish_of(op);
}

/* ---- tiles of a line ---- */

/* Is tap s of pixel q inside the line? */
static int inside(const sp_tiling *t, int64_t q, int64_t s)
{
    int64_t x = q * t->step_w + s * t->dilate_w - t->left;

    return x >= 0 && x < t->w;
}

static void place_edges(sp_tiling *t, sp_tile_place *x, int *edges)
{
    x->first_edge = *edges;
    x->from = t->taps_w;
    x->to = 0;
    for (int64_t s = 0; s < t->taps_w; s++) {
        sp_edge_tap e = {s, x->mr, 0};

        for (int m = 0; m < x->mr; m++)
            if (inside(t, x->at + m, s)) {
                e.low = m < e.low ? m : e.low;
                e.high = m + 1;
            }
        if (e.low == 0 && e.high == x->mr) {
            x->from = s < x->from ? s : x->from;
            x->to = s + 1;
        } else if (e.low < e.high) {
            t->edge[(*edges)++] = e;
        }
    }
    if (x->from > x->to)
        x->from = x->to = 0;
    x->edges = *edges - x->first_edge;
}

static spry_status place_tiles(sp_tiling *t, int mr)
{
    int64_t count = (t->width + mr - 1) / mr, base = t->width / count;
    int64_t extra = t->width % count, at = 0;
    int64_t taps = t->taps_w;
    int edges = 0;

    t->tile = sp_alloc(count, sizeof *t->tile);
    t->edge = sp_alloc(count * taps + 1, sizeof *t->edge);
    if (!t->tile || !t->edge)
        return sp_fail_memory((size_t)count * sizeof *t->tile);
    t->tiles = (int)count;
    for (int64_t i = 0; i < count; i++) {
        sp_tile_place *x = &t->tile[i];

        x->at = at;
        x->mr = (int)(base + (i < extra));
        place_edges(t, x, &edges);
        at += x->mr;
    }
    for (int64_t i = count - 1; i >= 0; i--) {
        sp_tile_place *x = &t->tile[i], *next = x + 1;

        x->run = 1;
        if (i + 1 < count && !x->edges && !next->edges && x->mr == next->mr &&
            x->from == next->from && x->to == next->to)
            x->run = next->run + 1;
    }
    return SPRY_OK;
}

/* ---- shares ---- */

/* Filter lines that line p of a result meets. */
static int64_t lines_met(const sp_tiling *t, int64_t p)
{
    sp_taps r =
        sp_taps_inside(p * t->step_h - t->top, t->taps_h, t->dilate_h, t->h);

    return r.to - r.from;
}

/* `each` units of every line, tiles or all of it, so that every share has as
 * many filter lines to meet as the others, and a little for each unit. */
static void cut_lines(sp_tiling *t, int shares, int64_t each)
{
    int64_t units = t->images * t->height * each, done = 0, all = 0;
    int share = 1;

    for (int64_t i = 0; i < t->height; i++)
        all += t->images * each * (4 * lines_met(t, i) + 1);
    for (int64_t i = 0; i < units; i++) {
        while (share < shares && done >= all * share / shares)
            t->cut[share++] = i;
        done += 4 * lines_met(t, i / each % t->height) + 1;
    }
    while (share <= shares)
        t->cut[share++] = units;
}

/* Channels of a depthwise convolution: whole lines of the cache. */
static void cut_channels(sp_tiling *t, int64_t channels, int shares)
{
    enum { LINE = 16 };
    int64_t all = (channels + LINE - 1) / LINE;

    for (int i = 0; i <= shares; i++) {
        int64_t at = all * i / shares * LINE;

        t->cut[i] = at < channels ? at : channels;
    }
}

static void cut_blocks(sp_tiling *t, int shares)
{
    for (int i = 0; i <= shares; i++)
        t->cut[i] = t->groups * t->blocks * i / shares;
}

static spry_status cut(sp_tiling *t, const sp_dense_core *p)
{
    const sp_dense_way *x = &p->x;

    t->cut = sp_alloc(x->threads + 1, sizeof *t->cut);
    if (!t->cut)
        return sp_fail_memory((size_t)x->threads * sizeof *t->cut);
    if (!x->channels)
        cut_lines(t, x->threads, x->algorithm == SP_DW ? 1 : t->tiles);
    else if (x->algorithm == SP_DW)
        cut_channels(t, p->op.c, x->threads);
    else
        cut_blocks(t, x->threads);
    return SPRY_OK;
}

void sp_tiling_free(sp_tiling *t)
{
    if (!t)
        return;
    sp_free(t->tile);
    sp_free(t->edge);
    sp_free(t->cut);
    sp_free(t);
}

static void measure_weights(sp_tiling *t, const spry_operator *op, int lanes)
{
    int64_t wide = (t->blocks - 1) * t->nr +
                   sp_tiling_vectors(t, t->blocks - 1, lanes) * lanes;
    int many = op->kind == SPRY_MATMUL && !op->shared_b && !op->given;

    t->w_tap = (op->c + lanes - 1) / lanes * lanes;
    t->w_group = t->taps_h * t->taps_w * t->c * wide;
    t->w_image = many && op->batch > 1 ? t->groups * t->w_group : 0;
}

spry_status sp_tiling_make(sp_tiling **out, const sp_dense_core *p)
{
    sp_tiling *t = sp_alloc(1, sizeof *t);
    int lanes = p->loops.tiles->lanes;
    spry_status s;

    *out = NULL;
    if (!t)
        return sp_fail_memory(sizeof *t);
    shape(t, p);
    t->nr = p->x.v * lanes;
    t->blocks = (t->k + t->nr - 1) / t->nr;
    measure_weights(t, &p->op, lanes);
    s = place_tiles(t, p->x.mr);
    if (s == SPRY_OK)
        s = cut(t, p);
    if (s == SPRY_OK)
        *out = t;
    else
        sp_tiling_free(t);
    return s;
}
