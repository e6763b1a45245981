/* tuning.h - what the files that tune a network share. */
#ifndef SP_GRAPH_TUNING_H
#define SP_GRAPH_TUNING_H

#include "graph/executor.h"

enum { SP_TASK_ROUNDS = 64 };

typedef struct sp_transfer sp_transfer;

/* What orders know of a task. */
typedef struct {
    char usual[SPRY_SCHEDULE_TEXT]; /* before it was tuned */
    double before, now, bound;      /* seconds of all its stages */
    double hoped;                   /* of them, to be won by tuning */
    double flops, weight;
    double best[SP_TASK_ROUNDS + 1]; /* seconds behind each round */
    double spent;                    /* seconds of tuning it */
    int rounds, closed;
    int tried;       /* other ways were, not the model's alone */
    int known, near; /* by an equal task's answer, or tried with near ones': it
                        needs no share of the time */
} sp_task_state;

typedef struct {
    spry_executor *e;
    sp_transfer *known;
    sp_task_state *task; /* [e->tasks] */
    void **in, **out;    /* to run with */
    double begun, budget, saved;
    double once;    /* seconds of a run, before tuning */
    double trial;   /* seconds that trying a text in the network takes */
    double reserve; /* for the race in the end */
    double whole;   /* seconds of all tasks, untuned */
    int taught;     /* others say what tuning wins */
    int done, stopped;
} sp_tuning;

/* ---- a way, tried in the network (trial.c) ---- */

/* All stages of a task, by text. */
spry_status sp_task_bind(spry_executor *e, int task, const char *text);
/* Seconds of all stages of a task, by what they took last. */
double sp_task_time(const spry_executor *e, int task);
/* The task is computed by text if its stages are faster so. */
spry_status sp_trial_text(sp_tuning *t, int task, const char *text);
/* The same of a text that was found for another task, if it is right. */
spry_status sp_trial_checked(sp_tuning *t, int task, const char *text);

/* ---- never slower (compare.c) ---- */

/* The network is raced against itself as nothing but the model has it, and
 * becomes that if it is slower. */
spry_status sp_tuning_compare(sp_tuning *t);
/* Seconds that this takes at least, but for packing weights. */
double sp_tuning_compare_seconds(const sp_tuning *t);

/* ---- orders (tune_order.c) ---- */

/* The task that comes next; -1: none. */
int sp_task_next(const sp_task_state *t, int tasks, spry_tuning_order order);
/* Seconds that it may take out of all, and at least. */
double sp_task_seconds(const sp_task_state *t, int tasks, int task,
                       spry_tuning_order order, double least, double all);
/* It had its turn, and takes `now`. */
void sp_task_turn(sp_task_state *t, spry_tuning_order order);

/* ---- what other tasks know (transfer.c) ---- */

/* What the store has, the executor's machine as it was probed among it;
 * nothing, where transfer is off. */
spry_status sp_transfer_open(sp_transfer **out, spry_executor *e);
void sp_transfer_close(sp_transfer *t);
/* Was an equal task tuned on this machine, and is it computed so? */
int sp_transfer_known(const sp_transfer *t, const spry_problem *p);
/* How the nearest tasks that were tuned are computed, on any machine and in
 * any network, made legal for p: the count of texts, at most `most`. */
int sp_transfer_near(char (*text)[SPRY_SCHEDULE_TEXT], int most,
                     const sp_transfer *t, const spry_problem *p);
/* The share of its time that tuning p should win, by what it won others, the
 * near ones before all; < 0: too few are known. */
double sp_transfer_gain(const sp_transfer *t, const spry_problem *p);
/* Tuning a task of the executor took it from so many seconds to so many. */
spry_status sp_transfer_add(sp_transfer *t, int task, double before,
                            double after);
/* The store answers from now on as the executor computes. */
spry_status sp_transfer_remember(const spry_executor *e,
                                 const sp_task_state *state);

#endif
