/* race.c - functions side by side -> which is faster, and how surely.
 *
 * Every round samples each contestant once, in random order. A contestant's
 * sample is compared with the baseline's of the same round, so what slows
 * the machine down for a while slows both. After 3, 11, 31 ... rounds those
 * who are clearly behind leave, and the time goes to the rest.
 *
 * Of several plain ways the fastest is the baseline. One that is far behind
 * sits out, and comes back when the others become slower than it was: a
 * machine at other work may cripple a parallel loop and leave a serial one
 * alone. */
#include "measure/measure.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "base/base.h"

static const double SAMPLE_SECONDS = 1e-3;
enum {
    TIMER_COSTS = 50,
    MOST_REPEATS = 1 << 24,
    EXACT_PAIRS = 6 /* from here on the interval assumes nothing */
};

typedef struct {
    const sp_contestant *c;
    sp_racer *out;
    int n;
    sp_race_options o;
    int baseline; /* the plain way that is fastest so far */
    double start, sample_seconds;
    char *evict;   /* [o.evict_bytes] */
    int *order;    /* [n] */
    double *pairs; /* [SP_RACE_PAIRS] log ratios being sorted */
    sp_rng rng;
} race;

/* ---- one sample ---- */

/* All threads walk through other memory: the caches of every core forget. */
static void forget(race *r)
{
    char *memory = r->evict;
    int64_t bytes = r->o.evict_bytes;

#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < bytes; i += 64)
        memory[i]++;
}

static double sample(race *r, int i)
{
    int repeat = r->out[i].repeat;
    double start;

    if (r->evict)
        forget(r);
    start = r->o.clock();
    for (int k = 0; k < repeat; k++)
        r->c[i].run(r->c[i].ctx);
    return (r->o.clock() - start) / repeat;
}

static int ended(const race *r)
{
    return r->o.between && r->o.between(r->o.arg);
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static sp_usage usage(void)
{
    struct rusage all;

    if (getrusage(RUSAGE_SELF, &all) != 0)
        return (sp_usage){0, 0};
    return (sp_usage){seconds_of(all.ru_utime) + seconds_of(all.ru_stime),
                      all.ru_nivcsw};
}

/* ---- before the first round ---- */

static double timer_cost(double (*clock)(void))
{
    double least = HUGE_VAL;

    for (int i = 0; i < 20; i++) {
        double start = clock(), cost = clock() - start;

        if (cost < least)
            least = cost;
    }
    return least;
}

/* More and more often until a sample is long enough for the clock. With cold
 * caches only a single run is cold. */
static void lengthen(race *r, int i)
{
    sp_racer *x = &r->out[i];
    double per_run;

    while (!r->evict &&
           (per_run = sample(r, i)) * x->repeat < r->sample_seconds &&
           x->repeat < MOST_REPEATS) {
        double need = per_run > 0 ? r->sample_seconds / per_run * 1.1 + 1 : 0;

        x->repeat = need > x->repeat && need < 10.0 * x->repeat
                        ? (int)need
                        : 10 * x->repeat;
    }
}

/* Run once to warm up, unless that run was a moment ago and took several
 * samples' time, though it was a cold one. */
static void calibrate(race *r, int i)
{
    static const double LONG = 2;

    r->out[i].repeat = 1;
    if (r->o.once && r->o.once[i] > LONG * r->sample_seconds)
        return;
    if (sample(r, i) < r->sample_seconds)
        lengthen(r, i);
}

/* ---- rounds ---- */

static void shuffle(race *r)
{
    for (int i = r->n - 1; i > 0; i--) {
        int k = (int)sp_rng_below(&r->rng, (uint64_t)i + 1), t = r->order[i];

        r->order[i] = r->order[k];
        r->order[k] = t;
    }
}

/* The run of a moment ago was disturbed, so nobody knew how short they are. */
static int is_too_short(const race *r, const sp_racer *x)
{
    return r->o.once && x->repeat == 1 && !r->evict &&
           x->samples[0] < r->sample_seconds;
}

static double resample(race *r, int i)
{
    lengthen(r, i);
    return sample(r, i);
}

/* One sample of everybody still in; 0 when the caller ended the race, and
 * then the round does not count. */
static int run_round(race *r, int round)
{
    shuffle(r);
    for (int k = 0; k < r->n; k++) {
        sp_racer *x = &r->out[r->order[k]];

        x->samples[round] = 0;
        if (x->dropped)
            continue;
        if (ended(r))
            return 0;
        x->samples[round] = sample(r, r->order[k]);
        if (round == 0 && is_too_short(r, x))
            x->samples[0] = resample(r, r->order[k]);
    }
    for (int i = 0; i < r->n; i++) {
        /* whoever was dropped keeps the rounds he had */
        SP_ASSERT(r->out[i].pairs <= round);
        if (!r->out[i].dropped || i < r->o.plain)
            r->out[i].pairs = round + 1;
    }
    return 1;
}

/* The middle of all samples; 0: there are none. */
static double middle(race *r, int i)
{
    const sp_racer *x = &r->out[i];
    int n = 0;

    for (int k = 0; k < x->pairs; k++)
        if (x->samples[k] > 0)
            r->pairs[n++] = x->samples[k];
    return n ? sp_median(r->pairs, n) : 0;
}

/* The plain way that is fastest; the first, unless another is so by more
 * than noise. */
static void find_baseline(race *r)
{
    static const double MORE = 1.05;

    r->baseline = 0;
    for (int i = 0; i < r->o.plain; i++) {
        double least = r->out[r->baseline].seconds;

        r->out[i].seconds = middle(r, i);
        if (i > 0 && r->out[i].seconds > 0 &&
            r->out[i].seconds * (r->baseline ? 1 : MORE) < least)
            r->baseline = i;
    }
}

/* From samples to seconds, speed-up and its interval. */
static void summarise(race *r, int i)
{
    sp_racer *x = &r->out[i];
    const double *base = r->out[r->baseline].samples;
    int n = 0, first = i == r->baseline;
    sp_interval v;

    if (x->pairs == 0)
        return;
    x->seconds = middle(r, i);
    for (int k = 0; k < x->pairs; k++)
        if (base[k] > 0 && x->samples[k] > 0)
            r->pairs[n++] = log(base[k] / x->samples[k]);
    x->baseline = r->baseline;
    x->compared = n;
    SP_ASSERT(n <= x->pairs && x->pairs <= r->o.pairs);
    v = n ? sp_median_interval(r->pairs, n)
          : (sp_interval){0, -HUGE_VAL, HUGE_VAL};
    SP_ASSERT(v.low <= v.mid && v.mid <= v.high);
    x->speedup = exp(v.mid);
    x->low = first ? 1 : exp(v.low);
    x->high = first ? 1 : exp(v.high);
}

static void summarise_all(race *r)
{
    find_baseline(r);
    for (int i = 0; i < r->n; i++)
        summarise(r, i);
}

static double fastest(const sp_racer *x)
{
    double least = HUGE_VAL;

    for (int k = 0; k < x->pairs; k++)
        if (x->samples[k] > 0)
            least = fmin(least, x->samples[k]);
    return least;
}

/* Plain ways far behind the baseline sit out, by their luckiest samples. */
static void rest_plain_ways(race *r)
{
    static const double FAR = 1.5;
    double least = fastest(&r->out[r->baseline]);

    for (int i = 0; i < r->o.plain; i++)
        r->out[i].dropped =
            i != r->baseline && fastest(&r->out[i]) > FAR * least;
}

/* Drop who is slower than the baseline or than the leader for certain.
 * Three pairs may send a loser home, but never crown a winner. Returns
 * nonzero when nothing more is to be learned. */
static int decide(race *r)
{
    double leader = 1;
    int open = 0;

    summarise_all(r);
    rest_plain_ways(r);
    for (int i = r->o.plain; i < r->n; i++)
        if (!r->out[i].dropped && r->out[i].low > leader)
            leader = r->out[i].low;
    for (int i = r->o.plain; i < r->n; i++) {
        sp_racer *x = &r->out[i];

        x->dropped |= x->high < leader;
        open += !x->dropped && (x->compared < EXACT_PAIRS ||
                                x->high > x->low * (1 + r->o.precision));
    }
    return open == 0;
}

/* Is everybody still in faster than the baseline, and not just so? */
static int is_clear(race *r)
{
    summarise_all(r);
    for (int i = r->o.plain; i < r->n; i++)
        if (!r->out[i].dropped && !(r->out[i].low > 1 + 2 * r->o.precision))
            return 0;
    return 1;
}

/* May the race end, when time is over? */
static int suffices(race *r, int rounds)
{
    return rounds >= r->o.least ||
           (r->o.clear && rounds >= r->o.clear && is_clear(r));
}

/* 3, 11, 31, 101: about half a decade apart. */
static int is_checkpoint(int rounds)
{
    return rounds == 3 || rounds == 11 || rounds == 31 || rounds == 101;
}

static spry_status run_rounds(race *r)
{
    double end = r->start + r->o.seconds;

    for (int i = 0; i < r->n; i++) {
        if (ended(r))
            return SPRY_STOPPED;
        calibrate(r, i);
    }
    for (int round = 0; round < r->o.pairs; round++) {
        if (!run_round(r, round))
            return SPRY_STOPPED;
        if (r->o.clock() >= end && suffices(r, round + 1))
            break;
        if (is_checkpoint(round + 1) && decide(r))
            break;
    }
    return SPRY_OK;
}

/* In a shorter time a single switch would seem to be many a second. */
static const double LEAST_COUNTED = 0.1;

/* The same, and how often others were given our cores meanwhile. */
static spry_status run_counted(race *r)
{
    sp_usage before = r->o.usage(), after;
    spry_status s = run_rounds(r);
    double often;

    after = r->o.usage();
    often = (double)(after.preempted - before.preempted) /
            fmax(after.seconds - before.seconds, LEAST_COUNTED);
    for (int i = 0; i < r->n; i++)
        r->out[i].preempted = often;
    return s;
}

spry_status sp_race(sp_racer *out, const sp_contestant *c, int n,
                    const sp_race_options *options)
{
    race r = {.c = c, .out = out, .n = n, .o = *options};
    spry_status s = SPRY_OK;

    r.o.plain = r.o.plain ? r.o.plain : 1;
    if (n < r.o.plain || r.o.pairs < 1 || r.o.pairs > SP_RACE_PAIRS)
        return sp_fail(SPRY_USAGE, "a race needs runners and 1 to %d rounds",
                       SP_RACE_PAIRS);
    memset(out, 0, (size_t)n * sizeof *out);
    r.o.clock = r.o.clock ? r.o.clock : sp_seconds;
    r.o.usage = r.o.usage ? r.o.usage : usage;
    r.rng = sp_rng_seed(r.o.seed);
    r.order = sp_alloc(n, sizeof *r.order);
    r.pairs = sp_alloc(SP_RACE_PAIRS, sizeof *r.pairs);
    r.evict = r.o.evict_bytes > 0 ? sp_alloc(r.o.evict_bytes, 1) : NULL;
    if (!r.order || !r.pairs || (r.o.evict_bytes > 0 && !r.evict))
        s = sp_fail_memory((size_t)r.o.evict_bytes + sizeof(race));
    if (s == SPRY_OK) {
        for (int i = 0; i < n; i++)
            r.order[i] = i;
        r.sample_seconds = TIMER_COSTS * timer_cost(r.o.clock);
        if (r.sample_seconds < SAMPLE_SECONDS)
            r.sample_seconds = SAMPLE_SECONDS;
        r.start = r.o.clock();
        s = run_counted(&r);
        summarise_all(&r);
    }
    sp_free(r.evict);
    sp_free(r.pairs);
    sp_free(r.order);
    return s == SPRY_STOPPED ? sp_fail(s, "the race was stopped") : s;
}
