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

enum { GROUP = SP_PRUNED_GROUP };

/* Weights that are not 0, before they are laid out. */
typedef struct {
    sp_pruned_head h;
    int64_t step_k, step_c, step_tap; /* between weights as they are given */
    sp_pruned_at *part;
    sp_pruned_run *run;
    int32_t *row;
    sp_nonzero *nonzero;
    int64_t *cut;
} packing;

static void release(packing *w)
{
    sp_free(w->part);
    sp_free(w->run);
    sp_free(w->row);
    sp_free(w->nonzero);
    sp_free(w->cut);
}

/* ---- packing ---- */

/* Nonzeros of channel k in a block of columns, to out if it is not NULL. */
static int64_t pack_row(sp_nonzero *out, const sp_dense_problem *p,
                        const packing *w, int64_t k, int64_t block,
                        int64_t pitch)
{
    int64_t from = block * w->h.block, count = 0, at = 0;
    int64_t to =
        from + w->h.block < w->h.columns ? from + w->h.block : w->h.columns;
    const float *row = p->op.weights + k * w->step_k;

    while (from < to) {
        int64_t tap = from / w->h.c, c = from % w->h.c;
        int64_t end = w->h.c - c < to - from ? w->h.c : c + to - from;
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
static void pack_part(packing *w, const sp_dense_problem *p, sp_pruned_at *end,
                      int64_t block, int64_t group, int64_t pitch)
{
    int64_t first = group * GROUP, length[GROUP];
    int count = (int)(w->h.k - first < GROUP ? w->h.k - first : GROUP);
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

static spry_status allocate(packing *w, const sp_dense_plan *plan)
{
    int64_t nonzeros = count_nonzeros(plan->p), rows = w->h.blocks * w->h.k;

    w->part = sp_alloc(w->h.blocks * w->h.groups + 1, sizeof *w->part);
    w->run = sp_alloc_raw(rows + 1, sizeof *w->run);
    w->row = sp_alloc_raw(rows + 1, sizeof *w->row);
    w->nonzero = sp_alloc_raw(nonzeros + 1, sizeof *w->nonzero);
    w->cut = sp_alloc(plan->x.threads + 1, sizeof *w->cut);
    return w->part && w->run && w->row && w->nonzero && w->cut
               ? SPRY_OK
               : sp_fail_memory((size_t)nonzeros * sizeof *w->nonzero);
}

/* Groups for every share, as many nonzeros each as can be. */
static void cut_groups(packing *w, int shares)
{
    int64_t all = 0, before = 0;
    int share = 1;

    for (int64_t b = 0; b < w->h.blocks; b++)
        all += w->part[(b + 1) * w->h.groups].nonzero -
               w->part[b * w->h.groups].nonzero + w->h.groups;
    for (int64_t g = 0; g < w->h.groups; g++) {
        while (share < shares && before >= all * share / shares)
            w->cut[share++] = g;
        before++;
        for (int64_t b = 0; b < w->h.blocks; b++)
            before += w->part[b * w->h.groups + g + 1].nonzero -
                      w->part[b * w->h.groups + g].nonzero;
    }
    while (share <= shares)
        w->cut[share++] = w->h.groups;
}

static spry_status pack_bias(sp_dense_plan *plan, const packing *w)
{
    if (!plan->p->op.with_bias)
        return SPRY_OK;
    plan->bias = sp_alloc(w->h.groups * GROUP, sizeof(float));
    if (!plan->bias)
        return sp_fail_memory((size_t)w->h.k * sizeof(float));
    memcpy(plan->bias, plan->p->op.bias, (size_t)w->h.k * sizeof(float));
    return SPRY_OK;
}

static void set_shape(packing *w, const sp_dense_plan *plan)
{
    const spry_operator *op = &plan->p->op;
    int conv = op->kind == SPRY_CONV2D;
    int64_t taps = conv ? op->r * op->s : 1;

    w->h.c = conv ? op->c : op->k;
    w->h.k = plan->p->cols;
    w->h.columns = taps * w->h.c;
    w->h.block = plan->x.block && plan->x.block < w->h.columns ? plan->x.block
                                                               : w->h.columns;
    w->h.blocks = (w->h.columns + w->h.block - 1) / w->h.block;
    w->h.groups = (w->h.k + GROUP - 1) / GROUP;
    w->step_k = conv ? w->h.columns : op->transposed ? op->pitch_b : 1;
    w->step_c = conv ? taps : op->transposed ? 1 : op->pitch_b;
    w->step_tap = 1;
}

/* Head and arrays one behind the other, each on 64 bytes. */
static spry_status lay_out(sp_dense_plan *plan, packing *w)
{
    sp_pruned_at end = w->part[w->h.blocks * w->h.groups];
    struct {
        int64_t *at;
        const void *from;
        int64_t bytes;
    } array[] = {
        {&w->h.part, w->part,
         (w->h.blocks * w->h.groups + 1) * (int64_t)sizeof *w->part},
        {&w->h.run, w->run, end.run * (int64_t)sizeof *w->run},
        {&w->h.row, w->row, end.row * (int64_t)sizeof *w->row},
        {&w->h.nonzero, w->nonzero, end.nonzero * (int64_t)sizeof *w->nonzero},
        {&w->h.zeros, NULL, w->h.c * (int64_t)sizeof(float)},
        {&w->h.cut, w->cut, (plan->x.threads + 1) * (int64_t)sizeof *w->cut}};
    enum { ARRAYS = sizeof array / sizeof array[0] };
    int64_t bytes = 64 * ((int64_t)(sizeof w->h + 63) / 64);
    spry_status s;
    int packs;
    char *to;

    for (int i = 0; i < ARRAYS; i++) {
        *array[i].at = bytes;
        bytes += sp_round_up(array[i].bytes, 64);
    }
    s = sp_dense_room(plan, bytes / 4, &packs);
    if (s != SPRY_OK)
        return s;
    to = (char *)plan->packed;
    memset(to, 0, (size_t)bytes);
    memcpy(to, &w->h, sizeof w->h);
    for (int i = 0; i < ARRAYS; i++)
        if (array[i].from && array[i].bytes)
            memcpy(to + *array[i].at, array[i].from, (size_t)array[i].bytes);
    return SPRY_OK;
}

static spry_status pack(sp_dense_plan *plan, packing *w, int64_t pitch)
{
    sp_pruned_at end = {0, 0, 0};
    spry_status s = allocate(w, plan);

    for (int64_t b = 0; s == SPRY_OK && b < w->h.blocks; b++)
        for (int64_t g = 0; g < w->h.groups; g++) {
            w->part[b * w->h.groups + g] = end;
            pack_part(w, plan->p, &end, b, g, pitch);
        }
    if (s != SPRY_OK)
        return s;
    w->part[w->h.blocks * w->h.groups] = end;
    if (plan->x.channels)
        cut_groups(w, plan->x.threads);
    return lay_out(plan, w);
}

/* As they were laid out before, for the same shape. */
static spry_status adopt(sp_dense_plan *plan, const packing *w)
{
    sp_pruned_head h = {0};
    int packs;

    if (plan->ready_bytes >= (int64_t)sizeof h)
        memcpy(&h, plan->ready, sizeof h);
    if (h.c != w->h.c || h.columns != w->h.columns || h.block != w->h.block ||
        h.k != w->h.k || h.groups != w->h.groups)
        return sp_fail(SPRY_FAIL, "weights were packed for another plan");
    return sp_dense_room(plan, plan->ready_bytes / 4, &packs);
}

static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    int64_t pitch = sp_pruned_pitch(sp_dense_loops_of(m->isa).pruned,
                                    plan->p->rows, plan->x.v);
    packing w = {.part = NULL};
    spry_status s;

    set_shape(&w, plan);
    s = plan->ready ? adopt(plan, &w) : pack(plan, &w, pitch);
    if (s == SPRY_OK)
        s = pack_bias(plan, &w);
    plan->scratch =
        4 * pitch * (w.h.block + (w.h.blocks > 1 ? SP_PRUNED_CHUNK : GROUP));
    release(&w);
    return s;
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
    if (p->terms * SP_PRUNED_PIXELS > INT32_MAX)
        return "there are too many columns";
    return NULL;
}

const sp_dense_algorithm sp_dense_pruned = {illegal, prepare, sp_pruned_part,
                                            1};
