/* meta.h - weights from which few steps on few records suffice.
 *
 * A task is a machine. In each round some of its matrices support: the inner
 * loop takes a few steps of SGD on them; others, never the same, are the
 * query: how well the weights do there after the inner loop is what the outer
 * loop improves, by Adam. */
#ifndef SP_META_H
#define SP_META_H

#include "adapt/adapt.h"

typedef enum {
    SP_META_MAML,    /* through the inner loop, second order */
    SP_META_FOMAML,  /* as if the inner loop's steps were constants */
    SP_META_REPTILE, /* towards where the inner loop ends */
    SP_META_ANIL     /* as MAML, but inner steps move the last layer only */
} sp_meta_kind;
const char *sp_meta_name(sp_meta_kind kind);
spry_status sp_meta_named(sp_meta_kind *out, const char *name);

/* The loss of a subject of a task, one element, on the tape. */
typedef sp_tensor *sp_meta_loss(sp_tape *t, const void *net, int task,
                                int64_t subject, void *payload);

/* What learns. Weights of nn that have gradients; those whose names contain
 * `head` are the last layer. */
typedef struct {
    sp_nn *nn;
    const void *net;
    const char *head;
    sp_meta_loss *loss;
    void *payload;
} sp_learner;

typedef struct {
    sp_meta_kind kind;
    int steps; /* of the inner loop */
    double inner_rate, outer_rate;
    int support, query; /* subjects of each in a round */
    int rounds, patience;
    uint64_t seed;
    double seconds; /* at most; 0: no limit */
} sp_meta;
#define SP_META_DEFAULTS                                 \
    {                                                    \
        SP_META_MAML, 3, 0.01, 3e-4, 3, 4, 200, 60, 1, 0 \
    }

/* The slope of the query's loss after the inner loop, by the weights before
 * it: [weights], added up in the order of nn's tensors that learn. *loss is
 * that of the query. */
spry_status sp_meta_slope(float *out, double *loss, const sp_learner *l,
                          const sp_meta *how, int task, const int64_t *support,
                          const int64_t *query);

/* Weights that learn, as one vector. */
int64_t sp_learner_size(const sp_learner *l);
void sp_learner_get(float *out, const sp_learner *l);
void sp_learner_set(const sp_learner *l, const float *from);

/* ---- the outer loop (meta_loop.c) ---- */

typedef struct {
    int64_t subjects;
    const int64_t *group; /* [subjects] */
} sp_meta_pool;

/* Whatever learns, over machines. The payload is the learner's. */
typedef struct {
    sp_learner learner;
    const sp_meta_pool *task;
    int tasks;
    /* Has it enough rows to learn from and to be judged by? */
    int (*usable)(int task, int64_t subject, void *payload);
    /* The share of a subject's order that is wrong now; NAN: none. */
    spry_status (*wrong)(double *out, int task, int64_t subject, void *payload);
} sp_meta_field;

/* Until the clock says so, 0: no limit. Validation keeps a quarter of every
 * task's groups: weights end where least order was wrong there after adapting;
 * *gain: by how much less than when it began. */
spry_status sp_meta_loop(const sp_meta_field *f, const sp_meta *how,
                         double until, double *gain);

/* ---- who learns (meta_learn.c) ---- */

/* A machine: its table, and the group of every subject. */
typedef struct {
    const sp_dataset *t;
    const int64_t *group;
} sp_meta_task;

/* The networks of s, from where they are. */
spry_status sp_meta_learn(sp_pretrained *s, const sp_meta_task *task, int tasks,
                          const sp_meta *how, double *gain);
/* WACO's network; c is of the kind waconet. What it has no words for and
 * subjects without a matrix are left out. */
spry_status sp_meta_learn_waco(const sp_cost *c, const sp_meta_task *task,
                               int tasks, const sp_meta *how, double *gain);

#endif
