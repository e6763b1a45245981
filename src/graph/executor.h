/* executor.h - what the files of the executor share. */
#ifndef SP_EXECUTOR_H
#define SP_EXECUTOR_H

#include "dense/dense.h"
#include "dense/move.h"
#include "graph/program.h"
#include "graph/team.h"
#include "plan/plan.h"
#include "tune/heat.h"

/* A stage with its plan, ready to run. */
typedef struct {
    const sp_stage *stage;
    spry_problem *problem;
    spry_plan *plan;
    const sp_dense_plan *dense; /* the plan as what it is */
    int task;                   /* stages of one task are computed alike */
    int shares;
    int64_t scratch; /* bytes of each share */
    double seconds;  /* of the last profile */
    double density;
    int kept;     /* its packed weights are of another time */
    sp_move move; /* of a stage that moves */
} sp_ready_stage;

/* Equal stages: an operator with its sizes. */
typedef struct {
    const char *key;
    char text[SPRY_SCHEDULE_TEXT]; /* the way that was chosen */
    char mark[SP_KERNEL_MARK]; /* who found it to be right, by the store; "":
                                  it was found so here */
    int stale; /* the store's answer, which other kernels had found to be right,
                  was found so here */
    int first; /* one of its stages */
    int weight;            /* stages */
    double seconds, bound; /* of a run: now, and at the very least */
    int tuned;
} sp_graph_task;

typedef struct sp_kept sp_kept;

struct spry_executor {
    const spry_graph *g;
    spry_graph *own; /* NULL: the graph is somebody else's */
    sp_program *p;
    spry_machine m;
    spry_executor_options o;
    double begun; /* when it was asked for */
    int threads;
    sp_ready_stage *stage; /* [p->stages] */
    sp_graph_task *task;
    int tasks;
    sp_answers *known; /* what the store knows, while it is made */
    sp_kept *kept;     /* packed weights of another time; NULL: none */
    sp_team *team;
    unsigned forks; /* before the team was opened */
    char *arena, *scratch;
    int64_t scratch_bytes; /* of one thread */
    const void *const *input;
    void *const *output;     /* of the run under way */
    spry_executor_gain gain; /* of tuning */
    char note[512];          /* what was asked for and is not there */
};

/* The threads that runs share, none of which a fork leaves behind
 * (executor_run.c). */
spry_status sp_executor_open_team(spry_executor *e);
void sp_executor_close_team(spry_executor *e);
/* The store that counts; ":memory:": none. */
const char *sp_executor_store(const spry_executor *e);
/* Plans for all stages, as store and model say (choose.c). */
spry_status sp_executor_choose(spry_executor *e);
/* A plan of stage i by text, in place of the one it has. */
spry_status sp_executor_bind(spry_executor *e, int i, const char *text);
/* Room for what the plans' shares need, after they changed. */
spry_status sp_executor_room(spry_executor *e);
/* Seconds of stage i: the fastest of some runs, each behind a run of the stage
 * before it. */
spry_status sp_executor_time(double *seconds, spry_executor *e, int i,
                             const void *const *input, void *const *output,
                             int runs);
/* What should be fastest for a task by the model alone, best first; nothing is
 * made and nothing checked (choose.c). How many there are. */
int sp_executor_guesses(spry_candidate *out, int most, const spry_executor *e,
                        int task);
/* Race ways for the tasks where it pays (tune.c). */
spry_status sp_executor_tune(spry_executor *e);

/* ---- a second plan (spare.c) ---- */

typedef struct {
    int stage;
    spry_plan *plan;
    const sp_dense_plan *dense;
    int shares, kept;
    int64_t scratch;
} sp_spare;

/* A plan by text for a stage, which runs by its own as before. To be freed,
 * also when it fails. */
spry_status sp_spare_make(sp_spare *out, spry_executor *e, int stage,
                          const char *text);
/* The stage runs by the spare plan, and the other becomes the spare. */
void sp_spare_exchange(spry_executor *e, sp_spare *spare);
void sp_spare_free(sp_spare *spare);

/* Elements of a to b, from the first of each on (move.c). */
sp_move sp_move_of(const sp_strided *b, const sp_strided *a, size_t size);

#endif
