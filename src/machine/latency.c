/* latency.c - seconds per dependent load over the size of the working set,
 * and per gathered element.
 *
 * A chain of loads, each giving the address of the next, visits every line
 * of a working set once before it repeats. The order is that of a linear
 * congruential generator with full period (Hull and Dobell: a = 1 mod 4,
 * c odd, modulus a power of two), numbers beyond the last line left out: no
 * prefetcher follows it, and writing the chain down is one sequential pass,
 * far cheaper than a random shuffle, that leaves in the caches what they can
 * hold.
 *
 * The whole curve is walked several times and each point keeps its least:
 * one interruption then spoils no stretch of it. */
#include "machine/internal.h"

#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/base.h"

enum {
    LINE_WORDS = 8,
    CHASE = 1 << 12, /* loads of a sample */
    SAMPLES = 3,
    MANY_SAMPLES = 12, /* where they are short */
    GATHERS = 1 << 13,
    LEAST_WALKS = 2,
    MOST_WALKS = 5,
    SMALLEST = 8 << 10, /* bytes of the first working set */
    FEW_BYTES = 1 << 20
};

static const double CURVE_BUDGET = 0.1, GATHER_BUDGET = 0.01;
static const double STEP = 1.41421356237; /* between two working sets */

/* ---- a chain ---- */

typedef struct {
    const double *region;
    uint64_t at; /* where the chain stands: a word of the region */
} chain;

static uint64_t load_word(const double *region, uint64_t at)
{
    uint64_t next;

    memcpy(&next, region + at, sizeof next);
    return next;
}

/* Seconds per load of one sample. */
static double chase(chain *c)
{
    double start = sp_seconds();
    uint64_t at = c->at;

    for (int i = 0; i < CHASE; i++)
        at = load_word(c->region, at);
    c->at = at;
    return (sp_seconds() - start) / CHASE;
}

static double chase_often(chain *c, int samples)
{
    double best = HUGE_VAL;

    for (int i = 0; i < samples; i++)
        best = fmin(best, chase(c));
    return best;
}

static void write_chain(double *region, int64_t bytes)
{
    uint64_t lines = (uint64_t)bytes / (LINE_WORDS * sizeof *region), all = 1;

    while (all < lines)
        all *= 2;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t next = i;

        do
            next =
                (next * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u) & (all - 1);
        while (next >= lines);
        next *= LINE_WORDS;
        memcpy(region + i * LINE_WORDS, &next, sizeof next);
    }
}

/* Out of all caches; 0 when no instruction does that. */
static int flush(const double *region, int64_t bytes)
{
#if defined(__x86_64__)
    for (int64_t i = 0; i < bytes / (int64_t)sizeof *region; i += LINE_WORDS)
        _mm_clflush(region + i);
    _mm_mfence();
    return 1;
#else
    (void)region;
    (void)bytes;
    return 0;
#endif
}

/* ---- the curve ---- */

/* Twice the last cache shows its end, as far as the region reaches. */
static int64_t largest_set(const sp_probe *p)
{
    int64_t all = p->words * (int64_t)sizeof(double), last = 1 << 24;

    for (int i = 0; i < SPRY_CACHES; i++)
        if (p->m->cache[i].bytes > last)
            last = p->m->cache[i].bytes;
    return 2 * last < all / 2 ? 2 * last : all / 2;
}

static void choose_sets(sp_curve *c, const sp_probe *p)
{
    double bytes = SMALLEST, most = (double)largest_set(p);

    for (c->count = 0; c->count < SP_CURVE && bytes <= 1.01 * most;
         bytes *= STEP) {
        c->bytes[c->count] = (int64_t)bytes / 64 * 64;
        c->seconds[c->count++] = HUGE_VAL;
    }
    c->memory = HUGE_VAL;
}

/* Memory: a chain that was pushed out of all caches, else one that is too
 * large for them. No line of a sample is met twice. */
static double memory_latency(sp_probe *p, double *region, int64_t bytes)
{
    chain c = {.region = region};
    double seconds;

    write_chain(region, bytes);
    (void)flush(region, bytes);
    seconds = chase_often(&c, 2 * SAMPLES);
    p->sink += (double)c.at; /* or nobody would need the chain */
    return seconds;
}

static void walk_curve(sp_curve *c, sp_probe *p)
{
    for (int i = 0; i < c->count; i++) {
        int samples = c->bytes[i] < FEW_BYTES ? MANY_SAMPLES : SAMPLES;
        chain k = {.region = p->region};

        write_chain(p->region, c->bytes[i]);
        c->seconds[i] = fmin(c->seconds[i], chase_often(&k, samples));
        p->sink += (double)k.at;
    }
    c->memory =
        fmin(c->memory, memory_latency(p, p->region, c->bytes[c->count - 1]));
}

/* The latency of each level as the curve has it: well inside it. */
static void take_levels(spry_machine *m, const sp_curve *c)
{
    int64_t below = 0;

    for (int level = 0; level < SPRY_CACHES; level++) {
        int64_t size = m->cache[level].bytes, inside = size / 2;

        m->latency[level] = 0;
        if (size == 0)
            continue;
        if (below > 0 && 4 * below < inside)
            inside = 4 * below;
        for (int i = 0; i < c->count && c->bytes[i] <= inside; i++)
            m->latency[level] = c->seconds[i];
        below = size;
    }
    m->latency[SPRY_CACHES] = c->memory;
}

static void measure_curve(sp_probe *p)
{
    double end = sp_seconds() + CURVE_BUDGET;
    sp_curve c;

    choose_sets(&c, p);
    for (int i = 0; i < MOST_WALKS && (i < LEAST_WALKS || sp_seconds() < end);
         i++)
        walk_curve(&c, p);
    for (int i = c.count - 2; i >= 0; i--)
        c.seconds[i] = fmin(c.seconds[i], c.seconds[i + 1]);
    take_levels(p->m, &c);
    sp_curve_caches(p->m->measured, &c, p->m->cache);
}

/* ---- gathered elements ---- */

typedef struct {
    sp_probe *p;
    const float *from;
    int32_t at[GATHERS];
} gathering;

static void gather(void *ctx)
{
    gathering *g = ctx;
    float a = 0, b = 0, c = 0, d = 0;

    for (int i = 0; i < GATHERS; i += 4) {
        a += g->from[g->at[i]];
        b += g->from[g->at[i + 1]];
        c += g->from[g->at[i + 2]];
        d += g->from[g->at[i + 3]];
    }
    g->p->sink += (double)(a + b + c + d);
}

static double gather_cost(sp_probe *p)
{
    gathering *g = sp_alloc(1, sizeof *g);
    int level = p->m->cache[1].bytes > 0 ? 1 : 0;
    int64_t floats = 2 * sp_probe_level_words(p, level);
    sp_rng r = sp_rng_seed(1);
    double seconds = 0;

    if (g && floats > 0) {
        memset(p->region, 0, (size_t)floats * sizeof(float));
        g->p = p;
        g->from = (const float *)(const void *)p->region;
        for (int i = 0; i < GATHERS; i++)
            g->at[i] = (int32_t)sp_rng_below(&r, (uint64_t)floats);
        seconds = sp_fastest(gather, g, GATHER_BUDGET) / GATHERS;
    }
    sp_free(g);
    return seconds;
}

void sp_probe_latency(sp_probe *p)
{
    measure_curve(p);
    p->m->gather = gather_cost(p);
    if (p->small)
        p->m->latency_small =
            memory_latency(p, p->small, p->words / 2 * (int64_t)sizeof(double));
}
