/* limits.c - which loops, over what, on how many threads. */
#include "limits.h"

#include <math.h>
#include <omp.h>

#include "base/base.h"
#include "loops.h"
#include "machine/internal.h"

enum { FLOP_ROUNDS = 1 << 15, FEW = 1 << 20 }; /* entries: one thread may do */

/* Shares of a cache that a panel's rows of B take: more room for A and C, or
 * fewer panels. */
static const double PANEL_SHARES[] = {0.25, 0.5};

/* Entries that gathers are asked for ahead: how far is best depends on whether
 * they come from a cache or from memory. */
static const int AHEAD[] = {12, 24, 48};
enum { DISTANCES = sizeof AHEAD / sizeof AHEAD[0], PANELS_AHEAD = 24 };

/* ---- one run ---- */

static double gather(const limit *l, int64_t from, int64_t to)
{
    loop_operands o = {.B = l->o->B,
                       .val = l->o->val,
                       .index = l->index,
                       .ahead = l->ahead,
                       .row = l->row,
                       .C = l->o->C};

    if (l->kind == LIMIT_PANELS)
        return loop_panels(&o, from, to);
    return l->wide ? loop_gather32(&o, from, to) : loop_gather16(&o, from, to);
}

/* This thread's part of n, in whole lines. */
static int64_t part(int64_t n, int64_t *from)
{
    int64_t team = omp_get_num_threads(), me = omp_get_thread_num();

    *from = n * me / team / 16 * 16;
    return (me + 1 == team ? n : n * (me + 1) / team / 16 * 16) - *from;
}

static double read_part(const void *x, int64_t n)
{
    int64_t from, mine = part(n, &from);

    return loop_read((const int32_t *)x + from, mine);
}

static double stream(const limit *l)
{
    const bench_operands *o = l->o;
    int64_t from, mine = part(o->rows * LOOP_COLUMNS, &from);
    double sum = read_part(l->index, l->wide ? o->nnz : o->nnz / 2);

    sum += read_part(o->val, o->nnz) + read_part(o->start, o->rows);
    sum += read_part(o->B, o->cols * LOOP_COLUMNS);
    loop_write((float *)o->C + from, mine);
    return sum;
}

static double mine(const limit *l)
{
    int me = omp_get_thread_num();
    double sum = 0;

    if (l->kind == LIMIT_FLOPS)
        sp_lanes_of(l->m->isa)->fma_f32(FLOP_ROUNDS, &sum);
    else if (l->kind == LIMIT_STREAM)
        sum = stream(l);
    else
        sum = gather(l, l->cut[me], l->cut[me + 1]);
    return sum;
}

void limit_run(void *ctx)
{
    limit *l = ctx;
    double sum = 0;

#pragma omp parallel num_threads(l->threads) reduction(+ : sum)
    sum += mine(l);
    l->sink += sum;
}

const char *limit_name(const limit *l)
{
    static const char *const name[] = {"multiply-adds", "stream", "gathers",
                                       "gathers ahead", "gathers in panels"};

    return name[l->kind];
}

/* ---- which loops ---- */

/* Entries in equal parts. */
static int64_t *equal_cut(int64_t nnz, int threads)
{
    int64_t *cut = sp_alloc(threads + 1, sizeof *cut);

    for (int i = 0; cut && i <= threads; i++)
        cut[i] = nnz * i / threads;
    return cut;
}

/* The columns as they are, in as few bytes as they need. */
static void *narrowed(const bench_operands *o, int wide)
{
    void *index = sp_alloc_raw(o->nnz, wide ? 4 : 2);

    for (int64_t i = 0; index && i < o->nnz; i++) {
        if (wide)
            ((int32_t *)index)[i] = o->col[i];
        else
            ((uint16_t *)index)[i] = (uint16_t)o->col[i];
    }
    return index;
}

/* Rows [from, to) panel by panel, each in the order of the rows, into `column`
 * and `row` from place start[from] on; next[panels + 1] is for its own use. */
static void order_rows(const limit *l, int64_t from, int64_t to,
                       int32_t *column, int32_t *row, int64_t *next)
{
    const bench_operands *o = l->o;
    int64_t width = (o->cols + l->panels - 1) / l->panels;

    for (int p = 0; p <= l->panels; p++)
        next[p] = 0;
    for (int64_t e = o->start[from]; e < o->start[to]; e++)
        next[o->col[e] / width + 1]++;
    next[0] = o->start[from];
    for (int p = 0; p < l->panels; p++)
        next[p + 1] += next[p];
    for (int64_t i = from; i < to; i++)
        for (int64_t e = o->start[i]; e < o->start[i + 1]; e++) {
            int64_t at = next[o->col[e] / width]++;

            column[at] = o->col[e];
            row[at] = (int32_t)i;
        }
}

/* Each thread has its rows and goes through all panels. */
static int order_by_panels(limit *l)
{
    const bench_operands *o = l->o;
    int64_t *next = sp_alloc(l->panels + 1, sizeof *next), begin = 0;
    int32_t *column = sp_alloc_raw(o->nnz, sizeof *column);
    int32_t *row = sp_alloc_raw(o->nnz, sizeof *row);
    int made = next && column && row;

    for (int t = 0; made && t < l->threads; t++) {
        int64_t end = begin;

        while (end < o->rows && o->start[end] < l->cut[t + 1])
            end++;
        order_rows(l, begin, end, column, row, next);
        l->cut[t + 1] = o->start[end];
        begin = end;
    }
    l->index = l->owned[1] = column;
    l->row = l->owned[2] = row;
    sp_free(next);
    return made;
}

/* Panels whose rows of B stay in a cache, 0: not worth it. Where each holds
 * less than half an entry of a row, C is moved more often than B would be. */
static int panels_of(const bench_operands *o, const spry_machine *m, int level,
                     double share)
{
    double bytes = (double)o->cols * LOOP_COLUMNS * 4;
    double room = share * (double)spry_machine_cache(m, level);
    double most = 2 * (double)o->nnz / fmax(1, (double)o->rows);
    double panels = room > 0 ? ceil(bytes / room) : 0;

    return panels > 1 && panels <= most ? (int)panels : 0;
}

static int add(limit *list, int n, limit l)
{
    l.cut = equal_cut(l.o->nnz, l.threads);
    l.owned[0] = l.cut;
    if (!l.cut)
        return n;
    list[n] = l;
    return n + 1;
}

static int add_ahead(limit *list, int n, limit l)
{
    l.kind = LIMIT_AHEAD;
    for (int i = 0; i < DISTANCES; i++) {
        l.ahead = AHEAD[i];
        n = add(list, n, l);
    }
    return n;
}

static int add_panels(limit *list, int n, limit l, int level)
{
    l.kind = LIMIT_PANELS;
    l.ahead = PANELS_AHEAD;
    for (int i = 0; i < 2; i++) {
        int last = n;

        l.panels = panels_of(l.o, l.m, level, PANEL_SHARES[i]);
        if (l.panels == 0)
            continue;
        n = add(list, n, l);
        if (n > last && !order_by_panels(&list[last])) {
            limits_close(&list[last], 1);
            n = last;
        }
    }
    return n;
}

static double flops_of_a_run(const limit *l)
{
    double sink = 0;

    return sp_lanes_of(l->m->isa)->fma_f32(1, &sink) * FLOP_ROUNDS * l->threads;
}

int limits_open(limit out[LIMITS], const bench_operands *o,
                const spry_machine *m)
{
    limit l = {.threads = o->c.threads, .panels = 1, .part = 1, .o = o, .m = m};
    void *index;
    int n = 0;

    l.wide = o->cols > 1 << 16;
    index = narrowed(o, l.wide);
    if (!index)
        return 0;
    l.index = index;
    l.kind = LIMIT_FLOPS;
    l.part = flops_of_a_run(&l) / (2.0 * LOOP_COLUMNS * (double)o->nnz);
    n = add(out, n, l);
    if (n)
        out[0].owned[1] = index;
    else
        sp_free(index);
    if (n == 0)
        return 0;
    l.part = 1;
    for (int kind = LIMIT_STREAM; kind <= LIMIT_GATHERS; kind++) {
        l.kind = (limit_kind)kind;
        n = add(out, n, l);
    }
    n = add_ahead(out, n, l);
    for (int level = 1; level < SPRY_CACHES; level++)
        n = add_panels(out, n, l, level);
    if (o->nnz <= FEW && l.threads > 1) {
        l.kind = LIMIT_GATHERS;
        l.threads = 1;
        n = add(out, n, l);
    }
    return n;
}

void limits_close(limit *l, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            sp_free(l[i].owned[k]);
}
