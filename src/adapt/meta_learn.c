/* meta_learn.c - what learns over machines: the networks of the kind spry, and
 * WACO's. */
#include <math.h>
#include <string.h>

#include "adapt/meta.h"
#include "model/kinds.h"
#include "model/waconet.h"
#include "nn/losses.h"

/* Of all tables, as the outer loop wants to see them. */
static sp_meta_pool *pools_of(const sp_meta_task *task, int tasks)
{
    sp_meta_pool *pool = sp_alloc(tasks + 1, sizeof *pool);

    for (int i = 0; pool && i < tasks; i++)
        pool[i] = (sp_meta_pool){task[i].t->e->subjects, task[i].group};
    return pool;
}

/* ---- the networks of the kind spry ---- */

enum { BATCH = 64 };

typedef struct {
    const sp_meta_task *task;
    const sp_resnet *net; /* that learns now */
    sp_tape *tape;
    float *x; /* [BATCH, SP_FEATURES] */
    float target[BATCH], seconds[BATCH];
} work;

static sp_tensor *loss(sp_tape *tape, const void *net, int task,
                       int64_t subject, void *payload)
{
    work *w = payload;
    const sp_dataset *t = w->task[task].t;
    int64_t from = t->start[subject], n = t->start[subject + 1] - from;
    int64_t count = n < BATCH ? n : BATCH;
    sp_tensor *score;

    for (int64_t i = 0; i < count; i++) {
        int64_t row = from + i * n / count;

        memcpy(w->x + i * SP_FEATURES, t->x + row * SP_FEATURES,
               SP_FEATURES * sizeof *w->x);
        w->target[i] = t->slower[row];
        w->seconds[i] = expf(t->slower[row]);
    }
    score = sp_resnet_pass(tape, net, w->x, count);
    return sp_nn_add(tape, sp_loss_huber(tape, score, w->target, 1),
                     sp_loss_lambdarank(tape, score, w->seconds, 4));
}

static int usable(int task, int64_t subject, void *payload)
{
    const sp_dataset *t = ((work *)payload)->task[task].t;

    return t->start[subject + 1] - t->start[subject] > 2;
}

static spry_status wrong(double *out, int task, int64_t subject, void *payload)
{
    work *w = payload;
    const sp_dataset *t = w->task[task].t;
    int64_t from = t->start[subject];
    sp_tensor *y;
    spry_status s;

    sp_tape_begin(w->tape, 0);
    y = sp_resnet_pass(w->tape, w->net, t->x + from * SP_FEATURES,
                       t->start[subject + 1] - from);
    s = sp_tape_status(w->tape);
    if (s == SPRY_OK) /* scores are those of the subject alone */
        *out = sp_wrong_order(t, y->value - from, subject);
    return s;
}

spry_status sp_meta_learn(sp_pretrained *s, const sp_meta_task *task, int tasks,
                          const sp_meta *how, double *gain)
{
    work w = {.task = task};
    sp_meta_field f = {.tasks = tasks, .usable = usable, .wrong = wrong};
    double until = how->seconds > 0 ? sp_seconds() + how->seconds : 0, own;
    sp_meta_pool *pool = pools_of(task, tasks);
    spry_status status = sp_tape_new(&w.tape, 1);

    *gain = 0;
    w.x = sp_alloc(BATCH, SP_FEATURES * sizeof *w.x);
    if (status == SPRY_OK && (!pool || !w.x))
        status = sp_fail_memory(BATCH * SP_FEATURES * sizeof *w.x);
    f.task = pool;
    for (int k = 0; k < s->nets && status == SPRY_OK; k++) {
        sp_pretrained_learns(s, k, 1);
        w.net = &s->net[k];
        f.learner = (sp_learner){s->nn, w.net, ".last", loss, &w};
        status = sp_meta_loop(&f, how, until, &own);
        *gain += own / s->nets;
        sp_pretrained_learns(s, k, 0);
    }
    sp_tape_free(w.tape);
    sp_free(w.x);
    sp_free(pool);
    return status;
}

/* ---- WACO's ---- */

enum { NESTS = 32 };

typedef struct {
    const sp_meta_task *task;
    const sp_cost *cost;
    sp_waco_sites sites; /* of the subject at hand */
    spry_status status;
} waco_work;

/* Up to NESTS nests of a subject, at equal distances; how many. */
static int nests_of(sp_waco_words *words, float *seconds, const waco_work *w,
                    int task, int64_t subject)
{
    const sp_dataset *t = w->task[task].t;
    int64_t from = t->start[subject], n = t->start[subject + 1] - from;
    int64_t step = 1 + n / NESTS;
    int count = 0;

    if (!t->e->subject[subject].p)
        return 0;
    for (int64_t i = from; i < from + n && count < NESTS; i += step) {
        const spry_schedule *x = &t->e->row[t->from[i]].x;

        if (!sp_waconet_words(&words[count], w->cost->inner, x))
            continue;
        seconds[count++] = expf(t->slower[i]);
    }
    return count;
}

static int waco_usable(int task, int64_t subject, void *payload)
{
    sp_waco_words words[NESTS];
    float seconds[NESTS];

    return nests_of(words, seconds, payload, task, subject) > 2;
}

/* Scores of nests of a subject, on the tape. The sites live until the next
 * one, since the tape goes back over them. */
static sp_tensor *waco_pass(sp_tape *tape, waco_work *w, int task,
                            int64_t subject, float *seconds, int *count)
{
    const sp_subject *s = &w->task[task].t->e->subject[subject];
    const sp_waconet *net = w->cost->inner;
    sp_waco_words words[NESTS];

    *count = nests_of(words, seconds, w, task, subject);
    sp_waco_sites_free(&w->sites);
    memset(&w->sites, 0, sizeof w->sites);
    w->status = sp_waco_sites_new(&w->sites, s->p->A);
    if (w->status != SPRY_OK)
        return NULL;
    return sp_waconet_head(tape, net,
                           sp_waconet_matrix(tape, net, &w->sites, s),
                           sp_waconet_schedules(tape, net, words, *count));
}

static sp_tensor *waco_loss(sp_tape *tape, const void *net, int task,
                            int64_t subject, void *payload)
{
    const sp_hinge hinge = {.margin = 1};
    float seconds[NESTS];
    int count;
    sp_tensor *y = waco_pass(tape, payload, task, subject, seconds, &count);

    (void)net;
    return sp_loss_hinge(tape, y, seconds, &hinge);
}

/* The share of pairs in the wrong order. */
static spry_status waco_wrong(double *out, int task, int64_t subject,
                              void *payload)
{
    waco_work *w = payload;
    float seconds[NESTS];
    double bad = 0, all = 0;
    int n = 0;
    sp_tape *tape;
    spry_status s = sp_tape_new(&tape, 1);
    sp_tensor *y;

    if (s != SPRY_OK)
        return s;
    sp_tape_begin(tape, 0);
    y = waco_pass(tape, w, task, subject, seconds, &n);
    s = w->status == SPRY_OK ? sp_tape_status(tape) : w->status;
    for (int i = 0; i < n && s == SPRY_OK; i++)
        for (int k = 0; k < i; k++) {
            float told = y->value[i] - y->value[k];
            float apart = seconds[i] - seconds[k];

            bad += apart * told < 0 ? 1 : told == 0 ? 0.5 : 0;
            all++;
        }
    *out = all > 0 ? bad / all : nan("");
    sp_tape_free(tape);
    return s;
}

spry_status sp_meta_learn_waco(const sp_cost *c, const sp_meta_task *task,
                               int tasks, const sp_meta *how, double *gain)
{
    waco_work w = {.task = task, .cost = c};
    sp_meta_pool *pool = pools_of(task, tasks);
    sp_meta_field f = {.learner = {c->nn, c->inner, "head2", waco_loss, &w},
                       .task = pool,
                       .tasks = tasks,
                       .usable = waco_usable,
                       .wrong = waco_wrong};
    double until = how->seconds > 0 ? sp_seconds() + how->seconds : 0;
    spry_status s =
        c->kind != &sp_cost_waconet
            ? sp_fail(SPRY_USAGE, "%s is not WACO's network", c->kind->name)
        : pool ? sp_meta_loop(&f, how, until, gain)
               : sp_fail_memory((size_t)tasks * sizeof *pool);

    sp_waco_sites_free(&w.sites);
    sp_free(pool);
    return s == SPRY_OK ? w.status : s;
}
