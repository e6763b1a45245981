/* coverage.c - intervals of races whose true ratio is known: the same loop,
 * so many times longer. */
#include <math.h>
#include <stdio.h>

#include "contest/figures.h"
#include "measure/measure.h"
#include "prove/prove.h"

static const double slower[] = {1, 1.02, 1.05, 1.1, 1.5};
enum { RATIOS = sizeof slower / sizeof slower[0], TURNS = 100000 };

/* The ratio is known so well: starting a loop takes time as well. */
static const double KNOWN = 1e-4;

/* A chain through one word of memory: nothing to overlap, nothing to leave
 * out. */
static void spin(void *turns)
{
    volatile unsigned x = 1;

    for (int i = *(const int *)turns; i > 0; i--)
        x = x * 3 + 1;
}

typedef struct {
    int inside, wins, failed;
} tally;

/* Is the true ratio inside, and does it look like a win where there is none?
 * A race that cannot be run has it outside. */
static void race(tally *t, double ratio, uint64_t seed)
{
    int turns[2] = {TURNS, (int)(TURNS * ratio)};
    sp_contestant c[2] = {{spin, &turns[1]}, {spin, &turns[0]}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_racer r[2];

    o.seed = seed;
    o.seconds = 1;
    if (sp_race(r, c, 2, &o) != SPRY_OK) {
        t->failed++;
        return;
    }
    t->wins += ratio == 1 && r[1].low > 1.02;
    ratio = (double)turns[1] / turns[0];
    t->inside +=
        r[1].low <= ratio * (1 + KNOWN) && ratio * (1 - KNOWN) <= r[1].high;
}

/* What chance moves the share of `races` by: two standard errors. */
static double chance(int races)
{
    return 2 * sqrt(0.95 * 0.05 / races);
}

static void aim_share(const char *name, double share, double by_chance)
{
    bench_aim(name, share, 0.95,
              share >= 0.93 - by_chance && share <= 0.97 + by_chance);
}

/* All ratios together, and the one that is worst: too wide an interval of one
 * would make up for too narrow a one of another. */
static void cover(const char *when, int each)
{
    double share, worst = 0.95;
    char name[64];
    tally all = {0};

    for (int k = 0; k < RATIOS; k++) {
        tally t = {0};

        for (int i = 0; i < each; i++)
            race(&t, slower[k], (uint64_t)k * (uint64_t)each + (uint64_t)i + 1);
        share = (double)t.inside / each;
        if (fabs(share - 0.95) > fabs(worst - 0.95))
            worst = share;
        all.inside += t.inside;
        all.wins += t.wins;
        all.failed += t.failed;
        printf("%s, ratio %.2f: %d of %d inside\n", when, slower[k], t.inside,
               each);
        fflush(stdout);
    }
    printf("%s: chance alone moves the share of all by %.3f, that of one ratio "
           "by %.3f, which the worst one is granted; %d races failed\n",
           when, chance(RATIOS * each), chance(each), all.failed);
    snprintf(name, sizeof name, "coverage_%s", when);
    aim_share(name, (double)all.inside / (RATIOS * each), 0);
    snprintf(name, sizeof name, "coverage_worst_%s", when);
    aim_share(name, worst, chance(each));
    snprintf(name, sizeof name, "false_wins_%s", when);
    bench_aim_most(name, (double)all.wins / each, 0.01);
}

void prove_coverage(const char *folder)
{
    int each = prove_count(40, 1000);

    (void)folder;
    cover("idle", each);
    printf("under load a quarter of the races: %d for each ratio\n", each / 4);
    prove_load_begin();
    cover("under_load", each / 4);
    prove_load_end();
}
