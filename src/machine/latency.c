/* latency.c - seconds per dependent load from each level, and per gathered
 * element.
 *
 * A chain of loads, each giving the address of the next, visits every line
 * of a working set once before it repeats. The order is that of a linear
 * congruential generator with full period (Hull and Dobell: a = 1 mod 4,
 * c odd, modulus a power of two): no prefetcher follows it, and writing the
 * chain down is one sequential pass, far cheaper than a random shuffle. */
#include "machine/internal.h"

#include <string.h>

#include "base/base.h"

enum { CHASE = 1 << 15, LINE_WORDS = 8, GATHERS = 1 << 13 };

static const double LEVEL_BUDGET = 0.01;

typedef struct {
    sp_probe *p;
    uint64_t at; /* where the chain stands: a word of the region */
    int64_t loads;
} chain;

static uint64_t load_word(const double *region, uint64_t at)
{
    uint64_t next;

    memcpy(&next, region + at, sizeof next);
    return next;
}

static void chase(void *ctx)
{
    chain *c = ctx;
    uint64_t at = c->at;

    for (int64_t i = 0; i < c->loads; i++)
        at = load_word(c->p->region, at);
    c->at = at;
}

/* Chain the first lines of the region, a power of two of them. */
static int64_t write_chain(sp_probe *p, int64_t words)
{
    uint64_t lines = 1;

    while (2 * lines * LINE_WORDS <= (uint64_t)words)
        lines *= 2;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t next =
            (i * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u) & (lines - 1);

        next *= LINE_WORDS;
        memcpy(p->region + i * LINE_WORDS, &next, sizeof next);
    }
    return (int64_t)lines;
}

static double level_latency(sp_probe *p, int level)
{
    chain c = {.p = p};
    int64_t words = sp_probe_level_words(p, level);

    if (words == 0)
        return 0;
    c.loads = write_chain(p, words);
    chase(&c); /* once round: bring it where it belongs */
    if (c.loads > CHASE)
        c.loads = CHASE;
    return sp_fastest(chase, &c, LEVEL_BUDGET) / (double)c.loads;
}

/* The chain fills half of the region; reading the other half pushes it out
 * of the caches, and no line is met twice. */
static double memory_latency(sp_probe *p)
{
    chain c = {.p = p};
    int64_t lines = write_chain(p, p->words / 2);
    double start;

    p->sink +=
        p->lanes->sum(p->region + p->words / 2, p->words / 2 / 1024 * 1024);
    c.loads = lines / 4 < 4 * CHASE ? lines / 4 : 4 * CHASE;
    start = sp_seconds();
    chase(&c);
    start = sp_seconds() - start;
    p->sink += (double)c.at; /* or nobody would need the chain */
    return start / (double)c.loads;
}

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
        seconds = sp_fastest(gather, g, LEVEL_BUDGET) / GATHERS;
    }
    sp_free(g);
    return seconds;
}

void sp_probe_latency(sp_probe *p)
{
    for (int level = 0; level < SPRY_CACHES; level++)
        p->m->latency[level] = level_latency(p, level);
    p->m->latency[SPRY_CACHES] = memory_latency(p);
    p->m->gather = gather_cost(p);
}
