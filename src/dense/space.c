/* space.c - all ways to compute an operator, and the one to take unasked. */
#include <math.h>

#include "base/base.h"
#include "dense/learned.h"

typedef struct {
    const sp_dense_problem *p;
    const spry_machine *m;
    sp_dense_way *list;
    int count, room, failed;
} walk;

static void add(walk *w, const sp_dense_way *x)
{
    if (w->failed || sp_dense_way_illegal(w->p, x, w->m))
        return;
    if (w->count == w->room) {
        sp_dense_way *more =
            sp_grow(w->list, w->count, 2 * w->room + 64, sizeof *more);

        if (!more) {
            w->failed = 1;
            return;
        }
        w->list = more;
        w->room = 2 * w->room + 64;
    }
    w->list[w->count++] = *x;
}

/* On one thread, and on all. */
static void add_threads(walk *w, sp_dense_way x, int splits)
{
    x.threads = 1;
    x.channels = 0;
    add(w, &x);
    x.threads = w->m->threads;
    for (; x.channels <= splits && x.threads > 1; x.channels++)
        add(w, &x);
}

static void add_blocks(walk *w, sp_dense_way x)
{
    static const int64_t direct[] = {0, 8, 32, 128}, wino[] = {12, 24, 48, 96};
    static const int64_t depthwise[] = {0, 64};

    if (x.algorithm == SP_DW) {
        for (int i = 0; i < 2 && depthwise[i] < w->p->op.c; i++) {
            x.block = depthwise[i];
            add_threads(w, x, 1);
        }
        return;
    }
    for (int i = 0; i < 4; i++) {
        x.block = x.algorithm == SP_DIRECT ? direct[i] : wino[i];
        add_threads(w, x, 1);
    }
}

/* Pixels that tiles are cut from: of a line, or all of them. */
static int64_t line_of(const sp_dense_problem *p, const sp_dense_way *x)
{
    int64_t all = p->op.kind == SPRY_MATMUL ? p->op.m : p->rows;

    if (x->algorithm == SP_WINO2)
        return x->block ? x->block : 24;
    return p->op.kind == SPRY_CONV2D &&
                   (p->op.r > 1 || p->op.s > 1 || p->op.stride_h > 1 ||
                    x->algorithm == SP_DW)
               ? p->width
               : all;
}

void sp_dense_even(sp_dense_way *x, const sp_dense_problem *p)
{
    int64_t line = line_of(p, x), count = (line + x->mr - 1) / x->mr;

    if (x->algorithm == SP_DIRECT || x->algorithm == SP_WINO2 ||
        x->algorithm == SP_DW)
        x->mr = (int)((line + count - 1) / count);
}

/* Tiles of all heights that cut a line into another number of tiles: with
 * the others the even tiles are the same. */
static void add_tiles(walk *w, sp_dense_way x, int most)
{
    int64_t line = line_of(w->p, &x), before = 0;
    int kept = 0;

    if (most > line)
        most = (int)line;
    for (x.mr = most; x.mr > 0 && kept < 4; x.mr--) {
        int64_t count = (line + x.mr - 1) / x.mr;

        if (count == before)
            continue;
        before = count;
        kept++;
        sp_dense_even(&x, w->p);
        add_blocks(w, x);
    }
}

static int highest(const sp_tile_set *set, int v)
{
    int mr = SP_TILE_MR;

    while (mr > 0 && !set->tile[v][mr])
        mr--;
    return mr;
}

/* Pixels of the widest tile of a depthwise convolution; 0: there is none. */
static int widest(const spry_operator *op, spry_isa isa)
{
    const sp_depthwise_set *set = sp_dense_loops_of(isa).depthwise;
    int mr = SP_DEPTHWISE_MR;

    if (!set || op->s > 5 || op->stride_w > 2)
        return 0;
    while (mr > 0 && !set->tile[op->s / 2][op->stride_w][mr][SP_OVERHANG_NONE])
        mr--;
    return mr;
}

static void add_sums(walk *w)
{
    const sp_tile_set *set = sp_dense_loops_of(w->m->isa).tiles;
    sp_dense_way x = {.threads = 1};

    if (!set)
        return;
    for (x.v = 1; x.v <= SP_TILE_V; x.v++) {
        x.algorithm = SP_DIRECT;
        add_tiles(w, x, highest(set, x.v));
        x.algorithm = SP_WINO2;
        add_tiles(w, x, highest(set, x.v));
    }
    x.v = 1;
    x.algorithm = SP_DW;
    add_tiles(w, x, widest(&w->p->op, w->m->isa));
}

int64_t sp_dense_near(const spry_machine *m)
{
    int64_t bytes = spry_machine_cache(m, 0);

    return bytes > 0 ? bytes : 32768;
}

int64_t sp_dense_second(const spry_machine *m)
{
    int64_t bytes = spry_machine_cache(m, 1);

    return bytes > 0 ? bytes : 262144;
}

/* Vectors of pixels, and the columns of weights for which they stay in the
 * nearest cache, or in the next. */
static void add_pruned(walk *w)
{
    const sp_pruned_set *set = sp_dense_loops_of(w->m->isa).pruned;
    double near = (double)sp_dense_near(w->m);
    sp_dense_way x = {.algorithm = SP_PRUNED, .threads = 1};

    if (!set || w->p->op.sparsity == 0)
        return;
    if (w->p->rows == 1) { /* without vectors nor turns */
        x.v = x.mr = 1;
        add_threads(w, x, 1);
        return;
    }
    for (x.v = 1; x.v <= SP_PRUNED_V; x.v++)
        for (x.mr = 1; x.mr <= SP_PRUNED_MR; x.mr++)
            for (int i = 0; i < 4; i++) {
                static const double share[] = {0.5, 0.75, 1.5, 0};

                x.block = (int64_t)(share[i] * near / (4 * x.v * set->lanes)) /
                          16 * 16;
                if (x.block < w->p->terms)
                    add_threads(w, x, 1);
            }
}

spry_status sp_dense_ways(sp_dense_way **out, int *count,
                          const sp_dense_problem *p, const spry_machine *m)
{
    walk w = {.p = p, .m = m};
    sp_dense_way x = {.algorithm = SP_PLAIN, .mr = 1, .v = 1, .threads = 1};

    add_threads(&w, x, 0);
    if (p->op.kind == SPRY_CONV2D || p->op.kind == SPRY_MATMUL)
        add_sums(&w);
    add_pruned(&w);
    x.algorithm = SP_ROWS;
    add_threads(&w, x, 0);
    *out = w.list;
    *count = w.count;
    if (!w.failed)
        return SPRY_OK;
    sp_free(w.list);
    *out = NULL;
    return sp_fail_memory(0);
}

sp_dense_way sp_dense_usual(const sp_dense_problem *p, const spry_machine *m)
{
    sp_dense_way best = {.algorithm = SP_PLAIN, .mr = 1, .v = 1, .threads = 1};
    double *seconds = NULL, least = HUGE_VAL;
    sp_dense_way *list;
    int count;

    if (sp_dense_ways(&list, &count, p, m) != SPRY_OK)
        return best;
    seconds = sp_alloc(count, sizeof *seconds);
    if (seconds)
        (void)sp_dense_expect(seconds, p, list, count, m);
    for (int i = 0; list && seconds && i < count; i++)
        if (seconds[i] < least) {
            least = seconds[i];
            best = list[i];
        }
    sp_free(seconds);
    sp_free(list);
    return best;
}
