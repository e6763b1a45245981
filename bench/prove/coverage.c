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

/* Is the true ratio inside, and does it look like a win where there is none? */
static int race(double ratio, uint64_t seed, int *false_win)
{
    int turns[2] = {TURNS, (int)(TURNS * ratio)};
    sp_contestant c[2] = {{spin, &turns[1]}, {spin, &turns[0]}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_racer r[2];

    o.seed = seed;
    o.seconds = 1;
    if (sp_race(r, c, 2, &o) != SPRY_OK)
        return 0;
    *false_win = ratio == 1 && r[1].low > 1.02;
    ratio = (double)turns[1] / turns[0];
    return r[1].low <= ratio * (1 + KNOWN) && ratio * (1 - KNOWN) <= r[1].high;
}

static void cover(const char *name, const char *wins_name, int each)
{
    int inside = 0, wins = 0, win;
    double share, error;

    for (int k = 0; k < RATIOS; k++) {
        int before = inside;

        for (int i = 0; i < each; i++) {
            inside += race(slower[k], (uint64_t)(k * each + i + 1), &win);
            wins += win;
        }
        printf("%s, ratio %.2f: %d of %d inside\n", name, slower[k],
               inside - before, each);
        fflush(stdout);
    }
    share = (double)inside / (RATIOS * each);
    error = 2 * sqrt(0.95 * 0.05 / (RATIOS * each));
    printf("%s: %.3f, chance alone moves it by %.3f\n", name, share, error);
    bench_aim(name, share, 0.95, share >= 0.93 && share <= 0.97);
    bench_aim_most(wins_name, (double)wins / each, 0.01);
}

void prove_coverage(const char *folder)
{
    int each = prove_count(40, 1000);

    (void)folder;
    cover("coverage_idle", "false_wins_idle", each);
    printf("under load a quarter of the races: %d for each ratio\n", each / 4);
    prove_load_begin();
    cover("coverage_under_load", "false_wins_under_load", each / 4);
    prove_load_end();
}
