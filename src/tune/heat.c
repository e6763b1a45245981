/* heat.c - candidates are packed, verified and raced in a child process.
 *
 * A heat is the plain ways and a few candidates, interleaved. Only so many are
 * packed at once that memory stays small. Whatever a candidate does - crash,
 * hang, compute nonsense - becomes its verdict, and the next child goes on
 * behind it. The very first heat is between the plain ways themselves. */
#include "tune/heat.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Of large problems fewer: all plans of a heat, in units of what is given. */
static const double MOST_BYTES = 2.5, LARGE = 64e6;

/* Shorter runs are never `slow`; to find that others are takes so long, or so
 * many runs. */
static const double SHORT_RUN = 1e-3, SLOW_SECONDS = 0.1;
enum { SLOW_RUNS = 3 };

static sp_result *results(const sp_heats *h)
{
    return h->shared->data;
}

/* Either plain way would do, so the faster median decides, given a little
 * for the one that needs no threads. */
const sp_result *sp_heats_baseline(const sp_result *r, int baselines)
{
    const sp_result *base = r;

    for (int i = 1; i < baselines; i++)
        if (r[i].done && r[i].verdict == SPRY_VERDICT_OK &&
            r[i].racer.speedup > 1.05 &&
            r[i].racer.speedup > base->racer.speedup)
            base = &r[i];
    return base;
}

/* What links heats is the plain way, and its moods are its own: in one heat it
 * takes a third longer, and everybody there seems that much faster. A way's
 * best moment knows nothing of that, but of the machine's moods. So both
 * count, and either is wrong by half. */
double sp_result_pace(const sp_result *r)
{
    return r->fastest > 0 && r->racer.speedup > 0
               ? sqrt(r->fastest / r->racer.speedup)
               : HUGE_VAL;
}

/* ---- in the child ---- */

typedef struct {
    const sp_heats *h;
    int from, to; /* results to measure */
} work;

typedef struct {
    const sp_heats *h;
    const spry_plan *plan;
    sp_shared *shared;
    int64_t item;
} runner;

/* Every run says whose it is, so that whoever crashes or hangs is known. */
static void run_once(void *ctx)
{
    const runner *r = ctx;

    sp_child_beat(r->shared, r->item);
    r->h->family->run(r->h->oracle, r->plan);
}

static double left(const sp_heats *h)
{
    return h->deadline - sp_seconds();
}

static void finish(sp_result *r, spry_verdict verdict, const char *why)
{
    r->verdict = verdict;
    snprintf(r->why, sizeof r->why, "%s", why);
    r->done = 1;
}

/* So slow that it need not race: a few runs stand for the label, and the
 * fastest of them for its time, since a machine at work only slows down. */
static void finish_slow(sp_result *r, const double *seconds, int runs,
                        double plain)
{
    double ratio[SLOW_RUNS];
    sp_interval v;

    r->racer.seconds = seconds[0];
    for (int i = 0; i < runs; i++) {
        r->racer.samples[i] = seconds[i];
        r->racer.seconds = fmin(r->racer.seconds, seconds[i]);
        ratio[i] = log(plain / seconds[i]);
    }
    r->racer.pairs = runs;
    r->racer.repeat = r->racer.dropped = 1;
    v = sp_median_interval(ratio, runs);
    r->racer.speedup = plain / r->racer.seconds;
    r->racer.low = fmin(exp(v.low), r->racer.speedup);
    r->racer.high = fmax(exp(v.high), r->racer.speedup);
    finish(r, SPRY_VERDICT_SLOW, "");
}

static double (*clock_of(const sp_heats *h))(void)
{
    return h->o.clock ? h->o.clock : sp_seconds;
}

static double time_once(const sp_heats *h, const sp_result *r,
                        const spry_plan *plan)
{
    runner one = {h, plan, h->shared, 1 + (r - results(h))};
    double begun = clock_of(h)();

    run_once(&one);
    return (clock_of(h)() - begun) * h->whole;
}

/* Who was slow in the checked run has a few more: the first is cold, and
 * another process may have come between. A plain way that is yet to be measured
 * has nothing to be slower than. */
static void cut_short(const sp_heats *h, sp_result *r, const spry_plan *plan)
{
    const sp_result *base = sp_heats_baseline(results(h), h->baselines);
    double limit = fmax(h->cut * base->racer.seconds, SHORT_RUN);
    double seconds[SLOW_RUNS] = {r->once * h->whole}, spent = seconds[0];
    int runs = 1;

    if (!base->done || r == base || seconds[0] < limit)
        return;
    while (runs < SLOW_RUNS && spent < SLOW_SECONDS) {
        seconds[runs] = time_once(h, r, plan);
        if (seconds[runs] < limit)
            return;
        spent += seconds[runs++];
    }
    finish_slow(r, seconds, runs, base->racer.seconds);
}

/* The baseline of a heat was checked before, in its own. */
static spry_status check(const sp_heats *h, sp_result *r, const spry_plan *plan)
{
    spry_status s;

    int brief = (h->brief || r->done) && !h->family->checks_fast(h->p);

    r->once = 0;
    if (!brief && !(h->cut > 0))
        return h->family->check(h->oracle, plan);
    s = h->family->try_once(h->oracle, plan, clock_of(h), &r->once);
    if (s == SPRY_OK && h->cut > 0)
        cut_short(h, r, plan);
    return s;
}

/* The child's copy of a plan of its parent, or a new one. */
static spry_status make(spry_plan **out, const sp_heats *h, const sp_result *r)
{
    if (h->made && r == &results(h)[h->made_for]) {
        *out = h->made;
        return SPRY_OK;
    }
    return h->family->make(out, h->p, r->x.text, h->m, h->tools);
}

/* Pack and verify; NULL when that failed or sufficed and the verdict is in. */
static spry_plan *ready(const sp_heats *h, sp_result *r)
{
    spry_plan *plan;
    double begun;
    spry_status s = make(&plan, h, r);

    if (s != SPRY_OK) {
        finish(r, SPRY_VERDICT_INFEASIBLE, spry_message());
        return NULL;
    }
    r->pack_seconds = spry_plan_pack_seconds(plan);
    r->bytes = spry_plan_bytes(plan);
    r->builtin = spry_plan_builtin(plan);
    begun = sp_seconds();
    s = check(h, r, plan);
    r->check_seconds = sp_seconds() - begun;
    if (s == SPRY_OK && r->verdict != SPRY_VERDICT_SLOW)
        return plan;
    if (s != SPRY_OK)
        finish(r,
               s == SPRY_WRONG ? SPRY_VERDICT_WRONG : SPRY_VERDICT_INFEASIBLE,
               spry_message());
    spry_plan_free(plan);
    return NULL;
}

/* ---- races ---- */

/* Plans side by side, the plain ways first. */
enum { PLAIN_MOST = 2, LINED_UP = SP_HEAT_WIDEST + PLAIN_MOST };

typedef struct {
    spry_plan *plan[LINED_UP];
    sp_result *result[LINED_UP];
    int plain, count;
} lineup;

static void note_fastest(sp_result *r, const sp_racer *racer)
{
    for (int k = 0; k < racer->pairs; k++)
        if (racer->samples[k] > 0 &&
            (r->fastest == 0 || racer->samples[k] < r->fastest))
            r->fastest = racer->samples[k];
}

/* The largest speed-up of r that can be: more than the machine's bounds leave
 * room for above what a plain way took in its best moment, or twice what the
 * best moments of both say, is a baseline that was disturbed. */
static double largest_speedup(const sp_heats *h, const sp_result *r)
{
    static const double OFF = 1.5, TWICE = 2;
    double plain = HUGE_VAL, most = HUGE_VAL;

    for (int i = 0; i < h->baselines; i++)
        if (results(h)[i].fastest > 0)
            plain = fmin(plain, results(h)[i].fastest);
    if (h->least > 0)
        most = OFF * plain / h->least;
    if (r->fastest > 0)
        most = fmin(most, TWICE * plain / r->fastest);
    return fmax(most, TWICE);
}

/* The oracle's operands may be a part of what a run computes. */
static void make_whole(sp_racer *r, double whole)
{
    r->seconds *= whole;
    for (int k = 0; k < r->pairs; k++)
        r->samples[k] *= whole;
}

static int is_doubtful(const sp_heats *h, const sp_result *r,
                       const sp_racer *racer)
{
    return r - results(h) >= h->baselines &&
           racer->speedup > largest_speedup(h, r);
}

/* Race once; how many came out faster than can be. */
static int race_once(const sp_heats *h, const lineup *l, const sp_contestant *c,
                     sp_racer *out)
{
    sp_race_options o = h->o;
    double once[LINED_UP];
    int doubtful = 0;

    o.seconds = fmin(o.seconds, left(h));
    o.once = once;
    o.seed = h->seed;
    o.plain = l->plain;
    for (int i = 0; i < l->count; i++)
        once[i] = l->result[i]->once;
    (void)sp_race(out, c, l->count, &o);
    for (int i = 0; i < l->count; i++) {
        make_whole(&out[i], h->whole);
        note_fastest(l->result[i], &out[i]);
    }
    for (int i = l->plain; i < l->count; i++)
        doubtful += is_doubtful(h, l->result[i], &out[i]);
    return doubtful;
}

static void conclude(const sp_heats *h, const lineup *l, sp_result *r,
                     const sp_racer *racer)
{
    char why[80];

    r->racer = *racer;
    r->baseline = (int)(l->result[racer->baseline] - results(h));
    SP_ASSERT(r->baseline < h->baselines); /* ratios are to a plain way */
    if (!is_doubtful(h, r, racer)) {
        finish(r, SPRY_VERDICT_OK, "");
        return;
    }
    snprintf(why, sizeof why, "%.3g times as fast, where %.3g at most can be",
             racer->speedup, largest_speedup(h, r));
    finish(r, SPRY_VERDICT_DOUBTFUL, why);
}

/* Race all, and hand those their results who have none yet. */
static void race(const sp_heats *h, const lineup *l)
{
    static sp_racer out[LINED_UP];
    runner r[LINED_UP];
    sp_contestant c[LINED_UP];

    for (int i = 0; i < l->count; i++) {
        r[i] =
            (runner){h, l->plan[i], h->shared, 1 + (l->result[i] - results(h))};
        c[i] = (sp_contestant){run_once, &r[i]};
    }
    if (race_once(h, l, c, out) > 0)
        (void)race_once(h, l, c, out);
    for (int i = 0; i < l->count; i++)
        if (!l->result[i]->done) /* plain ways are known from their own heat */
            conclude(h, l, l->result[i], &out[i]);
}

static void free_plans(lineup *l, int keep)
{
    while (l->count > keep)
        spry_plan_free(l->plan[--l->count]);
}

/* Would one more be too many in memory? */
static int is_full(const sp_heats *h, const lineup *l)
{
    double given = h->p->kind->given_bytes(h->p), bytes = 0;

    for (int i = 0; i < l->count; i++)
        bytes += spry_plan_bytes(l->plan[i]);
    return l->count - l->plain >= h->wide ||
           (bytes > LARGE && bytes > MOST_BYTES * given);
}

/* Make r ready and add it to the plans side by side; 0: it is not. */
static int seat(const sp_heats *h, lineup *l, sp_result *r)
{
    SP_ASSERT(l->count < LINED_UP);
    l->result[l->count] = r;
    l->plan[l->count] = ready(h, r);
    return l->plan[l->count] && ++l->count;
}

/* Candidates are made ready in turn; a full heat is raced. However late it
 * is, plain ways and the first one have their turn. */
static void run_heats(const sp_heats *h, int from, int to, lineup *l)
{
    for (int i = from; i < to; i++) {
        sp_result *r = &results(h)[i];
        int late = i > from && i >= h->baselines && left(h) <= 0;
        int last = i + 1 == to || late;

        sp_child_beat(h->shared, 1 + i);
        if (!late && !r->done && r != l->result[0])
            (void)seat(h, l, r);
        if (!is_full(h, l) && !last)
            continue;
        if (l->count > l->plain || !l->result[0]->done)
            race(h, l);
        free_plans(l, l->plain);
        if (last || sp_heats_decided(h, i + 1, to))
            return;
    }
}

/* Is plain way i worth a place beside `base`, which has another number of
 * threads? Not when it takes many times as long, unless that is strange: on
 * more threads it should not. Long runs are not crippled by a thread that waits
 * for its core now and then, and cost the others their rounds. */
static int is_rival(const sp_heats *h, const sp_result *base, int i)
{
    static const double FAR = 4, FAR_IF_LONG = 1.5, LONG_RUN = 0.05;
    const sp_result *r = &results(h)[i];
    double far = base->fastest > LONG_RUN ? FAR_IF_LONG : FAR;

    return r->done && r->verdict == SPRY_VERDICT_OK &&
           r->x.threads != base->x.threads &&
           (r->fastest < far * base->fastest ||
            (h->crowned && r->x.threads > base->x.threads));
}

/* The plain way that was fastest, and the fastest rival; both are verified
 * like everybody else. 0: the first is not to be had. */
static int seat_plain(const sp_heats *h, lineup *l)
{
    const sp_result *base = sp_heats_baseline(results(h), h->baselines);
    int rival = -1;

    l->count = l->plain = 0;
    if (!seat(h, l, &results(h)[base - results(h)]))
        return 0;
    for (int i = 0; i < h->baselines; i++)
        if (is_rival(h, base, i) &&
            (rival < 0 || results(h)[i].fastest < results(h)[rival].fastest))
            rival = i;
    if (rival >= 0)
        (void)seat(h, l, &results(h)[rival]);
    l->plain = l->count;
    return 1;
}

static void measure(sp_shared *shared, void *arg)
{
    const work *w = arg;
    const sp_heats *h = w->h;
    int first = w->from > h->baselines ? w->from : h->baselines;
    lineup l;

    sp_child_beat(shared, 1 + w->from);
    if (!seat_plain(h, &l))
        return;
    if (!l.result[0]->done) { /* nothing is known of the plain ways yet */
        run_heats(h, h->baselines > 1, h->baselines, &l);
        free_plans(&l, 0);
        if (!seat_plain(h, &l))
            return;
    }
    run_heats(h, first, w->to, &l);
    free_plans(&l, 0);
}

/* ---- in the parent ---- */

/* The trial that was under way when the child ended is to blame, unless we
 * ended it ourselves; those that shared its heat are tried again. 0: nobody
 * to blame. */
static int blame(const sp_heats *h, const sp_child_verdict *v, int to)
{
    int64_t item = v->item - 1;
    char why[80];

    if (v->end == SP_CHILD_OK || v->end == SP_CHILD_STOPPED || item < 0 ||
        item >= to || results(h)[item].done)
        return 0;
    snprintf(why, sizeof why, "%s (%d)", sp_child_end_name(v->end), v->code);
    finish(&results(h)[item],
           v->end == SP_CHILD_TIMEOUT ? SPRY_VERDICT_TIMEOUT
                                      : SPRY_VERDICT_CRASH,
           why);
    return 1;
}

static int first_open(const sp_heats *h, int from, int to)
{
    while (from < to && results(h)[from].done)
        from++;
    return from;
}

spry_status sp_heats_run(const sp_heats *h, int from, int to)
{
    work w = {h, from, to};
    sp_child_job job = {.work = measure,
                        .arg = &w,
                        .seconds = h->patience,
                        .cpu = h->cpu,
                        .stop = h->watch,
                        .stop_arg = h->arg};
    sp_child_verdict v;
    spry_status s = SPRY_OK;

    /* However late it is, something is known of the plain ways. */
    for (w.from = first_open(h, from, to);
         w.from < to && (left(h) > 0 || !results(h)[0].done);
         w.from = first_open(h, w.from, to)) {
        s = sp_child_run(&v, &job, h->shared);
        if (s != SPRY_OK || !blame(h, &v, to))
            break;
    }
    return s;
}
