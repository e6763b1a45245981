/* evolve.c - evolution strategies over the weights of a scorer.
 *
 * Each generation tries pairs of opposite steps of random direction on a few
 * tasks, ranks them, and moves the weights along the average of the
 * directions weighted by rank (Salimans et al., 2017), through Adam. What
 * counts is the I/O of whole orders: no slope of anything is needed. */
#include "eon/evolve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 12, TASKS_AT_ONCE = 10, LOOK_EVERY = 5 };
static const double STEP = 0.15, RATE = 0.06, COOLEST = 0.2;

spry_status sp_eon_task_open(sp_eon_task *t, const spry_network *n,
                             int64_t memory)
{
    spry_status s;

    *t = (sp_eon_task){.edge = sp_alloc_raw(n->edges, sizeof *t->edge)};
    s = t->edge ? sp_moves_open(&t->moves, n, memory)
                : sp_fail_memory((size_t)n->edges * sizeof *t->edge);
    if (s == SPRY_OK)
        s = sp_order_io(&t->plain, n, NULL, memory);
    if (s != SPRY_OK)
        sp_eon_task_close(t);
    return s;
}

void sp_eon_task_close(sp_eon_task *t)
{
    sp_moves_close(&t->moves);
    sp_free(t->edge);
    *t = (sp_eon_task){0};
}

int64_t sp_eon_task_order(sp_eon_task *t, const sp_scorer *c)
{
    sp_moves_begin(&t->moves, t->edge);
    while (!sp_moves_done(&t->moves))
        sp_scorer_move(c, &t->moves);
    return sp_moves_io(&t->moves);
}

/* ---- weights as one vector ---- */

typedef struct {
    const sp_evolution *e;
    sp_scorer *c;
    int64_t episodes;
    double begin, reward, best_share;
    sp_rng chance;
    int64_t n;
    float *at, *step, *slope, *mean, *square, *best; /* [n] */
    float *direction;                                /* [PAIRS][n] */
    double score[2 * PAIRS];
    int64_t chosen[TASKS_AT_ONCE], tries;
} evolution;

static void set_weights(const evolution *v, const float *from)
{
    const char *name;

    for (int i = 0; sp_nn_at(v->c->weights, i, &name); i++) {
        sp_tensor *t = sp_nn_at(v->c->weights, i, &name);

        memcpy(t->value, from, (size_t)t->size * sizeof(float));
        from += t->size;
    }
    sp_scorer_pack(v->c);
}

static void get_weights(const evolution *v, float *to)
{
    const char *name;

    for (int i = 0; sp_nn_at(v->c->weights, i, &name); i++) {
        sp_tensor *t = sp_nn_at(v->c->weights, i, &name);

        memcpy(to, t->value, (size_t)t->size * sizeof(float));
        to += t->size;
    }
}

/* ---- how good ---- */

/* What the learned order moves by what the best plain one does. */
static double log_share(sp_eon_task *t, const sp_scorer *c)
{
    return log((double)sp_eon_task_order(t, c) / (double)t->plain);
}

/* Where it moves more the plain order is taken instead, so that counts less;
 * but it counts, or nothing would show the way down to it. */
static double loss_of(double log_share)
{
    return log_share > 0 ? 0.25 * log_share : log_share;
}

static double score_chosen(evolution *v, double sign, const float *to)
{
    double sum = 0;

    for (int64_t i = 0; i < v->n; i++)
        v->step[i] = v->at[i] + (float)(sign * STEP) * to[i];
    set_weights(v, v->step);
    for (int64_t i = 0; i < v->tries; i++)
        sum += loss_of(log_share(&v->e->task[v->chosen[i]], v->c));
    v->episodes += v->tries;
    return sum;
}

/* Of the order that a user gets. */
static double share_of_all(evolution *v)
{
    double sum = 0, io = 0;

    set_weights(v, v->at);
    for (int64_t i = 0; i < v->e->tasks; i++) {
        sum += fmin(log_share(&v->e->task[i], v->c), 0);
        io += (double)sp_moves_io(&v->e->task[i].moves);
    }
    v->reward = -io / (double)v->e->tasks;
    return exp(sum / (double)v->e->tasks);
}

/* ---- a generation ---- */

static void choose_tasks(evolution *v)
{
    v->tries = v->e->tasks < TASKS_AT_ONCE ? v->e->tasks : TASKS_AT_ONCE;
    for (int64_t i = 0; i < v->tries; i++)
        v->chosen[i] =
            v->e->tasks <= TASKS_AT_ONCE
                ? i
                : (int64_t)sp_rng_below(&v->chance, (uint64_t)v->e->tasks);
}

/* Where score i stands among all: -0.5 the best .. 0.5 the worst. */
static double rank_of(const evolution *v, int i)
{
    int below = 0;

    for (int j = 0; j < 2 * PAIRS; j++)
        below += v->score[j] < v->score[i] ||
                 (!(v->score[j] > v->score[i]) && j < i);
    return (double)below / (2 * PAIRS - 1) - 0.5;
}

static void find_slope(evolution *v)
{
    memset(v->slope, 0, (size_t)v->n * sizeof *v->slope);
    for (int p = 0; p < PAIRS; p++) {
        double weight = rank_of(v, 2 * p) - rank_of(v, 2 * p + 1);
        const float *d = v->direction + p * v->n;

        for (int64_t i = 0; i < v->n; i++)
            v->slope[i] += (float)(weight / PAIRS) * d[i];
    }
}

static void step_down(evolution *v, int64_t generation, double share)
{
    double one = 1 - pow(0.9, (double)generation + 1);
    double two = 1 - pow(0.99, (double)generation + 1);

    for (int64_t i = 0; i < v->n; i++) {
        v->mean[i] += 0.1f * (v->slope[i] - v->mean[i]);
        v->square[i] += 0.01f * (v->slope[i] * v->slope[i] - v->square[i]);
        v->at[i] -= (float)(RATE * share * ((double)v->mean[i] / one) /
                            (sqrt((double)v->square[i] / two) + 1e-8));
    }
}

static void live(evolution *v, int64_t generation, double share)
{
    choose_tasks(v);
    for (int64_t p = 0; p < PAIRS; p++) {
        float *d = v->direction + p * v->n;

        for (int64_t i = 0; i < v->n; i++)
            d[i] = (float)sp_rng_normal(&v->chance);
        v->score[2 * p] = score_chosen(v, 1, d);
        v->score[2 * p + 1] = score_chosen(v, -1, d);
    }
    find_slope(v);
    step_down(v, generation, share);
}

/* How far it is: 0 .. 1. */
static double progress_of(const evolution *v)
{
    const spry_eon_options *o = v->e->options;

    return o->episodes > 0 ? (double)v->episodes / (double)o->episodes
                           : (sp_seconds() - v->begin) / o->seconds;
}

/* Keep the best; is it time to end? */
static int look(evolution *v, double part)
{
    const spry_eon_options *o = v->e->options;
    double share = share_of_all(v);
    spry_eon_progress now = {v->episodes, sp_seconds() - v->begin, v->reward,
                             share,
                             share < v->best_share ? share : v->best_share};

    if (share < v->best_share) {
        v->best_share = share;
        memcpy(v->best, v->at, (size_t)v->n * sizeof *v->best);
    }
    return (o->progress && o->progress(&now, o->payload)) || part >= 1;
}

static void run(evolution *v)
{
    v->begin = sp_seconds();
    v->best_share = HUGE_VAL;
    for (int64_t g = 0;; g++) {
        double part = progress_of(v);

        if ((g % LOOK_EVERY == 0 || part >= 1) && look(v, part))
            break;
        live(v, g, 1 - (1 - COOLEST) * part);
    }
    set_weights(v, v->best);
}

spry_status sp_evolve(sp_scorer *c, const sp_evolution *e, double *best)
{
    evolution v = {.e = e, .c = c, .n = sp_nn_count(c->weights)};
    float *all = sp_alloc(v.n * (6 + PAIRS), sizeof *all);

    if (!all)
        return sp_fail_memory((size_t)v.n * (6 + PAIRS) * sizeof *all);
    v.at = all;
    v.step = all + v.n;
    v.slope = all + 2 * v.n;
    v.mean = all + 3 * v.n;
    v.square = all + 4 * v.n;
    v.best = all + 5 * v.n;
    v.direction = all + 6 * v.n;
    v.chance = sp_rng_seed(e->options->seed);
    get_weights(&v, v.at);
    run(&v);
    *best = v.best_share;
    sp_free(all);
    return SPRY_OK;
}
