/* tune.c - tuning a network: time goes where it pays.
 *
 * Every stage is timed as it runs now. Which task is tuned next, the order
 * says (tune_order.c). What the tuner finds, or what near tasks of the store
 * are computed by, replaces a plan only if the stages are faster with it
 * (trial.c). A task begins only if it ends, tried in the network, before the
 * budget does; and where the store says what tuning won others (transfer.c),
 * only while there is enough to be won. In the end the network is raced
 * against its untuned self, and becomes that again if it is slower
 * (compare.c). */
#include <math.h>
#include <string.h>

#include "graph/executor.h"
#include "graph/tuning.h"
#include "tune/budget.h"
#include "tune/heat.h"

#define BUDGET 60.0

/* Less than so many seconds for a task is no race. */
#define LEAST 1.0

/* Where others say what tuning wins, it ends when all that is left to be won
 * is a smaller part of the run than this: half of the percent that a network
 * may lose for being tuned in a quarter of the time. */
#define LITTLE 0.005

/* Texts that are tried in the network without a race; of those, of tasks that
 * are near. */
enum { TEXTS = 5, NEAR = 3 };

static spry_status open_tuning(sp_tuning *t, spry_executor *e)
{
    const spry_graph *g = e->g;
    spry_status s;

    memset(t, 0, sizeof *t);
    t->e = e;
    t->begun = e->begun;
    t->budget = e->o.seconds > 0 ? e->o.seconds : BUDGET;
    t->in = sp_alloc(g->inputs + 1, sizeof *t->in);
    t->out = sp_alloc(g->outputs + 1, sizeof *t->out);
    t->task = sp_alloc(e->tasks + 1, sizeof *t->task);
    s = sp_transfer_open(&t->known, e);
    if (s != SPRY_OK)
        return s;
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
    sp_transfer_close(t->known);
}

/* What all of the task's stages take at the very least. */
static double task_bound(const spry_executor *e, int task)
{
    const spry_problem *p = e->stage[e->task[task].first].problem;
    const sp_family *f = sp_family_of(p);

    return f && f->least ? e->task[task].weight * f->least(p, &e->m) : 0;
}

/* ---- one task ---- */

/* Add what the model likes best to a list of texts; how many there are. */
static int add_guesses(char (*text)[SPRY_SCHEDULE_TEXT], int count,
                       const spry_executor *e, int task)
{
    spry_candidate guess[TEXTS];
    int guesses = sp_executor_guesses(guess, TEXTS, e, task);

    for (int i = 0; i < guesses && count < TEXTS; i++) {
        int seen = 0;

        for (int k = 0; k < count; k++)
            seen |= strcmp(text[k], guess[i].schedule) == 0;
        if (!seen)
            memcpy(text[count++], guess[i].schedule, SPRY_SCHEDULE_TEXT);
    }
    return count;
}

/* Seconds that the next task may take. */
static double left(const sp_tuning *t)
{
    return t->begun + t->budget - sp_seconds() - t->trial - t->reserve;
}

/* By what near tasks are computed by, and, where others say what tuning wins,
 * by what the model likes best. */
static spry_status try_texts(sp_tuning *t, int task)
{
    const spry_executor *e = t->e;
    sp_task_state *x = &t->task[task];
    char text[TEXTS][SPRY_SCHEDULE_TEXT];
    int count = sp_transfer_near(text, NEAR, t->known,
                                 e->stage[e->task[task].first].problem);
    spry_status s = SPRY_OK;

    x->near = count > 0;
    if (t->taught)
        count = add_guesses(text, count, e, task);
    for (int i = 0; s == SPRY_OK && i < count && left(t) > 0; i++) {
        x->tried |= strcmp(text[i], e->task[task].text) != 0;
        s = sp_trial_checked(t, task, text[i]);
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
    t->task[task].tried = 1;
    snprintf(text, sizeof text, "%s", plan->text);
    spry_plan_free(plan);
    return sp_trial_text(t, task, text);
}

/* A race takes seconds, a trial in the network a few hundredths: who has near
 * tasks needs none, and where others say what tuning wins, only what alone is
 * worth the time. */
static int is_worth_a_race(const sp_tuning *t, const sp_task_state *x)
{
    return !x->near && (!t->taught || x->hoped >= LITTLE * t->whole);
}

static spry_status tune_task(sp_tuning *t, int task, double seconds)
{
    sp_task_state *x = &t->task[task];
    double begun = sp_seconds(), before = x->now;
    int tried_before = x->tried;
    spry_status s = SPRY_OK;

    x->tried = 0;
    if (t->e->o.transfer && x->rounds == 0)
        s = try_texts(t, task);
    seconds -= sp_seconds() - begun;
    if (s == SPRY_OK && seconds > 0 && is_worth_a_race(t, x))
        s = race_ways(t, task, seconds);
    x->now = sp_task_time(t->e, task);
    x->spent += sp_seconds() - begun;
    if (s == SPRY_OK && x->tried)
        s = sp_transfer_add(t->known, task, before, x->now);
    x->closed |= !x->tried; /* nor would be later */
    x->tried |= tried_before;
    return s;
}

/* ---- all of them ---- */

static int told_to_stop(sp_tuning *t)
{
    spry_executor *e = t->e;

    t->stopped = e->o.progress &&
                 e->o.progress(sp_seconds() - t->begun, t->budget, t->done,
                               e->tasks, t->saved, e->o.payload);
    return t->stopped || left(t) < LEAST;
}

/* What tuning should win every task that is left: what it won others, else all
 * above the least that it can take. */
static void hope(sp_tuning *t)
{
    const spry_executor *e = t->e;

    for (int i = 0; i < e->tasks; i++) {
        sp_task_state *x = &t->task[i];
        double gain =
            sp_transfer_gain(t->known, e->stage[e->task[i].first].problem);

        x->hoped = fmax(0, x->now - x->bound);
        if (t->taught && gain >= 0)
            x->hoped = fmin(x->hoped, gain * x->now);
    }
}

/* Is there nothing left that is worth more time? */
static int is_little(const sp_tuning *t)
{
    double sum = 0;

    for (int i = 0; i < t->e->tasks; i++)
        if (!t->task[i].closed)
            sum += t->task[i].hoped;
    return t->taught && sum < LITTLE * t->whole;
}

/* The network as it is, timed; from that, what trying a text takes, and the
 * race in the end. */
static spry_status look(sp_tuning *t)
{
    enum { RUNS = 3 };
    spry_executor *e = t->e;
    double begun = sp_seconds(), need;
    spry_status s =
        spry_executor_profile(e, (const void *const *)t->in, t->out, RUNS);

    t->once = (sp_seconds() - begun) / RUNS;
    t->reserve = 1.2 * (begun - t->begun) + sp_tuning_compare_seconds(t);
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

        x->before = x->now = sp_task_time(e, i);
        x->bound = task_bound(e, i);
        x->weight = e->task[i].weight;
        x->flops = x->weight * spry_problem_flops(p);
        x->best[0] = x->now;
        /* An equal task of another network needs no time. */
        x->known = sp_family_of(p) && sp_transfer_known(t->known, p);
        x->closed = x->known || !sp_family_of(p);
        t->whole += x->now;
        t->taught |= sp_transfer_gain(t->known, p) >= 0;
    }
}

static spry_status tune_all(sp_tuning *t)
{
    spry_executor *e = t->e;
    spry_status s = look(t);
    int task;

    if (s == SPRY_OK) {
        look_around(t);
        hope(t);
    }
    while (s == SPRY_OK && !told_to_stop(t) && !is_little(t) &&
           (task = sp_task_next(t->task, e->tasks, e->o.order)) >= 0) {
        s = tune_task(
            t, task,
            fmin(left(t), sp_task_seconds(t->task, e->tasks, task, e->o.order,
                                          LEAST, 0.8 * t->budget)));
        sp_task_turn(&t->task[task], e->o.order);
        hope(t);
        t->done++;
    }
    return s;
}

/* What was found is of use though nobody may hear of it again. */
static void remember(const sp_tuning *t)
{
    spry_executor *e = t->e;
    size_t at = strlen(e->note);

    if (sp_transfer_remember(e, t->task) == SPRY_OK)
        return;
    snprintf(e->note + at, sizeof e->note - at,
             "%snothing is remembered: %.350s", at ? "; " : "", spry_message());
    sp_message_clear();
}

spry_status sp_executor_tune(spry_executor *e)
{
    sp_tuning t;
    spry_status s = open_tuning(&t, e);

    if (s == SPRY_OK)
        s = tune_all(&t);
    if (s == SPRY_OK && !t.stopped)
        s = sp_tuning_compare(&t);
    if (s == SPRY_OK)
        remember(&t);
    close_tuning(&t);
    return s;
}
