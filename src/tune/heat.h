/* heat.h - candidates for one problem, verified and raced in a child process.
 *
 * The door through which the tuner and the collector measure. */
#ifndef SP_HEAT_H
#define SP_HEAT_H

#include <stdatomic.h>

#include "family/family.h"
#include "measure/measure.h"

/* The row of families.c that computes p; NULL: none does. */
const sp_family *sp_family_of(const spry_problem *p);
/* The same, but SPRY_USAGE and a sentence instead of NULL. */
spry_status sp_family_need(const sp_family **out, const spry_problem *p);
/* How many runs on the oracle's operands a whole run takes. */
double sp_family_whole(const sp_family *f, const void *oracle);

/* Is the plan right, as far as a short look can tell? (lookup.c) */
spry_status sp_plan_glance(const spry_plan *plan, uint64_t seed);

/* What the user's store, or the one that is named, and the site's know: opened
 * once for many problems. NULL: there are none, or a lock file is to be
 * obeyed (lookup.c). note: which of them is of no use, "" if all are. */
typedef struct sp_answers sp_answers;
sp_answers *sp_answers_open(const char *store, char *note, size_t size);
void sp_answers_close(sp_answers *a);
/* What computes a plan, as an answer and a lock file name it. */
enum { SP_KERNEL_MARK = 192 };
void sp_kernel_mark(char out[SP_KERNEL_MARK], const spry_plan *plan);
/* How p is computed on m, and the mark of the kernel by which that was found
 * to be right, "": not known. 0: there is no answer. */
int sp_answers_find(char text[SPRY_SCHEDULE_TEXT], char mark[SP_KERNEL_MARK],
                    sp_answers *a, const spry_problem *p,
                    const spry_machine *m);
/* The plan that an answer asks for was found to be right by the kernel it has
 * here: from now on the user's store says so. */
void sp_answers_renew(sp_answers *a, const spry_plan *plan,
                      const spry_machine *m);

/* A candidate and what became of it. Lies in memory shared with the child
 * that measures; `done` is set last. */
typedef struct {
    sp_proposal x;
    atomic_int done; /* all the rest is in */
    spry_verdict verdict;
    char why[160];
    int builtin;
    double pack_seconds, bytes;
    double check_seconds; /* of the check before its race */
    double once;          /* seconds of a run that was checked; 0: not known */
    double fastest; /* seconds of a run, in any race so far; 0: not known */
    int baseline;   /* the plain way that the racer's ratios are to */
    sp_racer racer;
} sp_result;

enum { SP_HEAT_WIDEST = 8 };

/* What to race, and how. */
typedef struct {
    const spry_problem *p;
    const sp_family *family;
    const spry_machine *m;
    const void *oracle; /* the family's */
    double whole;       /* its: a whole run takes this many of its runs */
    sp_shared *shared;  /* sp_result[], the plain ways first */
    int baselines;
    void *tools;     /* of the family, made beforehand; may be NULL */
    spry_plan *made; /* of results[made_for], beforehand; may be NULL */
    int made_for;
    double least;    /* seconds that p takes at the very least on m, whatever
                        the schedule; 0: not known */
    double deadline; /* by sp_seconds; later nobody starts */
    uint64_t seed;

    int wide;          /* candidates side by side, packed at once */
    sp_race_options o; /* of one heat */
    int brief;         /* who wins is checked again: where a whole check takes
                          long, one run is enough for now */
    double patience;   /* without a sign of life for so long, it has failed, */
    double cpu;        /* or after so much processor time; 0: no limit */
    /* 0: whoever wins will be used, so the check is whole. Else only labels
     * are wanted: one run is checked, and who takes this many times as long
     * as the baseline is `slow` and need not race. */
    double cut;
    int crowned;   /* 1: whoever wins here is the answer, so plain ways that
                      should be faster than they were run again */
    int predicted; /* 1: predictions are good enough to stop by, once nobody
                      left is likely to beat the best so far */

    /* Called in the parent now and then; nonzero stops. May be NULL. */
    int (*watch)(void *arg);
    void *arg;
} sp_heats;

/* Measure results [from, to) that are not done, the plain ways before all
 * others. Ratios are to the plain way that is fastest in the same race. One
 * that no machine of this kind can reach is raced again, and then `doubtful`.
 * Whatever a candidate does - crash, hang, compute nonsense - becomes its
 * verdict. */
spry_status sp_heats_run(const sp_heats *h, int from, int to);

/* Is nobody in [next, to) likely to beat the best of those before? */
int sp_heats_decided(const sp_heats *h, int next, int to);

/* The baseline: the plain way that is fastest so far. */
const sp_result *sp_heats_baseline(const sp_result *r, int baselines);

/* How slow r seems beside results of other heats; less is faster. */
double sp_result_pace(const sp_result *r);

/* Result i as a record has it: the plain ways are raced against the first of
 * them, all others against the fastest. 0: not all plain ways are known yet. */
int sp_result_scaled(sp_result *out, const sp_result *r, int i, int baselines);

/* Where p came from, into the store. group NULL: what the source says, and of
 * an unknown source the problem itself. */
spry_status sp_origin_add(spry_records *db, const spry_problem *p,
                          const char *source, const char *group);

/* The record of a finished trial, into the store. */
spry_status sp_result_add(spry_records *db, const spry_problem *p,
                          const spry_machine *m, const sp_result *r);

#endif
