/* lines.c - random lines of memory per second, for 1, 2, 4 ... all threads.
 *
 * Sparse kernels on large random patterns wait for nothing else. The addresses
 * come from a generator in registers, so that as many loads are on their way
 * as the core can keep; with pages of the usual size the translations of
 * addresses miss as well, and huge pages show what that costs. */
#include "machine/internal.h"

#include <omp.h>

#include "base/base.h"

enum { LINES = 1 << 14, LINE_WORDS = 8 };

static const double LINES_BUDGET = 0.02; /* of each kind, over all points */

typedef struct {
    sp_probe *p;
    const double *region;
    int64_t words;
    int threads;
} job;

static double load_lines(const double *region, uint64_t lines, uint64_t x)
{
    double sum = 0;

    for (int i = 0; i < LINES; i++) {
        x = x * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u;
        sum += region[((x >> 32) * lines >> 32) * LINE_WORDS];
    }
    return sum;
}

static void load_all(void *ctx)
{
    job *j = ctx;
    uint64_t lines = (uint64_t)j->words / LINE_WORDS;
    uint64_t seed = (uint64_t)(int64_t)(sp_seconds() * 1e9);
    double total = 0;

#pragma omp parallel num_threads(j->threads) reduction(+ : total)
    total +=
        load_lines(j->region, lines,
                   seed + 0x2545f4914f6cdd1du * (uint64_t)omp_get_thread_num());
    j->p->sink += total;
}

/* The share of random lines that the last cache has no room for. */
static double missing(const sp_probe *p, int64_t words)
{
    double last = 0, all = (double)words * sizeof(double);

    for (int i = 0; i < SPRY_CACHES; i++)
        if (spry_machine_cache(p->m, i) > 0)
            last = (double)spry_machine_cache(p->m, i);
    return last < all / 2 ? 1 - last / all : 0.5;
}

static void measure(double out[SPRY_POINTS], sp_probe *p, const double *region,
                    int64_t words)
{
    for (int i = 0; i < p->m->points; i++) {
        job j = {p, region, words, p->m->at[i]};
        double seconds = sp_fastest(load_all, &j, LINES_BUDGET / p->m->points);

        out[i] = missing(p, words) * LINES * j.threads / seconds;
    }
}

void sp_probe_lines(sp_probe *p)
{
    measure(p->m->lines, p, p->region, p->words);
    if (p->small)
        measure(p->m->lines_small, p, p->small, p->words / 2);
}
