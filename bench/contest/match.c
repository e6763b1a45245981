/* match.c - a tuned plan, the plain loop and peers, on the same operands.
 *
 * All read and write the same dense arrays where they can; caches stay warm
 * for all. Who is slow is found out early and cheaply. */
#include "match.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "baseline.h"

enum { HEAT = 11, FINAL = 31, FEWEST = 3 }; /* rounds */
enum { LONG = 4 };                          /* times longer, if in doubt */
static const double SLOW = 4;               /* times the plain loop: no race */
static const double CLOSE = 1.1;            /* of the fastest: in the final */
static const double HEAVY = 0.5;            /* seconds a run: only the best */

/* Packing and checking cost so much per entry and per dense element; then
 * there are RUNS runs, at RATE operations per second. */
static const double LEAST = 0.8, PER_ENTRY = 4e-7, PER_DENSE = 6e-8;
static const double RUNS = 24, RATE = 4e9;

double bench_budget(const spry_matrix *A, const bench_case *c, double limit)
{
    double entries = (double)A->nnz, n = (double)c->n;
    double dense = (double)(A->rows + A->cols) * n;
    double seconds = LEAST + PER_ENTRY * entries + PER_DENSE * dense +
                     RUNS * 2 * entries * n / RATE;

    return fmin(seconds, limit);
}

/* ---- who takes part ---- */

static void run_plan(void *match)
{
    const bench_match *m = match;
    const bench_operands *o = &m->o;

    (void)spry_run_scaled(m->plan, 1, o->B, o->D, 0, o->C);
}

static void enter(bench_match *m, const char *name, bench_kind kind,
                  sp_contestant go, double once)
{
    if (m->count < BENCH_ENTRANTS)
        m->entrant[m->count++] = (bench_entrant){name, kind, go, .once = once};
}

/* The faster of two runs after a first one. */
static double time_once(sp_contestant go)
{
    double least = HUGE_VAL;

    go.run(go.ctx);
    for (int i = 0; i < 2; i++) {
        double start = sp_seconds();

        go.run(go.ctx);
        least = fmin(least, sp_seconds() - start);
    }
    return least;
}

static void enter_own(bench_match *m)
{
    sp_contestant plan = {run_plan, m};
    sp_contestant serial = {bench_serial, &m->o};
    sp_contestant parallel = {bench_parallel, &m->o};

    enter(m, "spry", BENCH_TUNED, plan, time_once(plan));
    enter(m, "plain", BENCH_PLAIN, serial, time_once(serial));
    if (m->o.c.threads > 1)
        enter(m, "plain parallel", BENCH_PLAIN, parallel, time_once(parallel));
}

void bench_match_add(bench_match *m, const char *name, sp_contestant go,
                     double once)
{
    enter(m, name, BENCH_PEER, go, once);
}

void bench_match_bound(bench_match *m, bench_bound *b)
{
    sp_contestant go = {bench_bound_run, b};

    m->bound = b;
    enter(m, "limit", BENCH_LIMIT, go, time_once(go));
}

double bench_match_limit(const bench_match *m)
{
    for (int i = 0; i < m->count; i++) {
        const bench_entrant *e = &m->entrant[i];

        if (e->kind == BENCH_LIMIT)
            return m->bound->work /
                   (m->entrant[BENCH_PLAN].seconds * e->ratio.mid);
    }
    return 0;
}

spry_status bench_match_open(bench_match *out, const spry_matrix *A,
                             const bench_case *c, const spry_machine *m,
                             double budget)
{
    spry_tune_options opt = SPRY_TUNE_DEFAULTS;
    spry_machine here = *m;
    spry_status s;

    *out = (bench_match){.base = -1, .peer = -1};
    opt.seconds = budget;
    opt.threads = c->threads;
    opt.store = ":memory:";
    opt.machine = &here;
    s = bench_problem(&out->p, A, c);
    if (s == SPRY_OK)
        s = spry_tune(&out->plan, out->p, &opt);
    if (s == SPRY_BUDGET) { /* too large for it: as long as it takes */
        opt.seconds = 0;
        s = spry_tune(&out->plan, out->p, &opt);
    }
    if (s == SPRY_OK)
        s = bench_operands_make(&out->o, out->p, c->threads);
    if (s != SPRY_OK) {
        bench_match_close(out);
        return s;
    }
    enter_own(out);
    return SPRY_OK;
}

void bench_match_close(bench_match *m)
{
    bench_operands_free(&m->o);
    spry_plan_free(m->plan);
    spry_problem_free(m->p);
    *m = (bench_match){0};
}

/* ---- races ---- */

/* Race entrants which[0..n), the first being the plan, and note the ratios. */
static spry_status race(bench_match *m, const int *which, int n, int rounds,
                        double seconds)
{
    static sp_racer racer[BENCH_ENTRANTS];
    sp_contestant c[BENCH_ENTRANTS] = {{0}};
    sp_race_options o = SP_RACE_DEFAULTS;
    double round = 0;
    spry_status s;

    for (int i = 0; i < n; i++) {
        c[i] = m->entrant[which[i]].go;
        round += m->entrant[which[i]].once;
    }
    o.pairs = rounds;
    o.seconds = fmax(seconds, FEWEST * round);
    o.precision = 0.01;
    o.clock = m->clock;
    o.between = m->between;
    s = sp_race(racer, c, n, &o);
    for (int i = 0; i < n && s == SPRY_OK; i++) {
        const sp_racer *r = &racer[i];

        m->entrant[which[i]].seconds = r->seconds;
        m->entrant[which[i]].ratio =
            (sp_interval){1 / r->speedup, 1 / r->high, 1 / r->low};
    }
    return s;
}

static int is_slow(const bench_match *m, int i)
{
    return m->entrant[i].kind == BENCH_PEER &&
           m->entrant[i].once > SLOW * m->entrant[1].once;
}

/* Compare the single runs. */
static void compare_once(bench_match *m)
{
    for (int i = 0; i < m->count; i++) {
        bench_entrant *e = &m->entrant[i];
        double ratio = e->once / m->entrant[BENCH_PLAN].once;

        e->seconds = e->once;
        e->ratio = (sp_interval){ratio, ratio, ratio};
    }
}

/* Everybody but the slow; nobody, if three rounds would take too long. */
static spry_status heat(bench_match *m, double seconds)
{
    int which[BENCH_ENTRANTS], n = 0;
    double round = 0;

    compare_once(m);
    for (int i = 0; i < m->count; i++)
        if (!is_slow(m, i)) {
            round += m->entrant[i].once;
            which[n++] = i;
        }
    return 3 * round < seconds ? race(m, which, n, HEAT, seconds) : SPRY_OK;
}

/* The fastest of a kind among which[0..n), or -1. */
static int fastest(const bench_match *m, const int *which, int n,
                   bench_kind kind)
{
    int best = -1;

    for (int i = 0; i < n; i++) {
        const bench_entrant *e = &m->entrant[which[i]];

        if (e->kind == kind &&
            (best < 0 || e->ratio.mid < m->entrant[best].ratio.mid))
            best = which[i];
    }
    return best;
}

static void choose(bench_match *m, const int *which, int n)
{
    m->base = fastest(m, which, n, BENCH_PLAIN);
    m->peer = fastest(m, which, n, BENCH_PEER);
}

/* The plan, the limit, and of plain loops and of peers the fastest and those
 * close. */
static int finalists(const bench_match *m, int which[BENCH_ENTRANTS])
{
    int n = 0, best[] = {BENCH_PLAN, m->base, m->peer};
    double close = m->entrant[m->base].once > HEAVY ? 1 : CLOSE;

    for (int i = 0; i < m->count; i++) {
        const bench_entrant *e = &m->entrant[i];

        if (e->kind == BENCH_LIMIT ||
            e->ratio.mid <= close * m->entrant[best[e->kind]].ratio.mid)
            which[n++] = i;
    }
    return n;
}

static int doubtful(const bench_match *m, double doubt)
{
    return m->entrant[m->base].ratio.mid < doubt ||
           (m->peer >= 0 && m->entrant[m->peer].ratio.mid < doubt);
}

spry_status bench_match_race(bench_match *m, double seconds, double doubt)
{
    int which[BENCH_ENTRANTS] = {0}, n;
    spry_status s = heat(m, seconds);

    if (s != SPRY_OK)
        return s;
    for (n = 0; n < m->count; n++)
        which[n] = n;
    choose(m, which, n);
    n = finalists(m, which);
    s = race(m, which, n, FINAL, seconds);
    choose(m, which, n);
    if (s == SPRY_OK && doubtful(m, doubt)) {
        s = race(m, which, n, FINAL, LONG * seconds);
        choose(m, which, n);
    }
    return s;
}
