/* compute.c - FLOPs per second of one thread, the price of starting all of
 * them, and how much two equal measurements differ. */
#include "machine/internal.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "base/base.h"
#include "machine/isa.h"
#include "machine/machine.h"

enum { ROUNDS = 1 << 12, PAIRS = 60, FEWEST_PAIRS = 8 };

static const double COMPUTE_BUDGET = 0.02, NOISE_SAMPLE = 5e-4,
                    NOISE_BUDGET = 0.1;

static void run_f32(void *ctx)
{
    sp_probe *p = ctx;

    p->lanes->fma_f32(ROUNDS, &p->sink);
}

static void run_f64(void *ctx)
{
    sp_probe *p = ctx;

    p->lanes->fma_f64(ROUNDS, &p->sink);
}

static void run_fork(void *ctx)
{
    sp_probe *p = ctx;
    int threads = 0;

#pragma omp parallel num_threads(p->m->threads)
    {
#pragma omp master
        threads = omp_get_num_threads();
    }
    p->sink += threads;
}

void sp_probe_compute(sp_probe *p)
{
    spry_machine *m = p->m;
    double f32 = p->lanes->fma_f32(1, &p->sink) * ROUNDS;
    double f64 = p->lanes->fma_f64(1, &p->sink) * ROUNDS;

    m->fma_f32 = f32 / sp_fastest(run_f32, p, COMPUTE_BUDGET);
    m->fma_f64 = f64 / sp_fastest(run_f64, p, COMPUTE_BUDGET);
    m->fork = sp_fastest(run_fork, p, COMPUTE_BUDGET);
}

double sp_multiply_adds(void)
{
    sp_probe p = {.lanes = sp_lanes_of(sp_isa_here())};
    double flops = p.lanes->fma_f32(1, &p.sink) * ROUNDS;

    return flops / sp_fastest(run_f32, &p, 0);
}

/* ---- noise ---- */

/* Every thread sums its own piece: disturb one and all are late, as in the
 * parallel kernels that will be raced. */
static void run_equal(sp_probe *p, int64_t repeat)
{
    int64_t words = sp_probe_level_words(p, 0);
    double total = 0;

#pragma omp parallel num_threads(p->m->threads) reduction(+ : total)
    {
        int64_t from = words * omp_get_thread_num();

        if (from + words <= p->words)
            for (int64_t i = 0; i < repeat; i++)
                total += p->lanes->sum(p->region + from, words);
    }
    p->sink += total;
}

static double time_equal(sp_probe *p, int64_t repeat)
{
    double start = sp_seconds();

    run_equal(p, repeat);
    return sp_seconds() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* On a busy machine a sample takes many times as long: fewer will do to
 * show that. */
void sp_probe_noise(sp_probe *p)
{
    double apart[PAIRS] = {0}, end = sp_seconds() + NOISE_BUDGET;
    int64_t repeat = 1;
    int n = 0;

    while (time_equal(p, repeat) < NOISE_SAMPLE && repeat < 1 << 20)
        repeat *= 4;
    while (n < PAIRS && (n < FEWEST_PAIRS || sp_seconds() < end)) {
        double first = time_equal(p, repeat);

        apart[n++] = fabs(log(time_equal(p, repeat) / first));
    }
    qsort(apart, (size_t)n, sizeof apart[0], by_value);
    p->m->noise = apart[n * 95 / 100];
}
