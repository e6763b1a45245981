/* tune.h - find the fastest plan for a problem.
 *
 * The plan was checked against the reference, and replaces the baseline (the
 * plain loop) only where it was measured to be faster. */
#ifndef SPRY_TUNE_H
#define SPRY_TUNE_H

#include <stddef.h>
#include <stdint.h>

#include "spry/machine.h"
#include "spry/model.h"
#include "spry/plan.h"
#include "spry/problem.h"
#include "spry/records.h"
#include "spry/schedule.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== simple ==== */

typedef enum {
    SPRY_LOOKUP,  /* what an earlier tune found, else the baseline */
    SPRY_PREDICT, /* the model's choice; nothing is measured */
    SPRY_MEASURE, /* measure the few that the model ranks best */
    SPRY_PATIENT  /* measure many, compile specialised kernels */
} spry_effort;

/* How far a tune has come; passed to the progress callback. */
typedef struct {
    double elapsed, budget; /* seconds */
    int trials, planned;
    double best_speedup; /* so far */
    const char *best;    /* its schedule */
} spry_progress;

typedef struct {
    size_t size;    /* sizeof (spry_tune_options) */
    double seconds; /* budget, exceeded by at most a fifth or 0.3 s; one that
                       is too short fails with SPRY_BUDGET, and the message
                       says what is needed. 0: 10 s, 3.5 s with a learned
                       model, and longer where that helps */
    double calls;   /* how often the plan will run; 0: very often */
    int threads;    /* 0: all that may be used */
    spry_effort effort;
    int again; /* nonzero: measure even if an earlier tune has the answer */
    uint64_t seed;
    const char *store;           /* path of the record store (records.h). NULL:
                                    the user's, if it can be used; ":memory:":
                                    none; any other must be a store */
    const spry_machine *machine; /* NULL: this one */
    /* Called now and then; return nonzero to stop with the best so far. */
    int (*progress)(const spry_progress *now, void *payload);
    void *payload;
    const char *source; /* where the matrix came from, a path or gen:SPEC#SEED,
                           so that training can find it again; NULL: unknown */
    const char *search; /* how candidates are found: "exhaustive", "descent",
                           "graph", "evolve" or "random"; NULL: as suits the
                           effort */
    int frozen;         /* nonzero: measurements do not adapt the model */
    const char *lock;   /* a lock file (spry_records_freeze): its answer is
                           used, with the same kernel; nothing is measured and
                           no store is opened. If it has no answer for p on
                           this machine, or the kernel would differ: SPRY_STORE,
                           or with SPRY_LOOKUP the baseline. NULL: $SPRY_LOCK,
                           else the site's; "": none */
} spry_tune_options;

#define SPRY_TUNE_DEFAULTS                                                  \
    {                                                                       \
        sizeof(spry_tune_options), 0, 0, 0, SPRY_MEASURE, 0, 1, NULL, NULL, \
            NULL, NULL, NULL, NULL, 0, NULL                                 \
    }

/* One candidate of a tune and what was measured of it. */
typedef struct {
    char schedule[SPRY_SCHEDULE_TEXT];
    spry_verdict verdict;
    char why[160]; /* when not ok */
    double predicted;
    double seconds;            /* median; 0 unless ok */
    double speedup, low, high; /* paired with the baseline */
    double pack_seconds, bytes;
    int pairs;
    double reserved[4]; /* 0 */
} spry_trial;

/* The result of a tune; owned by the plan and valid as long as it. */
typedef struct {
    spry_machine machine;
    char baseline[SPRY_SCHEDULE_TEXT]; /* schedules, as text */
    double baseline_seconds;
    char best[SPRY_SCHEDULE_TEXT];
    double seconds, speedup, low, high;
    int changed;             /* 0: the baseline stays */
    int verified;            /* the plan handed out passed spry_plan_check */
    int looked_up;           /* answered by the store, not measured now */
    int stopped;             /* ended early by the callback */
    double break_even_calls; /* runs until packing and tuning have paid off;
                                HUGE_VAL: never */
    double convert_seconds;  /* packing the winner */
    double tuning_seconds;
    int trials;
    const spry_trial *trial; /* [trials] in order of measuring */
    char note[512];          /* what was not available, "" if all was */
    char model[80];          /* which model ranked the candidates: "analytic"
                                or a learned one's name; "": none */
} spry_tuning;

/* Find a plan for p. opt NULL: the defaults.
 *
 * SPRY_MEASURE and SPRY_PATIENT fork: candidates run in child processes, so
 * that one that crashes or hangs does not take the caller with it. The children
 * have no open files, print nothing, run no exit handlers and have ended when
 * this returns. The caller may receive SIGCHLD, handlers of pthread_atfork run,
 * and a thread that reaps every child with wait(-1) would steal their exit
 * statuses. A program with other threads may tune, and a process that forks
 * after a tune or a run may tune and run in the child, on as many threads. */
spry_status spry_tune(spry_plan **out, const spry_problem *p,
                      const spry_tune_options *opt);

/* ==== advanced ==== */

/* What a tune would measure, best first, with predicted seconds; nothing is
 * measured. out[most]; *count is how many were written. */
typedef struct {
    char schedule[SPRY_SCHEDULE_TEXT];
    double seconds;
    double reserved[4]; /* 0 */
} spry_candidate;
spry_status spry_propose(spry_candidate *out, int *count, int most,
                         const spry_problem *p, const spry_tune_options *opt);

/* The plan that `text` describes, for any kind of problem: a schedule, or for
 * networks and dense operators what inference.h and dense.h describe. m NULL:
 * the detected machine. */
spry_status spry_plan_from(spry_plan **out, const spry_problem *p,
                           const char *text, const spry_machine *m);

/* spry_predict for any kind of problem: how long the plan that `text` describes
 * should take on m, and what bounds it. */
spry_status spry_explain(spry_prediction *out, const spry_problem *p,
                         const char *text, const spry_machine *m);

/* The result of the tune that made this plan; NULL if none did. */
const spry_tuning *spry_plan_tuning(const spry_plan *plan);

/* The time spent packing the winner, in runs of the baseline; NaN where such a
 * run is too short to be timed. */
double spry_tuning_convert_runs(const spry_tuning *t);

/* The same as a JSON document, "spry.tune/1", best candidate first; the caller
 * frees *out with free(). source: where the matrix came from, may be NULL.
 * SPRY_USAGE when no tune made the plan. */
spry_status spry_plan_story(char **out, const spry_plan *plan,
                            const char *source);

/* Time plans of one problem in turns and compare each with the first: `pairs`
 * rounds, fewer when they take longer than `seconds`. out[i] is filled for
 * every plan; out[0] has a ratio of 1. */
typedef struct {
    double seconds;            /* median of one run */
    double speedup, low, high; /* over plan 0, 95 % interval */
    int pairs;
    double reserved[4]; /* 0 */
} spry_score;
spry_status spry_race(spry_score *out, const spry_plan *const *plan, int plans,
                      int pairs, double seconds);

#ifdef __cplusplus
}
#endif
#endif
