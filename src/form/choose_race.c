/* choose_race.c - ways made, compared with the reference, and raced. */
#include <string.h>

#include "form/choose.h"
#include "measure/measure.h"

/* A form may differ from the reference by so many times what the plain loop
 * differs, and a little. */
static const double TIMES_PLAIN = 8, A_LITTLE = 1e-5;

/* ---- making ---- */

static void fail(spry_way_trial *t, spry_verdict verdict, const char *why)
{
    t->verdict = verdict;
    snprintf(t->why, sizeof t->why, "%s", why);
}

static void make_one(sp_chooser *c, int i)
{
    spry_way_trial *t = &c->out->trial[i];
    const spry_network *n = t->way.passes && c->smaller ? c->smaller : c->n;
    double begin = sp_seconds();

    if (sp_ready_of(&c->ready[i], n, &t->way) != SPRY_OK) {
        fail(t, SPRY_VERDICT_INFEASIBLE, spry_message());
        return;
    }
    t->make_seconds = sp_seconds() - begin;
    if (t->way.passes)
        t->make_seconds += c->compile_seconds;
    t->edges = spry_ready_edges(c->ready[i]);
}

/* ---- checking ---- */

/* The largest difference from the reference, over its largest number. */
static double deviation(const sp_chooser *c)
{
    int64_t count = c->checked * c->n->outputs;
    double worst = 0, size = 1e-30;

    for (int64_t i = 0; i < count; i++) {
        double d = fabs((double)c->y[i] - c->right[i]);

        if (!(d <= worst))
            worst = d; /* NaN stays */
        size = fmax(size, fabs(c->right[i]));
    }
    return worst / size;
}

static void check_one(sp_chooser *c, int i)
{
    spry_way_trial *t = &c->out->trial[i];
    double d;

    if (t->verdict != SPRY_VERDICT_OK)
        return;
    memset(c->y, -1, (size_t)(c->checked * c->n->outputs) * sizeof *c->y);
    if (spry_ready_run(c->ready[i], c->y, c->x, c->checked) != SPRY_OK) {
        fail(t, SPRY_VERDICT_INFEASIBLE, spry_message());
        return;
    }
    d = deviation(c);
    if (i == 0)
        c->deviation = d;
    if (!(d <= TIMES_PLAIN * c->deviation + A_LITTLE))
        fail(t, SPRY_VERDICT_WRONG, "differs from the reference");
}

/* ---- racing ---- */

typedef struct {
    const sp_chooser *c;
    const spry_ready *ready;
} contestant;

static void run_once(void *arg)
{
    const contestant *a = arg;

    (void)spry_ready_run(a->ready, a->c->y, a->c->x, a->c->out->raced);
}

static double time_once(sp_chooser *c, int i)
{
    contestant a = {c, c->ready[i]};
    double best = HUGE_VAL;

    for (int k = 0; k < 3; k++) {
        double begin = sp_seconds();

        run_once(&a);
        best = fmin(best, sp_seconds() - begin);
    }
    return best;
}

/* The faster plain way comes first: it is the one to beat. */
static void order_baselines(sp_chooser *c)
{
    spry_way_trial *t = c->out->trial, swap = t[0];
    spry_ready *ready = c->ready[0];

    if (t[1].verdict != SPRY_VERDICT_OK || time_once(c, 0) <= time_once(c, 1))
        return;
    t[0] = t[1];
    t[1] = swap;
    c->ready[0] = c->ready[1];
    c->ready[1] = ready;
}

static int between(void *arg)
{
    const sp_chooser *c = arg;
    const spry_choose_options *o = &c->o;

    return o->progress &&
           o->progress((int64_t)(1e3 * (sp_seconds() - c->begun)),
                       (int64_t)(1e3 * o->seconds), o->payload);
}

static void note_result(spry_way_trial *t, const sp_racer *r)
{
    t->seconds = r->seconds;
    t->speedup = r->speedup;
    t->low = r->low;
    t->high = r->high;
    t->pairs = r->pairs;
}

static spry_status race(sp_chooser *c)
{
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_racer *racer = sp_alloc(SPRY_WAYS_MOST, sizeof *racer);
    sp_contestant run[SPRY_WAYS_MOST];
    contestant arg[SPRY_WAYS_MOST];
    int of[SPRY_WAYS_MOST], n = 0;
    spry_status s;

    if (!racer)
        return sp_fail_memory(SPRY_WAYS_MOST * sizeof *racer);
    for (int i = 0; i < c->out->trials; i++)
        if (c->out->trial[i].verdict == SPRY_VERDICT_OK) {
            arg[n] = (contestant){c, c->ready[i]};
            run[n] = (sp_contestant){run_once, &arg[n]};
            of[n++] = i;
        }
    o.seconds = fmax(0.1, c->o.seconds - (sp_seconds() - c->begun));
    o.seed = c->o.seed;
    o.between = between;
    o.arg = c;
    s = sp_race(racer, run, n, &o);
    c->out->stopped = s == SPRY_STOPPED;
    for (int k = 0; k < n; k++)
        note_result(&c->out->trial[of[k]], &racer[k]);
    sp_free(racer);
    return s == SPRY_STOPPED ? SPRY_OK : s;
}

/* All trials made and checked; the first one must be right. */
static spry_status prepare(sp_chooser *c)
{
    spry_status s = spry_network_reference(c->right, c->n, c->x, c->checked);

    for (int i = 0; s == SPRY_OK && i < c->out->trials; i++) {
        make_one(c, i);
        check_one(c, i);
        if (i == 0 && c->out->trial[0].verdict != SPRY_VERDICT_OK)
            s = sp_fail(SPRY_SYSTEM, "what all are compared with fails: %s",
                        c->out->trial[0].why);
    }
    return s;
}

spry_status sp_choose_race(sp_chooser *c)
{
    spry_status s = prepare(c);

    if (s != SPRY_OK)
        return s;
    order_baselines(c);
    return race(c);
}

spry_status sp_choose_compare(sp_chooser *c)
{
    spry_status s = prepare(c);

    return s == SPRY_OK ? race(c) : s;
}
