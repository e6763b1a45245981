/* compare.c - never slower: a tuned network against its untuned self.
 *
 * Stages that tuning left alone run by the same plan in both: the others have
 * a second one, and a run exchanges them first if it has to. */
#include <math.h>
#include <string.h>

#include "graph/tuning.h"
#include "measure/measure.h"

/* Of the time that tuning took, as long is compared; and at least so many
 * pairs, which is what an interval needs. */
static const double SHARE = 0.1;
enum { PAIRS = 6, MOST_PAIRS = 21 };

double sp_tuning_compare_seconds(const sp_tuning *t)
{
    return 2 * (PAIRS + 1) * t->once;
}

typedef struct {
    sp_tuning *t;
    char (*text)[SPRY_SCHEDULE_TEXT]; /* [tasks] untuned */
    sp_spare *spare;                  /* [stages] */
    int count;
    int untuned; /* it runs so now */
} comparison;

typedef struct {
    comparison *c;
    int untuned;
} contestant;

static void exchange(comparison *c, int untuned)
{
    for (int i = 0; c->untuned != untuned && i < c->count; i++)
        sp_spare_exchange(c->t->e, &c->spare[i]);
    c->untuned = untuned;
}

static void run_once(void *arg)
{
    const contestant *x = arg;
    const sp_tuning *t = x->c->t;

    exchange(x->c, x->untuned);
    (void)spry_executor_run(t->e, (const void *const *)t->in, t->out);
}

/* ---- as the model has it ---- */

/* Second plans for a task that runs by another text. */
static spry_status make_spares(comparison *c, int task, const char *text)
{
    spry_executor *e = c->t->e;
    int other = strcmp(text, e->task[task].text) != 0;
    spry_status s = SPRY_OK;

    snprintf(c->text[task], sizeof c->text[task], "%s", text);
    for (int i = 0; other && s == SPRY_OK && i < e->p->stages; i++)
        if (e->stage[i].task == task)
            s = sp_spare_make(&c->spare[c->count++], e, i, text);
    return s;
}

/* A task that began with what the store has, by the model alone, if that is
 * right: nobody looked yet. */
static spry_status make_guessed(comparison *c, int task, const char *text)
{
    int first = c->count;
    spry_status s = make_spares(c, task, text);

    if (s == SPRY_OK && c->count > first)
        s = sp_plan_glance(c->spare[first].plan, 1);
    if (s != SPRY_WRONG)
        return s;
    while (c->count > first)
        sp_spare_free(&c->spare[--c->count]);
    return make_spares(c, task, c->t->task[task].usual);
}

static spry_status open_task(comparison *c, int task)
{
    const sp_graph_task *x = &c->t->e->task[task];
    int stored = *x->mark || x->stale;
    spry_candidate guess;

    if (stored && sp_executor_guesses(&guess, 1, c->t->e, task))
        return make_guessed(c, task, guess.schedule);
    return make_spares(c, task, c->t->task[task].usual);
}

static spry_status open_comparison(comparison *c, sp_tuning *t)
{
    spry_executor *e = t->e;
    spry_status s = SPRY_OK;

    *c = (comparison){.t = t,
                      .text = sp_alloc(e->tasks + 1, sizeof *c->text),
                      .spare = sp_alloc(e->p->stages + 1, sizeof *c->spare)};
    if (!c->text || !c->spare)
        return sp_fail_memory((size_t)e->p->stages * sizeof *c->spare);
    for (int i = 0; s == SPRY_OK && i < e->tasks; i++)
        s = open_task(c, i);
    return s;
}

static void close_comparison(comparison *c)
{
    for (int i = 0; i < c->count; i++)
        sp_spare_free(&c->spare[i]);
    sp_free(c->spare);
    sp_free(c->text);
}

/* ---- the race ---- */

static spry_executor_gain no_gain(double seconds, int pairs)
{
    return (spry_executor_gain){.untuned = seconds,
                                .tuned = seconds,
                                .speedup = 1,
                                .low = 1,
                                .high = 1,
                                .pairs = pairs};
}

/* What the stages of a task took before it was tuned. */
static void restore_times(sp_tuning *t, int task)
{
    sp_task_state *x = &t->task[task];

    for (int i = 0; x->now > 0 && i < t->e->p->stages; i++)
        if (t->e->stage[i].task == task)
            t->e->stage[i].seconds *= x->before / x->now;
    x->now = x->before;
}

/* It stays as the model has it. Answers that other networks gave are covered
 * up only if they surely are slower. */
static void go_back(comparison *c, int surely)
{
    sp_tuning *t = c->t;
    spry_executor *e = t->e;

    exchange(c, 1);
    for (int i = 0; i < e->tasks; i++) {
        sp_task_state *x = &t->task[i];

        if (strcmp(c->text[i], e->task[i].text) == 0)
            continue;
        snprintf(e->task[i].text, sizeof e->task[i].text, "%s", c->text[i]);
        snprintf(x->usual, sizeof x->usual, "%s", c->text[i]);
        restore_times(t, i);
        x->known &= !surely;
    }
}

static spry_status race(comparison *c)
{
    sp_tuning *t = c->t;
    sp_race_options o = SP_RACE_DEFAULTS;
    contestant who[2] = {{c, 1}, {c, 0}};
    sp_contestant go[2] = {{run_once, &who[0]}, {run_once, &who[1]}};
    double now = sp_seconds();
    sp_racer racer[2];
    spry_status s;

    o.seconds = fmin(t->begun + t->budget - now, SHARE * (now - t->begun));
    o.pairs = MOST_PAIRS;
    o.least = PAIRS;
    s = sp_race(racer, go, 2, &o);
    exchange(c, 0);
    if (s != SPRY_OK)
        return s;
    t->e->gain = (spry_executor_gain){.untuned = racer[0].seconds,
                                      .tuned = racer[1].seconds,
                                      .speedup = racer[1].speedup,
                                      .low = racer[1].low,
                                      .high = racer[1].high,
                                      .pairs = racer[1].compared};
    if (racer[1].speedup >= 1)
        return SPRY_OK;
    t->e->gain = no_gain(racer[0].seconds, racer[1].compared);
    go_back(c, racer[1].high < 1);
    return SPRY_OK;
}

spry_status sp_tuning_compare(sp_tuning *t)
{
    comparison c;
    spry_status s = open_comparison(&c, t);

    if (s == SPRY_OK && c.count > 0)
        s = race(&c);
    else if (s == SPRY_OK)
        t->e->gain = no_gain(t->once, 0);
    close_comparison(&c);
    return s;
}
