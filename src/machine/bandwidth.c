/* bandwidth.c - bytes per second: from memory for 1, 2, 4 ... all threads,
 * from each cache for one. */
#include "machine/internal.h"

#include <omp.h>

enum { GRAIN = 1024 }; /* threads get whole multiples of so many words */

static const double MEMORY_BUDGET = 0.25, CACHE_BUDGET = 0.01;

typedef struct {
    sp_probe *p;
    int64_t words;
    int threads;
} job;

/* Words [*from, *from + return) belong to this thread of its team. */
static int64_t my_part(int64_t words, int64_t *from)
{
    int64_t grains = words / GRAIN, threads = omp_get_num_threads(),
            me = omp_get_thread_num();
    int64_t first = grains * me / threads, last = grains * (me + 1) / threads;

    *from = first * GRAIN;
    return (last - first) * GRAIN;
}

static void read_memory(void *ctx)
{
    job *j = ctx;
    double total = 0;

#pragma omp parallel num_threads(j->threads) reduction(+ : total)
    {
        int64_t from, n = my_part(j->words, &from);

        total += j->p->lanes->sum(j->p->region + from, n);
    }
    j->p->sink += total;
}

static void triad_memory(void *ctx)
{
    job *j = ctx;
    int64_t third = j->words / 3 / GRAIN * GRAIN;
    double *a = j->p->region, *b = a + third, *c = b + third;

#pragma omp parallel num_threads(j->threads)
    {
        int64_t from, n = my_part(third, &from);

        j->p->lanes->triad(a + from, b + from, c + from, 0.5, n);
    }
}

static void read_cache(void *ctx)
{
    job *j = ctx;

    j->p->sink += j->p->lanes->sum(j->p->region, j->words);
}

/* 1, 2, 4 ... and all. */
void sp_probe_points(spry_machine *m)
{
    m->points = 0;
    for (int n = 1; n < m->threads && m->points < SPRY_POINTS - 1; n *= 2)
        m->at[m->points++] = n;
    m->at[m->points++] = m->threads;
}

void sp_probe_bandwidth(sp_probe *p)
{
    spry_machine *m = p->m;
    const double word = sizeof(double);

    for (int i = 0; i < m->points; i++) {
        job j = {p, p->words, m->at[i]};
        double share = MEMORY_BUDGET / (2 * m->points);
        double third = (double)(p->words / 3 / GRAIN * GRAIN);

        m->read[i] =
            (double)p->words * word / sp_fastest(read_memory, &j, share);
        m->triad[i] = 3 * third * word / sp_fastest(triad_memory, &j, share);
    }
    for (int level = 0; level < SPRY_CACHES; level++) {
        job j = {p, sp_probe_level_words(p, level), 1};

        m->cache_read[level] =
            j.words > 0 ? (double)j.words * word /
                              sp_fastest(read_cache, &j, CACHE_BUDGET)
                        : 0;
    }
}
