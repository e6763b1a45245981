/* bound.c - the loops that set the limits: STREAM's triad, and multiply-adds
 * that wait for nothing. */
#include "bound.h"

#include <math.h>

#include "base/base.h"
#include "machine/internal.h"

enum { ROUNDS = 1 << 18 };

/* ---- triad ---- */

spry_status bench_triad_open(bench_bound *out, const spry_machine *m,
                             int threads)
{
    double last = 1 << 24;

    for (int i = 0; i < SPRY_CACHES; i++)
        last = fmax(last, (double)m->cache[i].bytes); /* or what is told */
    *out = (bench_bound){.threads = threads};
    out->words = (int64_t)(4 * last / 3 / sizeof(double));
    out->work = 3 * sizeof(double) * (double)out->words;
    out->a = sp_alloc(out->words, sizeof(double));
    out->b = sp_alloc(out->words, sizeof(double));
    out->c = sp_alloc(out->words, sizeof(double));
    if (out->a && out->b && out->c)
        return SPRY_OK;
    bench_bound_close(out);
    return sp_fail_memory((size_t)out->work);
}

static void triad(const bench_bound *b)
{
    double *restrict x = b->a;
    const double *restrict y = b->b, *restrict z = b->c;

#pragma omp parallel for num_threads(b->threads) schedule(static)
    for (int64_t i = 0; i < b->words; i++)
        x[i] = y[i] + 0.5 * z[i];
}

/* ---- multiply-adds ---- */

/* The probe's own loop: written in multiply-adds, where a compiler that may
 * reorder sums would make a multiplication and an addition of each. */
static double rounds(const bench_bound *b, int64_t n, double *sink)
{
    return b->type == SPRY_F32 ? b->lanes->fma_f32(n, sink)
                               : b->lanes->fma_f64(n, sink);
}

void bench_peak_open(bench_bound *out, const spry_machine *m, spry_type type,
                     int threads)
{
    double sink = 0;

    *out = (bench_bound){
        .threads = threads, .type = type, .lanes = sp_lanes_of(m->isa)};
    out->work = rounds(out, 1, &sink) * ROUNDS * threads;
}

static double peak(const bench_bound *b)
{
    double sum = 0;

#pragma omp parallel num_threads(b->threads) reduction(+ : sum)
    rounds(b, ROUNDS, &sum);
    return sum;
}

/* ---- both ---- */

void bench_bound_run(void *bound)
{
    bench_bound *b = bound;

    if (b->a)
        triad(b);
    else
        b->sink += peak(b);
}

void bench_bound_close(bench_bound *b)
{
    sp_free(b->a);
    sp_free(b->b);
    sp_free(b->c);
    b->a = b->b = b->c = NULL;
}
