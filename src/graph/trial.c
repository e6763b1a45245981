/* trial.c - another way to compute a task, tried in the network.
 *
 * Some of the task's stages run by the old and the new plan in turns, every
 * one behind the stage before it, so that caches are as in a run. Equal stages
 * take equal time: a few stand for all, the others are bound when it pays. */
#include <math.h>
#include <string.h>

#include "graph/tuning.h"

/* Old and new in turns, with so many runs each, in so many stages. */
enum { TURNS = 6, TURN_RUNS = 2, SAMPLE = 2 };

static const double FASTER = 0.98;

/* Who is as far behind after a turn each is not asked again. */
static const double BEHIND = 1.1;

spry_status sp_task_bind(spry_executor *e, int task, const char *text)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < e->p->stages; i++)
        if (e->stage[i].task == task &&
            (!e->stage[i].plan || strcmp(e->stage[i].plan->text, text) != 0))
            s = sp_executor_bind(e, i, text);
    return s == SPRY_OK ? sp_executor_room(e) : s;
}

double sp_task_time(const spry_executor *e, int task)
{
    double sum = 0;

    for (int i = 0; i < e->p->stages; i++)
        if (e->stage[i].task == task)
            sum += e->stage[i].seconds;
    return sum;
}

/* ---- two plans side by side ---- */

typedef struct {
    sp_spare spare[SAMPLE];
    double old, new; /* seconds of all of them */
    int count;
} side_by_side;

/* Every n-th stage of the task, from the first to about the last. */
static spry_status open_plans(side_by_side *d, spry_executor *e, int task,
                              const char *text)
{
    int every = (e->task[task].weight + SAMPLE - 1) / SAMPLE, seen = 0;
    spry_status s = SPRY_OK;

    memset(d, 0, sizeof *d);
    for (int i = 0; s == SPRY_OK && i < e->p->stages; i++)
        if (e->stage[i].task == task && seen++ % every == 0)
            s = sp_spare_make(&d->spare[d->count++], e, i, text);
    return s;
}

static void close_plans(side_by_side *d)
{
    for (int i = 0; i < d->count; i++)
        sp_spare_free(&d->spare[i]);
}

static spry_status time_both(side_by_side *d, sp_tuning *t)
{
    spry_executor *e = t->e;
    spry_status s = SPRY_OK;

    d->old = d->new = 0;
    for (int i = 0; i < d->count; i++) {
        double best[2] = {HUGE_VAL, HUGE_VAL};

        for (int turn = 0; s == SPRY_OK && turn < TURNS; turn++) {
            double took;

            if (turn == 2 && best[1] > BEHIND * best[0])
                break;
            s = sp_executor_time(&took, e, d->spare[i].stage,
                                 (const void *const *)t->in, t->out, TURN_RUNS);
            best[turn % 2] = fmin(best[turn % 2], took);
            sp_spare_exchange(e, &d->spare[i]);
        }
        d->old += best[0];
        d->new += best[1];
    }
    return s;
}

/* By more than noise. Of many that are tried, some seem so by chance: who does
 * has to be so again. */
static int is_faster(const side_by_side *d)
{
    return d->new < FASTER * d->old;
}

/* The task is computed by text from now on. */
static spry_status adopt(sp_tuning *t, int task, const char *text,
                         side_by_side *d)
{
    spry_executor *e = t->e;

    t->saved += (d->old - d->new) * e->task[task].weight / d->count;
    for (int i = 0; i < e->p->stages; i++)
        if (e->stage[i].task == task)
            e->stage[i].seconds *= d->new / d->old;
    for (int i = 0; i < d->count; i++)
        sp_spare_exchange(e, &d->spare[i]);
    snprintf(e->task[task].text, sizeof e->task[task].text, "%s", text);
    return sp_task_bind(e, task, text);
}

/* Is the text, which was found for another task, right for this one? */
static spry_status is_right(int *right, const side_by_side *d)
{
    spry_status s = sp_plan_glance(d->spare[0].plan, 1);

    *right = s == SPRY_OK;
    return s == SPRY_WRONG ? SPRY_OK : s;
}

static spry_status try_text(sp_tuning *t, int task, const char *text,
                            int checked)
{
    double begun = sp_seconds();
    side_by_side d;
    int good = 1;
    spry_status s;

    if (strcmp(text, t->e->task[task].text) == 0)
        return SPRY_OK;
    s = open_plans(&d, t->e, task, text);
    if (s == SPRY_OK && !checked)
        s = is_right(&good, &d);
    for (int i = 0; s == SPRY_OK && good && i < 2; i++) {
        s = time_both(&d, t);
        good = is_faster(&d);
    }
    if (s == SPRY_OK && good)
        s = adopt(t, task, text, &d);
    close_plans(&d);
    t->trial = fmax(t->trial, sp_seconds() - begun);
    return s;
}

spry_status sp_trial_text(sp_tuning *t, int task, const char *text)
{
    return try_text(t, task, text, 1);
}

spry_status sp_trial_checked(sp_tuning *t, int task, const char *text)
{
    return try_text(t, task, text, 0);
}
