/* tune.c - tuning a network: time goes where it pays.
 *
 * Every stage is timed as it runs now. Which task is tuned next, the order
 * says (tune_order.c). What the tuner finds, or what near tasks of the store
 * are computed by, replaces a plan only if the stages are faster with it. A
 * task begins only if it ends, tried in the network, before the budget does.
 * In the end the network is raced against its untuned self, and becomes that
 * again if it is slower. */
#include <math.h>
#include <string.h>

#include "graph/executor.h"
#include "graph/tuning.h"
#include "measure/measure.h"
#include "tune/budget.h"
#include "tune/heat.h"

#define BUDGET 60.0

/* Less than so many seconds for a task is no race. */
#define LEAST 1.0

/* Where others taught most of it, what is a smaller part of the run than this
 * stays as it is expected to be fastest. */
#define SMALL 0.01

/* Old and new in turns, with so many runs each; untuned and tuned in at least
 * so many pairs, which is what an interval needs. */
enum { NEAR = 3, TURNS = 6, TURN_RUNS = 2, PAIRS = 6 };

static spry_status open_tuning(sp_tuning *t, spry_executor *e)
{
    const spry_graph *g = e->g;

    memset(t, 0, sizeof *t);
    t->e = e;
    t->begun = e->begun;
    t->budget = e->o.seconds > 0 ? e->o.seconds : BUDGET;
    t->in = sp_alloc(g->inputs + 1, sizeof *t->in);
    t->out = sp_alloc(g->outputs + 1, sizeof *t->out);
    t->task = sp_alloc(e->tasks + 1, sizeof *t->task);
    if (!t->in || !t->out || !t->task)
        return sp_fail_memory(64);
    for (int i = 0; i < g->inputs; i++)
        if (!(t->in[i] = sp_alloc(g->value[g->input[i]].count + 1, 8)))
            return sp_fail_memory(64);
    for (int i = 0; i < g->outputs; i++)
        if (!(t->out[i] = sp_alloc(g->value[g->output[i]].count + 1, 8)))
            return sp_fail_memory(64);
    for (int i = 0; i < e->tasks; i++)
        snprintf(t->task[i].usual, sizeof t->task[i].usual, "%s",
                 e->task[i].text);
    return SPRY_OK;
}

static void close_tuning(sp_tuning *t)
{
    const spry_graph *g = t->e->g;

    for (int i = 0; t->in && i < g->inputs; i++)
        sp_free(t->in[i]);
    for (int i = 0; t->out && i < g->outputs; i++)
        sp_free(t->out[i]);
    sp_free(t->in);
    sp_free(t->out);
    sp_free(t->task);
}

/* Seconds of all stages of a task, by what they took last. */
static double task_seconds(const spry_executor *e, int task)
{
    double sum = 0;

    for (int i = 0; i < e->p->stages; i++)
        if (e->stage[i].task == task)
            sum += e->stage[i].seconds;
    return sum;
}

/* What all of the task's stages take at the very least. */
static double task_bound(const spry_executor *e, int task)
{
    const spry_problem *p = e->stage[e->task[task].first].problem;
    const sp_family *f = sp_family_of(p);

    return f && f->least ? e->task[task].weight * f->least(p, &e->m) : 0;
}

static spry_status bind_task(spry_executor *e, int task, const char *text)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < e->p->stages; i++)
        if (e->stage[i].task == task)
            s = sp_executor_bind(e, i, text);
    return s == SPRY_OK ? sp_executor_room(e) : s;
}

/* Are the task's stages faster with the new text? Old and new in turns, every
 * stage behind the one before it, so that caches are as in a run. */
static spry_status try_text(sp_tuning *t, int task, const char *text)
{
    spry_executor *e = t->e;
    char old[SPRY_SCHEDULE_TEXT];
    double best[2] = {HUGE_VAL, HUGE_VAL}, begun = sp_seconds();
    spry_status s = SPRY_OK;

    snprintf(old, sizeof old, "%s", e->task[task].text);
    if (strcmp(text, old) == 0)
        return SPRY_OK;
    for (int turn = 0; s == SPRY_OK && turn < TURNS; turn++) {
        s = bind_task(e, task, turn % 2 ? text : old);
        if (s == SPRY_OK)
            s = sp_executor_time(e, task, (const void *const *)t->in, t->out,
                                 TURN_RUNS);
        if (s == SPRY_OK)
            best[turn % 2] = fmin(best[turn % 2], task_seconds(e, task));
    }
    t->trial = fmax(t->trial, sp_seconds() - begun);
    if (s != SPRY_OK)
        return s;
    if (best[1] < 0.98 * best[0]) {
        t->saved += best[0] - best[1];
        snprintf(e->task[task].text, sizeof e->task[task].text, "%s", text);
        return SPRY_OK; /* bound last */
    }
    return bind_task(e, task, old);
}

/* ---- one task ---- */

/* Is the text, which was found for another task, right for this one? */
static spry_status is_right(int *right, const spry_executor *e, int task,
                            const char *text)
{
    spry_plan *plan;
    spry_status s = spry_dense_plan(
        &plan, e->stage[e->task[task].first].problem, text, &e->m);

    if (s == SPRY_OK)
        s = sp_plan_glance(plan, 1);
    spry_plan_free(plan);
    *right = s == SPRY_OK;
    return s == SPRY_WRONG ? SPRY_OK : s;
}

/* By what near tasks are computed by; *found: there are some. */
static spry_status take_near(sp_tuning *t, int task, int *found)
{
    spry_executor *e = t->e;
    char text[NEAR][SPRY_SCHEDULE_TEXT];
    int count = 0;
    spry_status s = sp_transfer_near(text, &count, NEAR, e,
                                     e->stage[e->task[task].first].problem);

    *found = count > 0;
    for (int i = 0; s == SPRY_OK && i < count; i++) {
        int right = 1;

        if (strcmp(text[i], e->task[task].text) != 0)
            s = is_right(&right, e, task, text[i]);
        if (s == SPRY_OK && right)
            s = try_text(t, task, text[i]);
    }
    return s;
}

static spry_status race_ways(sp_tuning *t, int task, double seconds)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_executor *e = t->e;
    const sp_ready_stage *x = &e->stage[e->task[task].first];
    spry_plan *plan = NULL;
    char text[SPRY_SCHEDULE_TEXT];
    spry_status s;

    o.effort = e->o.effort;
    o.seconds = seconds;
    o.threads = e->threads;
    o.store = e->o.store;
    o.machine = e->o.machine;
    o.again = !e->o.transfer || t->task[task].rounds > 0;
    o.seed = 1 + (uint64_t)t->task[task].rounds;
    s = spry_tune(&plan, x->problem, &o);
    if (s == SPRY_USAGE || s == SPRY_BUDGET)
        return SPRY_OK; /* so little time is not taken: it stays as it was */
    if (s != SPRY_OK)
        return s;
    snprintf(text, sizeof text, "%s", plan->text);
    spry_plan_free(plan);
    return try_text(t, task, text);
}

static spry_status tune_task(sp_tuning *t, int task, double seconds)
{
    int found = 0;
    spry_status s = SPRY_OK;

    if (t->e->o.transfer && t->task[task].rounds == 0)
        s = take_near(t, task, &found);
    t->task[task].known = found;
    t->taught |= found;
    if (s == SPRY_OK && !found &&
        !(t->taught && t->task[task].now < SMALL * t->whole))
        s = race_ways(t, task, seconds);
    return s;
}

/* ---- all of them ---- */

/* Seconds that the next task may take. */
static double left(const sp_tuning *t)
{
    return t->begun + t->budget - sp_seconds() - t->trial - t->reserve;
}

static int told_to_stop(sp_tuning *t)
{
    spry_executor *e = t->e;

    t->stopped = e->o.progress &&
                 e->o.progress(sp_seconds() - t->begun, t->budget, t->done,
                               e->tasks, t->saved, e->o.payload);
    return t->stopped || left(t) < LEAST;
}

/* The network as it is, timed; from that, what trying a text takes, and the
 * race in the end. */
static spry_status look(sp_tuning *t)
{
    enum { RUNS = 3 };
    spry_executor *e = t->e;
    double begun = sp_seconds(), once, need;
    spry_status s =
        spry_executor_profile(e, (const void *const *)t->in, t->out, RUNS);

    once = (sp_seconds() - begun) / RUNS;
    t->reserve = 1.2 * (begun - t->begun) + (2 * PAIRS + 2) * once;
    need = sp_seconds() - t->begun + t->reserve + LEAST;
    if (s == SPRY_OK && e->o.seconds > 0 &&
        need > t->budget + sp_budget_more(t->budget))
        s = sp_fail(SPRY_BUDGET,
                    "making the network ready, tuning one operator and "
                    "comparing takes %.2g s at least; the budget is %.2g s",
                    need, t->budget);
    return s;
}

/* What is known of tasks before they are tuned. */
static void look_around(sp_tuning *t)
{
    spry_executor *e = t->e;

    for (int i = 0; i < e->tasks; i++) {
        const spry_problem *p = e->stage[e->task[i].first].problem;
        sp_task_state *x = &t->task[i];

        x->now = task_seconds(e, i);
        x->bound = task_bound(e, i);
        x->weight = e->task[i].weight;
        x->flops = x->weight * spry_problem_flops(p);
        x->best[0] = x->now;
        /* An equal task of another network needs no time, if that counts. */
        x->closed =
            !sp_family_of(p) || (e->o.transfer && sp_transfer_known(e, p));
        x->known = x->closed;
        t->whole += x->now;
        t->taught |= x->known && sp_family_of(p);
    }
}

static spry_status tune_all(sp_tuning *t)
{
    spry_executor *e = t->e;
    spry_status s = look(t);
    int task;

    if (s == SPRY_OK)
        look_around(t);
    while (s == SPRY_OK && !told_to_stop(t) &&
           (task = sp_task_next(t->task, e->tasks, e->o.order)) >= 0) {
        sp_task_state *x = &t->task[task];

        s = tune_task(
            t, task,
            fmin(left(t), sp_task_seconds(t->task, e->tasks, task, e->o.order,
                                          LEAST, 0.8 * t->budget)));
        x->now = task_seconds(e, task);
        sp_task_turn(x, e->o.order);
        t->done++;
    }
    return s;
}

/* ---- never slower ---- */

typedef struct {
    spry_executor *e;
    const sp_tuning *t;
} racing;

static void run_once(void *arg)
{
    racing *r = arg;

    (void)spry_executor_run(r->e, (const void *const *)r->t->in, r->t->out);
}

static spry_status bind_all(sp_tuning *t)
{
    spry_executor *e = t->e;
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < e->tasks; i++) {
        snprintf(e->task[i].text, sizeof e->task[i].text, "%s",
                 t->task[i].usual);
        s = bind_task(e, i, e->task[i].text);
    }
    return s;
}

/* The network against itself as nothing but the model has it. */
static spry_status compare(sp_tuning *t)
{
    spry_executor_options o = t->e->o;
    sp_race_options r = SP_RACE_DEFAULTS;
    racing who[2] = {{NULL, t}, {t->e, t}};
    sp_contestant go[2] = {{run_once, &who[0]}, {run_once, &who[1]}};
    sp_racer racer[2];
    spry_status s;

    o.effort = SPRY_PREDICT;
    o.store = ":memory:";
    s = spry_executor_make(&who[0].e, t->e->g, &o);
    r.seconds = t->begun + t->budget - sp_seconds();
    r.seconds = fmax(0.1, fmin(r.seconds, 0.1 * t->budget));
    r.pairs = 21;
    r.least = PAIRS;
    if (s == SPRY_OK)
        s = sp_race(racer, go, 2, &r);
    if (s == SPRY_OK) {
        t->e->gain = (spry_executor_gain){.untuned = racer[0].seconds,
                                          .tuned = racer[1].seconds,
                                          .speedup = racer[1].speedup,
                                          .low = racer[1].low,
                                          .high = racer[1].high,
                                          .pairs = racer[1].compared};
        if (racer[1].speedup < 1) { /* then as it was */
            for (int i = 0; i < t->e->tasks; i++)
                snprintf(t->task[i].usual, sizeof t->task[i].usual, "%s",
                         who[0].e->task[i].text);
            s = bind_all(t);
            t->e->gain = (spry_executor_gain){.untuned = racer[0].seconds,
                                              .tuned = racer[0].seconds,
                                              .speedup = 1,
                                              .low = 1,
                                              .high = 1,
                                              .pairs = racer[1].compared};
        }
    }
    spry_executor_free(who[0].e);
    return s;
}

spry_status sp_executor_tune(spry_executor *e)
{
    sp_tuning t;
    spry_status s = open_tuning(&t, e);

    if (s == SPRY_OK)
        s = tune_all(&t);
    if (s == SPRY_OK && !t.stopped)
        s = compare(&t);
    if (s == SPRY_OK)
        s = sp_transfer_remember(e);
    close_tuning(&t);
    return s;
}
