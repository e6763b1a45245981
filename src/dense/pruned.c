/* pruned.c - convolutions and products whose weights are mostly zeros: only
 * the others are multiplied.
 *
 * A tile of pixels is computed after the other. `block` columns (of a tap and
 * an input channel each) of it are turned so that pixels are neighbours, and
 * while they are in the cache all channels that have nonzeros there add them
 * to their sums. Sums are turned back on their way out. So the operands lie
 * as those of dense ways, and what turning costs is part of every race. */
#include "dense/pruned.h"

#include <string.h>

#include "base/base.h"
#include "dense/internal.h"
#include "dense/tiling.h"

enum {
    GROUP = 64,  /* channels whose nonzeros are packed together */
    CHUNK = 512, /* channels whose sums stay in the cache over all blocks */
    PIXELS = SP_PRUNED_V * 16
};

/* The nonzeros of a group of channels in a block of columns. */
typedef struct {
    int64_t run, row, nonzero; /* its first of each */
} part;

struct sp_pruned {
    int64_t taps, c; /* columns: [taps][c] */
    int64_t columns, block, blocks;
    int64_t k, groups;
    int64_t step_k, step_c, step_tap; /* between weights as they are given */
    part *part;                       /* [blocks][groups] and an end */
    sp_pruned_run *run;
    int32_t *row;
    sp_nonzero *nonzero;
    float *zeros; /* a pixel outside of the image */
    int64_t *cut; /* [shares + 1] groups, when channels are split */
    sp_finish finish;
};

void sp_pruned_free(sp_pruned *w)
{
    if (!w)
        return;
    sp_free(w->part);
    sp_free(w->run);
    sp_free(w->row);
    sp_free(w->nonzero);
    sp_free(w->zeros);
    sp_free(w->cut);
    sp_free(w);
}

/* ---- packing ---- */

/* Nonzeros of channel k in a block of columns, to out if it is not NULL. */
static int64_t pack_row(sp_nonzero *out, const sp_dense_problem *p,
                        const sp_pruned *w, int64_t k, int64_t block,
                        int64_t pitch)
{
    int64_t from = block * w->block, count = 0, at = 0;
    int64_t to = from + w->block < w->columns ? from + w->block : w->columns;
    const float *row = p->op.weights + k * w->step_k;

    while (from < to) {
        int64_t tap = from / w->c, c = from % w->c;
        int64_t end = w->c - c < to - from ? w->c : c + to - from;
        const float *x = row + tap * w->step_tap;

        from += end - c;
        for (; c < end; c++, at += pitch)
            if (x[c * w->step_c] != 0) {
                if (out)
                    out[count] = (sp_nonzero){x[c * w->step_c], (int32_t)at};
                count++;
            }
    }
    return count;
}

/* Channels of a group, the shortest first; lengths[GROUP] of all. */
static void sort_rows(int32_t *out, const int64_t *length, int count)
{
    for (int i = 0; i < count; i++) {
        int at = i;

        for (; at > 0 && length[out[at - 1]] > length[i]; at--)
            out[at] = out[at - 1];
        out[at] = i;
    }
}

/* One part behind what *end says; it moves on. */
static void pack_part(sp_pruned *w, const sp_dense_problem *p, part *end,
                      int64_t block, int64_t group, int64_t pitch)
{
    int64_t first = group * GROUP, length[GROUP];
    int count = (int)(w->k - first < GROUP ? w->k - first : GROUP);
    int32_t order[GROUP];
    sp_pruned_run *run = NULL;

    for (int i = 0; i < count; i++)
        length[i] = pack_row(NULL, p, w, first + i, block, pitch);
    sort_rows(order, length, count);
    for (int i = 0; i < count; i++) {
        int32_t each = (int32_t)length[order[i]];

        if (each == 0 && block > 0)
            continue; /* its sum stays */
        if (!run || run->length != each) {
            run = &w->run[end->run++];
            *run = (sp_pruned_run){each, 0};
        }
        run->rows++;
        w->row[end->row++] = order[i];
        end->nonzero += pack_row(w->nonzero + end->nonzero, p, w,
                                 first + order[i], block, pitch);
    }
}

static int64_t count_nonzeros(const sp_dense_problem *p)
{
    int64_t count = sp_dense_weights(&p->op), found = 0;

    for (int64_t i = 0; i < count; i++)
        found += p->op.weights[i] != 0;
    return found;
}

static spry_status allocate(sp_pruned *w, const sp_dense_plan *plan)
{
    int64_t nonzeros = count_nonzeros(plan->p), rows = w->blocks * w->k;

    w->part = sp_alloc(w->blocks * w->groups + 1, sizeof *w->part);
    w->run = sp_alloc_raw(rows + 1, sizeof *w->run);
    w->row = sp_alloc_raw(rows + 1, sizeof *w->row);
    w->nonzero = sp_alloc_raw(nonzeros + 1, sizeof *w->nonzero);
    w->zeros = sp_alloc(w->c, sizeof *w->zeros);
    w->cut = sp_alloc(plan->x.threads + 1, sizeof *w->cut);
    return w->part && w->run && w->row && w->nonzero && w->zeros && w->cut
               ? SPRY_OK
               : sp_fail_memory((size_t)nonzeros * sizeof *w->nonzero);
}

/* Groups for every share, as many nonzeros each as can be. */
static void cut_groups(sp_pruned *w, int shares)
{
    int64_t all = 0, before = 0;
    int share = 1;

    for (int64_t b = 0; b < w->blocks; b++)
        all += w->part[(b + 1) * w->groups].nonzero -
               w->part[b * w->groups].nonzero + w->groups;
    for (int64_t g = 0; g < w->groups; g++) {
        while (share < shares && before >= all * share / shares)
            w->cut[share++] = g;
        before++;
        for (int64_t b = 0; b < w->blocks; b++)
            before += w->part[b * w->groups + g + 1].nonzero -
                      w->part[b * w->groups + g].nonzero;
    }
    while (share <= shares)
        w->cut[share++] = w->groups;
}

static spry_status pack_bias(sp_dense_plan *plan, const sp_pruned *w)
{
    if (!plan->p->op.with_bias)
        return SPRY_OK;
    plan->bias = sp_alloc(w->groups * GROUP, sizeof(float));
    if (!plan->bias)
        return sp_fail_memory((size_t)w->k * sizeof(float));
    memcpy(plan->bias, plan->p->op.bias, (size_t)w->k * sizeof(float));
    return SPRY_OK;
}

static void set_shape(sp_pruned *w, const sp_dense_plan *plan)
{
    const spry_operator *op = &plan->p->op;
    int conv = op->kind == SPRY_CONV2D;

    w->taps = conv ? op->r * op->s : 1;
    w->c = conv ? op->c : op->k;
    w->k = plan->p->cols;
    w->columns = w->taps * w->c;
    w->block = plan->x.block && plan->x.block < w->columns ? plan->x.block
                                                           : w->columns;
    w->blocks = (w->columns + w->block - 1) / w->block;
    w->groups = (w->k + GROUP - 1) / GROUP;
    w->step_k = conv ? w->columns : op->transposed ? op->pitch_b : 1;
    w->step_c = conv ? w->taps : op->transposed ? 1 : op->pitch_b;
    w->step_tap = 1;
    w->finish = sp_finish_of(op);
}

static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    int64_t pitch = plan->x.v * sp_dense_loops_of(m->isa).pruned->lanes;
    sp_pruned *w = sp_alloc(1, sizeof *w);
    part end = {0, 0, 0};
    spry_status s;

    if (!w)
        return sp_fail_memory(sizeof *w);
    plan->pruned = w;
    set_shape(w, plan);
    s = allocate(w, plan);
    if (s != SPRY_OK)
        return s;
    for (int64_t b = 0; b < w->blocks; b++)
        for (int64_t g = 0; g < w->groups; g++) {
            w->part[b * w->groups + g] = end;
            pack_part(w, plan->p, &end, b, g, pitch);
        }
    w->part[w->blocks * w->groups] = end;
    if (plan->x.channels)
        cut_groups(w, plan->x.threads);
    plan->head.bytes = (double)(end.nonzero * (int64_t)sizeof *w->nonzero +
                                end.row * (int64_t)sizeof *w->row +
                                end.run * (int64_t)sizeof *w->run);
    plan->scratch = 4 * pitch * (w->block + (w->blocks > 1 ? CHUNK : GROUP));
    return pack_bias(plan, w);
}

/* ---- a tile ---- */

typedef struct {
    const sp_dense_core *core;
    const spry_tensors *t;
    const sp_pruned_set *set;
    int64_t pitch;
    float *in, *sums;    /* scratch */
    int vectors, pixels; /* of them */
    int64_t tap;         /* whose pixels these are: */
    const float *pixel[PIXELS];
    int64_t place[PIXELS]; /* of results */
    int64_t first[PIXELS]; /* of the first tap, there or not */
    int64_t y[PIXELS], x[PIXELS];
} tile;

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
        a->pixel[i] = a->core->pruned->zeros;
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
                          : a->core->pruned->zeros;
}

/* The columns of a block. */
static void turn_block(tile *a, int64_t block)
{
    const sp_pruned *w = a->core->pruned;
    int64_t from = block * w->block;
    int64_t to = from + w->block < w->columns ? from + w->block : w->columns;
    const float *pixel[PIXELS];
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
    const sp_pruned *w = a->core->pruned;
    const part *at = &w->part[block * w->groups + group];
    sp_pruned_sweep sweep = {.run = w->run + at->run,
                             .runs = at[1].run - at->run,
                             .row = w->row + at->row,
                             .nonzero = w->nonzero + at->nonzero,
                             .in = a->in,
                             .sums = sums,
                             .pitch = a->pitch,
                             .first = block == 0};

    a->set->sweep[a->core->x.mr][a->vectors](&sweep);
}

static void put(const tile *a, int64_t group, const float *sums)
{
    const sp_pruned *w = a->core->pruned;
    int64_t k = group * GROUP;
    sp_pruned_out o = {.sums = sums,
                       .pitch = a->pitch,
                       .keep = w->k - k < GROUP ? w->k - k : GROUP,
                       .pixels = a->pixels,
                       .place = a->place,
                       .out = a->t->out + k,
                       .add = a->t->add ? a->t->add + k : NULL,
                       .bias = a->core->bias ? a->core->bias + k : NULL,
                       .f = &w->finish};

    a->set->put(&o);
}

/* Groups [from, to) of a tile; with one block their sums have one place. */
static void run_tile(tile *a, int64_t from, int64_t to)
{
    const sp_pruned *w = a->core->pruned;
    int64_t step = w->blocks > 1 ? CHUNK / GROUP : to - from;

    for (; from < to; from += step)
        for (int64_t b = 0; b < w->blocks; b++) {
            turn_block(a, b);
            for (int64_t g = from; g < from + step && g < to; g++) {
                float *sums = a->sums;

                if (w->blocks > 1)
                    sums += (g - from) * GROUP * a->pitch;
                multiply(a, b, g, sums);
                if (b == w->blocks - 1)
                    put(a, g, sums);
            }
        }
}

static void share(const sp_dense_core *p, const spry_tensors *t, int i,
                  void *scratch)
{
    const sp_pruned *w = p->pruned;
    const sp_pruned_set *set = p->loops.pruned;
    int64_t all = (p->rows + set->lanes - 1) / set->lanes;
    int shares = p->x.threads, split = p->x.channels;
    int64_t from = split ? 0 : all * i / shares;
    int64_t to = split ? all : all * (i + 1) / shares;
    int64_t tiles = (to - from + p->x.v - 1) / p->x.v;
    tile a = {.core = p, .t = t, .set = set};

    a.pitch = p->x.v * set->lanes;
    a.in = scratch;
    a.sums = a.in + w->block * a.pitch;
    for (int64_t j = 0; j < tiles; j++) {
        begin_tile(&a, from + (to - from) * j / tiles,
                   from + (to - from) * (j + 1) / tiles);
        run_tile(&a, split ? w->cut[i] : 0, split ? w->cut[i + 1] : w->groups);
    }
}

/* ---- legality ---- */

static const char *illegal(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m)
{
    const spry_operator *op = &p->op;
    const sp_pruned_set *set = sp_dense_loops_of(m->isa).pruned;

    if (op->kind != SPRY_CONV2D && op->kind != SPRY_MATMUL)
        return "it computes convolutions and products";
    if (op->kind == SPRY_CONV2D && op->groups > 1)
        return "it computes convolutions of one group";
    if (op->kind == SPRY_MATMUL &&
        (op->given || (op->batch > 1 && !op->shared_b)))
        return "it computes products with one B that is known";
    if (!set || x->mr > SP_PRUNED_MR || x->v > SP_PRUNED_V ||
        !set->sweep[x->mr][x->v])
        return "there is no such tile";
    if (p->terms * PIXELS > INT32_MAX)
        return "there are too many columns";
    return NULL;
}

const sp_dense_algorithm sp_dense_pruned = {illegal, prepare, share, 1};
