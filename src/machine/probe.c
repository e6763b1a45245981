/* probe.c - a detected machine -> the same with measured numbers.
 *
 * Each stage has a share of the time; together they stay near one second.
 * A number is the fastest of several samples: what the machine can do, not
 * what its other users left of it. Only noise is about the others. */
#define _DEFAULT_SOURCE /* madvise */
#include "spry/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "machine/internal.h"
#include "machine/machine.h"

enum { MEGA = 1 << 20 };

static const double SAMPLE_SECONDS = 2e-4;

double sp_fastest(void (*run)(void *ctx), void *ctx, double budget)
{
    double end = sp_seconds() + budget, best = HUGE_VAL;
    int64_t repeat = 1;

    for (int samples = 0; samples < 3 || sp_seconds() < end; samples++) {
        double start = sp_seconds(), seconds;

        for (int64_t i = 0; i < repeat; i++)
            run(ctx);
        seconds = sp_seconds() - start;
        if (seconds < SAMPLE_SECONDS && repeat < INT64_MAX / 2) {
            repeat *= 2;
            samples = -1; /* too short to count */
        } else if (seconds / (double)repeat < best) {
            best = seconds / (double)repeat;
        }
    }
    return best;
}

/* Four times the level below, which cannot hold it, if that fits in half of
 * this one: of a large shared cache only a part may be ours. */
int64_t sp_probe_level_words(const sp_probe *p, int level)
{
    int64_t bytes = spry_machine_cache(p->m, level) / 2;

    if (level > 0 && 4 * spry_machine_cache(p->m, level - 1) < bytes)
        bytes = 4 * spry_machine_cache(p->m, level - 1);
    if (bytes > p->words / 2 * (int64_t)sizeof(double))
        bytes = p->words / 2 * (int64_t)sizeof(double);
    return bytes / (int64_t)sizeof(double) / 1024 * 1024;
}

/* Four times the last cache, so that little of it is found there again; but
 * at most 256 MB per socket and an eighth of the memory. */
static int64_t region_bytes(const spry_machine *m)
{
    int64_t last = 0, most = (int64_t)m->sockets * 256 * MEGA;

    for (int i = 0; i < SPRY_CACHES; i++)
        if (m->cache[i].bytes > 0) {
            int sharers = m->cache[i].shared_by > 0 ? m->cache[i].shared_by : 1;

            last = m->cache[i].bytes *
                   (m->cores > sharers ? m->cores / sharers : 1);
        }
    if (m->memory > 0 && m->memory / 8 < most)
        most = m->memory / 8;
    last *= 4;
    if (last < 64 * MEGA)
        last = 64 * MEGA;
    return last < most ? last : most;
}

/* Pages are given out by who writes first: all threads do. */
static void touch(double *x, int64_t n, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < n; i++)
        x[i] = 1e-3 * (double)(i & 7);
}

/* Half as much memory that stays on pages of the usual size; what to free. */
static void *usual_pages(sp_probe *p)
{
    int64_t page = sysconf(_SC_PAGESIZE), words = p->words / 2;
    char *block = sp_alloc_raw(words * (int64_t)sizeof(double) + page, 1);
    char *first;

    if (!block)
        return NULL;
    first = block + page - (uintptr_t)block % (uintptr_t)page;
    madvise(first, (size_t)words * sizeof(double), MADV_NOHUGEPAGE);
    p->small = (double *)(void *)first;
    touch(p->small, words, p->m->threads);
    return block;
}

/* More digits than the stopwatch has would only be noise in the files. */
static void round_off(double *x, int n)
{
    for (int i = 0; i < n; i++) {
        char text[32];

        snprintf(text, sizeof text, "%.3e", x[i]);
        x[i] = isfinite(x[i]) ? strtod(text, NULL) : 0;
    }
}

static void round_all(spry_machine *m)
{
    round_off(m->read, SPRY_POINTS);
    round_off(m->triad, SPRY_POINTS);
    round_off(m->cache_read, SPRY_CACHES);
    round_off(m->latency, SPRY_CACHES + 1);
    round_off(&m->latency_small, 1);
    round_off(m->lines, SPRY_POINTS);
    round_off(m->lines_small, SPRY_POINTS);
    round_off(&m->gather, 1);
    round_off(&m->fma_f32, 1);
    round_off(&m->fma_f64, 1);
    round_off(&m->fork, 1);
    round_off(&m->noise, 1);
}

/* A machine from a file may have what this one lacks. */
static spry_status can_run_here(const spry_machine *m)
{
    spry_machine here;
    spry_status s = spry_machine_detect(&here);

    if (s == SPRY_OK)
        s = spry_machine_limit(&here, m->threads, m->isa);
    return s;
}

spry_status spry_machine_probe(spry_machine *m)
{
    SP_NEED(m);

    spry_machine before = *m;
    sp_probe p = {.m = m};
    spry_status s = can_run_here(m);
    void *small = NULL;

    if (s != SPRY_OK)
        return s;
    p.lanes = sp_lanes_of(m->isa);
    p.words = region_bytes(m) / (int64_t)sizeof(double) / 1024 * 1024;
    p.region = sp_alloc_raw(p.words, sizeof(double));
    if (!p.region)
        return sp_fail_memory((size_t)p.words * sizeof(double));
    small = usual_pages(&p);
    touch(p.region, p.words, m->threads);
    sp_probe_points(m);
    sp_probe_latency(&p); /* first: the others go by the caches it finds */
    sp_probe_lines(&p);
    sp_free(small);
    touch(p.region, p.words, m->threads); /* chains are no numbers to add */
    sp_probe_bandwidth(&p);
    sp_probe_compute(&p);
    sp_probe_noise(&p);
    sp_free(p.region);
    round_all(m);
    m->probed = 1;
    sp_machine_merge(m, &before);
    if (before.probed && before.noise < m->noise)
        m->noise = before.noise;
    return SPRY_OK;
}
