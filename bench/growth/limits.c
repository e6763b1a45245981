/* limits.c - which loops, over what, on how many threads. */
#include "limits.h"

#include <math.h>
#include <omp.h>

#include "base/base.h"
#include "loops.h"
#include "machine/internal.h"

enum { FLOP_ROUNDS = 1 << 15, FEW = 1 << 20 }; /* entries: one thread may do */

/* Dense rows that a panel keeps in a cache: the rest is for A and C. */
static const double PANEL_SHARE = 0.5;

/* ---- one run ---- */

static double gather(const limit *l, int64_t from, int64_t to)
{
    loop_operands o = {l->o->B, l->o->val, l->index, l->kind == LIMIT_AHEAD};

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

static void put_index(void *index, int wide, int64_t at, int32_t column)
{
    if (wide)
        ((int32_t *)index)[at] = column;
    else
        ((uint16_t *)index)[at] = (uint16_t)column;
}

/* The columns panel by panel, each in the order of the rows. */
static void *order_by_panels(const bench_operands *o, int wide, int panels)
{
    int64_t *next = sp_alloc(panels + 1, sizeof *next);
    void *index = sp_alloc_raw(o->nnz, wide ? 4 : 2);
    int64_t width = (o->cols + panels - 1) / panels;

    if (next && index) {
        for (int64_t i = 0; i < o->nnz; i++)
            next[o->col[i] / width + 1]++;
        for (int p = 0; p < panels; p++)
            next[p + 1] += next[p];
        for (int64_t i = 0; i < o->nnz; i++)
            put_index(index, wide, next[o->col[i] / width]++, o->col[i]);
    } else {
        sp_free(index);
        index = NULL;
    }
    sp_free(next);
    return index;
}

/* Panels whose rows of B stay in a cache, 0: not worth it. Where each holds
 * less than half an entry of a row, C is moved more often than B would be. */
static int panels_of(const bench_operands *o, const spry_machine *m, int level)
{
    double bytes = (double)o->cols * LOOP_COLUMNS * 4;
    double room = PANEL_SHARE * (double)spry_machine_cache(m, level);
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

static int add_panels(limit *list, int n, limit l, int level)
{
    l.kind = LIMIT_PANELS;
    l.panels = panels_of(l.o, l.m, level);
    if (l.panels == 0)
        return n;
    l.index = l.owned[1] = order_by_panels(l.o, l.wide, l.panels);
    return l.index ? add(list, n, l) : n;
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
    index = order_by_panels(o, l.wide, 1);
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
    for (int kind = LIMIT_STREAM; kind <= LIMIT_AHEAD; kind++) {
        l.kind = (limit_kind)kind;
        n = add(out, n, l);
    }
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
    for (int i = 0; i < count; i++) {
        sp_free(l[i].owned[0]);
        sp_free(l[i].owned[1]);
    }
}
