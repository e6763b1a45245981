/* heat.c - candidates are packed, verified and raced in a child process.
 *
 * A heat is the baseline and a few candidates, interleaved. Only so many are
 * packed at once that memory stays small. Whatever a candidate does - crash,
 * hang, compute nonsense - becomes its verdict, and the next child goes on
 * behind it. The very first heat is between the plain ways themselves. */
#include <string.h>

#include "base/base.h"
#include "tune/internal.h"

enum { HEAT = 3 }; /* candidates side by side */

/* Of large matrices fewer: all plans of a heat, in units of the matrix. */
static const double MOST_BYTES = 2.5, LARGE = 64e6;

/* Without a sign of life for so long, a trial has failed. */
static const double PATIENCE = 20;

/* ---- in the child ---- */

typedef struct {
    sp_tuner *t;
    int from, to; /* results to measure */
    double heat_seconds;
    int least, pairs;
    double precision;
    int trusted; /* all of them passed the check before, in this tune */
} work;

typedef struct {
    const spry_plan *plan;
    const sp_oracle *o;
    sp_shared *shared;
    int64_t item;
} runner;

/* Every run says whose it is, so that whoever crashes or hangs is known. */
static void run_once(void *ctx)
{
    const runner *r = ctx;

    sp_child_beat(r->shared, r->item);
    (void)spry_run_scaled(r->plan, 1, sp_oracle_B(r->o), sp_oracle_D(r->o), 0,
                          sp_oracle_C(r->o));
}

static void finish(sp_result *r, spry_verdict verdict, const char *why)
{
    r->verdict = verdict;
    snprintf(r->why, sizeof r->why, "%s", why);
    r->done = 1;
}

/* Pack and verify; NULL when that failed and the verdict is in. What passed
 * before is asked again where that is cheap: a race of threads may show the
 * second time. */
static spry_plan *ready(const work *w, sp_result *r)
{
    sp_tuner *t = w->t;
    spry_plan *plan;
    spry_status s = t->family->make(&plan, t->p, &r->x, &t->m);

    if (s != SPRY_OK) {
        finish(r, SPRY_VERDICT_INFEASIBLE, spry_message());
        return NULL;
    }
    r->pack_seconds = spry_plan_pack_seconds(plan);
    r->bytes = spry_plan_bytes(plan);
    r->builtin = spry_plan_builtin(plan);
    s = w->trusted && !sp_check_is_short(t->p)
            ? SPRY_OK
            : sp_oracle_check(t->oracle, plan);
    if (s == SPRY_OK)
        return plan;
    finish(r, s == SPRY_WRONG ? SPRY_VERDICT_WRONG : SPRY_VERDICT_INFEASIBLE,
           spry_message());
    spry_plan_free(plan);
    return NULL;
}

/* Race plans, 0 the one to beat, and hand all but it their results. */
static void race(const work *w, sp_shared *shared, spry_plan *const *plan,
                 sp_result *const *result, int n)
{
    static sp_racer out[HEAT + 1];
    runner r[HEAT + 1];
    sp_contestant c[HEAT + 1];
    double left = sp_tuner_left(w->t);
    sp_race_options o = {.seconds =
                             w->heat_seconds < left ? w->heat_seconds : left,
                         .least = w->least,
                         .pairs = w->pairs,
                         .precision = w->precision,
                         .seed = w->t->opt.seed};

    for (int i = 0; i < n; i++) {
        r[i] = (runner){plan[i], w->t->oracle, shared,
                        1 + (result[i] - sp_results(w->t))};
        c[i] = (sp_contestant){run_once, &r[i]};
    }
    memset(out, 0, sizeof out);
    (void)sp_race(out, c, n, &o);
    for (int i = 0; i < n; i++) {
        if (result[i]->done)
            continue; /* the baseline, known from its own heat */
        result[i]->racer = out[i];
        finish(result[i], SPRY_VERDICT_OK, "");
    }
}

static void free_plans(spry_plan **plan, int *n, int keep)
{
    while (*n > keep)
        spry_plan_free(plan[--*n]);
}

/* Would one more be too many in memory? */
static int is_full(const sp_tuner *t, spry_plan *const *plan, int n)
{
    double matrix = (double)t->p->A->nnz * (4 + (double)t->p->type);
    double bytes = 0;

    for (int i = 0; i < n; i++)
        bytes += spry_plan_bytes(plan[i]);
    return n > HEAT || (bytes > LARGE && bytes > MOST_BYTES * matrix);
}

/* plan[1 ...] are made ready in turn; a full heat is raced against plan[0].
 * However late it is, the first one has its turn. */
static void run_heats(const work *w, sp_shared *shared, int from, int to,
                      spry_plan **plan, sp_result **result)
{
    int n = 1;

    for (int i = from; i < to; i++) {
        int late = i > from && sp_tuner_left(w->t) <= 0;
        int last = i + 1 == to || late;

        sp_child_beat(shared, 1 + i);
        result[n] = &sp_results(w->t)[i];
        if (!late && result[n] != result[0] && !result[n]->done &&
            (plan[n] = ready(w, result[n])))
            n++;
        if (!is_full(w->t, plan, n) && !last)
            continue;
        if (n > 1 || !result[0]->done)
            race(w, shared, plan, result, n);
        free_plans(plan, &n, 1);
        if (last)
            return;
    }
}

/* Make the baseline ready; it is verified like everybody else. */
static int seat_baseline(const work *w, spry_plan **plan, sp_result **result)
{
    result[0] = &sp_results(w->t)[sp_baseline(w->t) - sp_results(w->t)];
    plan[0] = ready(w, result[0]);
    return plan[0] != NULL;
}

static void measure(sp_shared *shared, void *arg)
{
    const work *w = arg;
    spry_plan *plan[HEAT + 1];
    sp_result *result[HEAT + 1];
    int first = w->from > w->t->baselines ? w->from : w->t->baselines;

    sp_child_beat(shared, 1 + w->from);
    if (!seat_baseline(w, plan, result))
        return;
    if (!result[0]->done) {
        run_heats(w, shared, w->t->baselines > 1, w->t->baselines, plan,
                  result);
        if (sp_baseline(w->t) != result[0]) {
            spry_plan_free(plan[0]);
            if (!seat_baseline(w, plan, result))
                return;
        }
    }
    run_heats(w, shared, first, w->to, plan, result);
    spry_plan_free(plan[0]);
}

/* ---- in the parent ---- */

/* Keep the store, the leader and the caller up to date. */
static int watch(void *arg)
{
    sp_tuner *t = arg;
    char text[SPRY_SCHEDULE_TEXT] = "";
    spry_progress now = {
        sp_seconds() - t->begun, t->deadline - t->begun, 0, t->count, 1, text};

    sp_tune_remember(t);
    for (int i = 0; i < t->count; i++)
        now.trials += sp_results(t)[i].done;
    if (t->best >= 0) {
        now.best_speedup = sp_results(t)[t->best].racer.speedup;
        spry_schedule_text(text, &sp_results(t)[t->best].x);
    }
    if (t->opt.progress && t->opt.progress(&now, t->opt.payload))
        t->stopped = 1;
    return t->stopped;
}

/* The trial that was under way when the child ended is to blame, unless we
 * ended it ourselves; those that shared its heat are tried again. 0: nobody
 * to blame. */
static int blame(sp_tuner *t, const sp_child_verdict *v)
{
    int64_t item = v->item - 1;
    sp_result *r;
    char why[80];

    if (v->end == SP_CHILD_OK || v->end == SP_CHILD_STOPPED || item < 0 ||
        item >= t->count || sp_results(t)[item].done)
        return 0;
    r = &sp_results(t)[item];
    snprintf(why, sizeof why, "%s (%d)", sp_child_end_name(v->end), v->code);
    finish(r,
           v->end == SP_CHILD_TIMEOUT ? SPRY_VERDICT_TIMEOUT
                                      : SPRY_VERDICT_CRASH,
           why);
    return 1;
}

static int first_open(const sp_tuner *t, int from)
{
    while (from < t->count && sp_results(t)[from].done)
        from++;
    return from;
}

static spry_status run_child(sp_tuner *t, work *w, sp_child_verdict *v)
{
    sp_child_job job = {.work = measure,
                        .arg = w,
                        .seconds = PATIENCE,
                        .stop = watch,
                        .stop_arg = t};

    return sp_child_run(v, &job, &t->shared);
}

spry_status sp_tune_heats(sp_tuner *t, int from)
{
    work w = {.t = t, .pairs = 9, .precision = 0.03};
    sp_child_verdict v;
    spry_status s = SPRY_OK;
    double share = t->opt.seconds / 12;

    w.heat_seconds = share > 2 ? 2 : share;
    for (w.from = first_open(t, from);
         w.from < t->count && !t->stopped && sp_tuner_left(t) > 0;
         w.from = first_open(t, w.from)) {
        w.to = t->count;
        s = run_child(t, &w, &v);
        if (s != SPRY_OK || !blame(t, &v))
            break;
    }
    watch(t);
    return s;
}

/* ---- the final ---- */

static int contains(const int *list, int n, int item)
{
    while (n > 0)
        if (list[--n] == item)
            return 1;
    return 0;
}

/* The fastest verified result that is neither a baseline nor `taken`. */
static int pick(const sp_tuner *t, const int *taken, int n)
{
    int best = -1;

    for (int i = t->baselines; i < t->count; i++) {
        const sp_result *r = &sp_results(t)[i];

        if (r->done && r->verdict == SPRY_VERDICT_OK &&
            !contains(taken, n, i) &&
            (best < 0 || r->racer.speedup > sp_results(t)[best].racer.speedup))
            best = i;
    }
    return best;
}

/* Enough for an interval, whatever the budget says. */
enum { ROUNDS = 9 };

/* So many rounds, of as many finalists as fit into what is left of the
 * budget; the first always runs. */
static double final_seconds(const sp_tuner *t, const int *finalist, int *n)
{
    double left = t->begun + t->opt.seconds - sp_seconds();
    double need = ROUNDS * sp_baseline(t)->racer.seconds;

    for (int i = 0; i < *n; i++) {
        double more = ROUNDS * sp_results(t)[finalist[i]].racer.seconds;

        if (i > 0 && need + more > left)
            *n = i;
        else
            need += more;
    }
    return need > left ? need : left;
}

/* The best few run again behind the others, in a child of their own, and
 * what comes out replaces what was measured in the heats. */
spry_status sp_tune_final(sp_tuner *t, int finalist[SP_FINALISTS], int *count)
{
    work w = {
        .t = t, .least = ROUNDS, .pairs = 31, .precision = 0.015, .trusted = 1};
    sp_child_verdict v;
    spry_status s;
    int n = 0, at = t->count;

    *count = 0;
    for (; n < SP_FINALISTS; n++) {
        finalist[n] = pick(t, finalist, n);
        if (finalist[n] < 0)
            break;
        sp_results(t)[at + n] = sp_results(t)[finalist[n]];
        sp_results(t)[at + n].done = 0;
    }
    if (n == 0)
        return SPRY_OK;
    w.heat_seconds = final_seconds(t, finalist, &n);
    w.from = at;
    w.to = at + n;
    t->deadline = sp_seconds() + w.heat_seconds + PATIENCE;
    s = run_child(t, &w, &v);
    for (int i = 0; s == SPRY_OK && i < n; i++) {
        const sp_result *r = &sp_results(t)[at + i];

        if (!r->done || r->verdict != SPRY_VERDICT_OK)
            continue;
        sp_results(t)[finalist[i]] = *r;
        finalist[(*count)++] = finalist[i];
        sp_tune_keep(t, r);
    }
    return s;
}
