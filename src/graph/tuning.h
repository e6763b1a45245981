/* tuning.h - what the files that tune a network share. */
#ifndef SP_GRAPH_TUNING_H
#define SP_GRAPH_TUNING_H

#include "graph/executor.h"

enum { SP_TASK_ROUNDS = 64 };

/* What orders know of a task. */
typedef struct {
    char usual[SPRY_SCHEDULE_TEXT]; /* before it was tuned */
    double now, bound;              /* seconds of all its stages */
    double flops, weight;
    double best[SP_TASK_ROUNDS + 1]; /* seconds behind each round */
    int rounds, closed;
    int known; /* by what others taught: it needs no share of the time */
} sp_task_state;

typedef struct {
    spry_executor *e;
    sp_task_state *task; /* [e->tasks] */
    void **in, **out;    /* to run with */
    double begun, budget, saved;
    double trial;   /* seconds that trying a text in the network takes */
    double reserve; /* for the race in the end */
    double whole;   /* seconds of all tasks, untuned */
    int taught;     /* some tasks are known from elsewhere */
    int done, stopped;
} sp_tuning;

/* ---- orders (tune_order.c) ---- */

/* The task that comes next; -1: none. */
int sp_task_next(const sp_task_state *t, int tasks, spry_tuning_order order);
/* Seconds that it may take out of all, and at least. */
double sp_task_seconds(const sp_task_state *t, int tasks, int task,
                       spry_tuning_order order, double least, double all);
/* It had its turn, and takes `now`. */
void sp_task_turn(sp_task_state *t, spry_tuning_order order);

/* ---- what other tasks know (transfer.c) ---- */

/* Does the store have an answer for p here? */
int sp_transfer_known(const spry_executor *e, const spry_problem *p);
/* How the nearest tasks of the store are computed, on any machine and in any
 * network, made legal for p: at most `most` texts. */
spry_status sp_transfer_near(char (*text)[SPRY_SCHEDULE_TEXT], int *count,
                             int most, const spry_executor *e,
                             const spry_problem *p);
/* The store answers from now on as the executor computes. */
spry_status sp_transfer_remember(const spry_executor *e);

#endif
