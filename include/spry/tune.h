/* tune.h - one problem in, one plan out: correct, and not slower. */
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
    SPRY_LOOKUP,  /* what the store knows, else the baseline */
    SPRY_PREDICT, /* the model's choice, nothing is measured */
    SPRY_MEASURE, /* race the best few */
    SPRY_PATIENT  /* race many, compile specialised kernels */
} spry_effort;

/* Where a tune is; handed to the progress callback. */
typedef struct {
    double elapsed, budget; /* seconds */
    int trials, planned;
    double best_speedup; /* so far */
    const char *best;    /* its schedule */
} spry_progress;

typedef struct {
    size_t size;    /* sizeof (spry_tune_options) */
    double seconds; /* budget, kept within a fifth or 0.3 s; SPRY_BUDGET says
                       what is needed when that cannot be. 0: 10 s, 3.5 s
                       with a learned model, and longer where that helps */
    double calls;   /* how often the kernel will run; 0: very often */
    int threads;    /* 0: all that may be used */
    spry_effort effort;
    int again; /* nonzero: measure even if the store has the answer */
    uint64_t seed;
    const char *store;           /* NULL: the user's, if it can be used;
                                    ":memory:": none; else it must be one */
    const spry_machine *machine; /* NULL: this one */
    /* Called now and then; nonzero asks to stop with the best so far. */
    int (*progress)(const spry_progress *now, void *payload);
    void *payload;
    const char *source; /* of the matrix: a path or gen:SPEC#SEED, so that what
                           is measured can be learned from; NULL: unknown */
    const char *search; /* how candidates are found: "exhaustive", "descent",
                           "graph", "evolve" or "random"; NULL: as suits the
                           effort */
    int frozen;         /* nonzero: what is measured does not adapt the model */
    const char *lock;   /* a lock file (spry_records_freeze): its answer, the
                           same kernel, is taken; nothing is measured, no store
                           is opened. SPRY_STORE when it has none for p here or
                           the kernel would be another; with SPRY_LOOKUP then
                           the baseline. NULL: $SPRY_LOCK, else the site's;
                           "": none */
} spry_tune_options;

#define SPRY_TUNE_DEFAULTS                                                  \
    {                                                                       \
        sizeof(spry_tune_options), 0, 0, 0, SPRY_MEASURE, 0, 1, NULL, NULL, \
            NULL, NULL, NULL, NULL, 0, NULL                                 \
    }

/* One line of the table a tune leaves behind. */
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

/* How it went; owned by the plan, alive as long as it. */
typedef struct {
    spry_machine machine;
    char baseline[SPRY_SCHEDULE_TEXT]; /* schedules, as text */
    double baseline_seconds;
    char best[SPRY_SCHEDULE_TEXT];
    double seconds, speedup, low, high;
    int changed;             /* 0: the baseline stays */
    int verified;            /* the plan handed out passed spry_plan_check */
    int looked_up;           /* answered by the store */
    int stopped;             /* ended early by the callback */
    double break_even_calls; /* runs until packing and tuning are paid;
                                HUGE_VAL: never */
    double convert_seconds;  /* packing the winner */
    double tuning_seconds;
    int trials;
    const spry_trial *trial; /* [trials] in order of measuring */
    char note[512];          /* what was not available, "" if all was */
    char model[80];          /* who ranked: "analytic" or a learned model's
                                name; "": nobody was asked */
} spry_tuning;

/* Find a plan for p. opt NULL: the defaults.
 *
 * Efforts measure and patient fork: trials run in child processes, so that
 * one that crashes or hangs is a result and not the caller's end. The children
 * have no open files, print nowhere, run no exit handlers and are gone when
 * this returns; SIGCHLD may arrive, and a caller who reaps every child with
 * wait(-1) from another thread takes their ends away. Handlers of
 * pthread_atfork run. Callers with other threads may tune, and whoever forks
 * after a tune or a run may tune and run in the child, on as many threads. */
spry_status spry_tune(spry_plan **out, const spry_problem *p,
                      const spry_tune_options *opt);

/* ==== advanced ==== */

/* What a tune would race, best first, with the seconds that are predicted;
 * nothing is measured. out[most]; *count is how many there are. */
typedef struct {
    char schedule[SPRY_SCHEDULE_TEXT];
    double seconds;
    double reserved[4]; /* 0 */
} spry_candidate;
spry_status spry_propose(spry_candidate *out, int *count, int most,
                         const spry_problem *p, const spry_tune_options *opt);

/* The plan of one way to compute p, whatever p is: a schedule as text, or
 * what its family calls so (inference.h). m NULL: the detected machine. */
spry_status spry_plan_from(spry_plan **out, const spry_problem *p,
                           const char *text, const spry_machine *m);

/* spry_predict for whatever p is: what one way, as text, should take on m, and
 * what bounds it. */
spry_status spry_explain(spry_prediction *out, const spry_problem *p,
                         const char *text, const spry_machine *m);

/* The story of the tune that made this plan; NULL if none did. */
const spry_tuning *spry_plan_tuning(const spry_plan *plan);

/* Packing the winner in runs of the baseline; NaN where such a run is shorter
 * than any clock can tell, a guess about no work at all. */
double spry_tuning_convert_runs(const spry_tuning *t);

/* The same as a JSON document, "spry.tune/1", trials best first; allocated,
 * the caller frees it with free(). source: where the matrix came from, may be
 * NULL. SPRY_USAGE when no tune made the plan. */
spry_status spry_plan_story(char **out, const spry_plan *plan,
                            const char *source);

/* Race plans of one problem against the first, interleaved. `pairs` rounds;
 * out[i] is filled for every plan, out[0] with ratio 1. */
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
