/* tune.c - tuning a network: time goes where it pays.
 *
 * Every stage is timed as it runs now. The task that is tuned next is the one
 * that may save most for a second of tuning: how often it occurs, times what
 * lies between now and the least that it can take. What the tuner finds
 * replaces a plan only if the stage is faster with it. A task begins only if it
 * ends, tried in the network, before the budget does. */
#include <math.h>
#include <string.h>

#include "graph/executor.h"
#include "tune/budget.h"
#include "tune/heat.h"

#define BUDGET 60.0

/* Less than so many seconds for a task is no race. */
#define LEAST 1.0

/* Old and new in turns, with so many runs each. */
enum { TURNS = 6, TURN_RUNS = 2 };

/* Inputs and outputs to run with while tuning. */
typedef struct {
    void **in, **out;
    double begun, budget, saved;
    double trial; /* seconds that trying a text in the network takes */
} tuning;

static spry_status open_tuning(tuning *t, const spry_executor *e)
{
    const spry_graph *g = e->g;

    memset(t, 0, sizeof *t);
    t->begun = e->begun;
    t->budget = e->o.seconds > 0 ? e->o.seconds : BUDGET;
    t->in = sp_alloc(g->inputs + 1, sizeof *t->in);
    t->out = sp_alloc(g->outputs + 1, sizeof *t->out);
    if (!t->in || !t->out)
        return sp_fail_memory(64);
    for (int i = 0; i < g->inputs; i++)
        if (!(t->in[i] = sp_alloc(g->value[g->input[i]].count + 1, 8)))
            return sp_fail_memory(64);
    for (int i = 0; i < g->outputs; i++)
        if (!(t->out[i] = sp_alloc(g->value[g->output[i]].count + 1, 8)))
            return sp_fail_memory(64);
    return SPRY_OK;
}

static void close_tuning(tuning *t, const spry_executor *e)
{
    for (int i = 0; t->in && i < e->g->inputs; i++)
        sp_free(t->in[i]);
    for (int i = 0; t->out && i < e->g->outputs; i++)
        sp_free(t->out[i]);
    sp_free(t->in);
    sp_free(t->out);
}

static spry_status profile(spry_executor *e, const tuning *t, int runs)
{
    return spry_executor_profile(e, (const void *const *)t->in, t->out, runs);
}

/* Seconds of all stages of a task, by the last profile. */
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

static int next_task(const spry_executor *e)
{
    int best = -1;
    double most = 0;

    for (int i = 0; i < e->tasks; i++) {
        const spry_problem *p = e->stage[e->task[i].first].problem;
        double gain = task_seconds(e, i) - task_bound(e, i);

        if (e->task[i].tuned || !sp_family_of(p) || gain <= most)
            continue;
        best = i;
        most = gain;
    }
    return best;
}

static spry_status bind_task(spry_executor *e, int task, const char *text)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < e->p->stages; i++)
        if (e->stage[i].task == task)
            s = sp_executor_bind(e, i, text);
    return s == SPRY_OK ? sp_executor_room(e) : s;
}

/* Is the network faster with the new text? Old and new in turns. */
static spry_status try_text(spry_executor *e, tuning *t, int task,
                            const char *text)
{
    char old[SPRY_SCHEDULE_TEXT];
    double best[2] = {HUGE_VAL, HUGE_VAL}, begun = sp_seconds();
    spry_status s = SPRY_OK;

    snprintf(old, sizeof old, "%s", e->task[task].text);
    for (int turn = 0; s == SPRY_OK && turn < TURNS; turn++) {
        s = bind_task(e, task, turn % 2 ? text : old);
        if (s == SPRY_OK)
            s = profile(e, t, TURN_RUNS);
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

static spry_status tune_task(spry_executor *e, tuning *t, int task,
                             double seconds)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    const sp_ready_stage *x = &e->stage[e->task[task].first];
    spry_plan *plan = NULL;
    char text[SPRY_SCHEDULE_TEXT];
    spry_status s;

    o.effort = e->o.effort;
    o.seconds = seconds;
    o.threads = e->threads;
    o.store = e->o.store;
    o.machine = e->o.machine;
    s = spry_tune(&plan, x->problem, &o);
    if (s == SPRY_USAGE || s == SPRY_BUDGET)
        return SPRY_OK; /* so little time is not taken: it stays as it was */
    if (s != SPRY_OK)
        return s;
    snprintf(text, sizeof text, "%s", plan->text);
    spry_plan_free(plan);
    if (strcmp(text, e->task[task].text) == 0)
        return SPRY_OK;
    return try_text(e, t, task, text);
}

/* Seconds that the next task may take. */
static double left(const tuning *t)
{
    return t->begun + t->budget - sp_seconds() - t->trial;
}

static int told_to_stop(const spry_executor *e, const tuning *t, int done)
{
    return left(t) < LEAST ||
           (e->o.progress &&
            e->o.progress(sp_seconds() - t->begun, t->budget, done, e->tasks,
                          t->saved, e->o.payload));
}

/* The network as it is, timed; from that, what trying a text takes. */
static spry_status look(spry_executor *e, tuning *t)
{
    enum { RUNS = 3 };
    double begun = sp_seconds(), need;
    spry_status s = profile(e, t, RUNS);

    t->trial = (sp_seconds() - begun) * TURNS * TURN_RUNS / RUNS;
    need = sp_seconds() - t->begun + t->trial + LEAST;
    if (s == SPRY_OK && e->o.seconds > 0 &&
        need > t->budget + sp_budget_more(t->budget))
        s = sp_fail(SPRY_BUDGET,
                    "making the network ready, tuning one operator and trying "
                    "it takes %.2g s at least; the budget is %.2g s",
                    need, t->budget);
    return s;
}

static spry_status tune_all(spry_executor *e, tuning *t)
{
    double whole = 0;
    int task, done = 0;
    spry_status s = look(e, t);

    for (int i = 0; i < e->tasks; i++)
        whole += fmax(task_seconds(e, i) - task_bound(e, i), 0);
    while (s == SPRY_OK && !told_to_stop(e, t, done) &&
           (task = next_task(e)) >= 0) {
        double gain = task_seconds(e, task) - task_bound(e, task);
        double share = 0.8 * t->budget * gain / whole;

        e->task[task].tuned = 1;
        s = tune_task(e, t, task, fmin(fmax(share, LEAST), left(t)));
        done++;
    }
    return s;
}

spry_status sp_executor_tune(spry_executor *e)
{
    tuning t;
    spry_status s = open_tuning(&t, e);

    if (s == SPRY_OK)
        s = tune_all(e, &t);
    close_tuning(&t, e);
    return s;
}
