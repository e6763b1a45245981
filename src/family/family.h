/* family.h - what a family of problems provides to the tuner.
 *
 * The tuner measures, decides and stores; it does not know formats, matrices or
 * networks. To the tuner a way to compute a problem is one line of text with a
 * prediction, a plan is something to run, an oracle checks plans, and an
 * adviser proposes ways to try. All of them belong to the family: sp_family is
 * its table of functions. */
#ifndef SP_FAMILY_H
#define SP_FAMILY_H

#include "plan/plan.h"
#include "problem/problem.h"
#include "spry/machine.h"
#include "spry/model.h"

/* One way to compute a problem. */
typedef struct {
    char text[SPRY_SCHEDULE_TEXT];
    int threads;      /* that it runs on */
    int barriers;     /* at which these wait for each other in a run; 0: not
                         counted, as many as in the plain way */
    double predicted; /* seconds of a run; HUGE_VAL: cannot be built */
} sp_proposal;

/* Proposals, each once. */
typedef struct {
    sp_proposal *list; /* [most] */
    int count, most;
} sp_proposals;

/* 0: it is among them already, or there is no room. */
int sp_proposals_add(sp_proposals *l, const sp_proposal *x);

/* For families with so few ways that all are considered: SPRY_USAGE for any
 * strategy but "exhaustive". */
spry_status sp_search_all(const char *name);

/* What earlier tunes found out about a problem on this machine. */
enum { SP_LIKED = 3, SP_FAILED = 64 };
typedef struct {
    char liked[SP_LIKED][SPRY_SCHEDULE_TEXT]; /* the fastest, best first */
    double speedup[SP_LIKED];
    char failed[SP_FAILED][SPRY_SCHEDULE_TEXT];
    int likes, failures;
} sp_history;

/* What an adviser is given; all of it outlives the adviser. */
typedef struct {
    const spry_problem *p;
    const spry_machine *m;
    const sp_history *history;
    uint64_t seed;
    int measured;       /* 1: proposals will be timed; 0: one is used as is */
    int patient;        /* many may be tried, and kernels compiled */
    double seconds;     /* budget; 0: the adviser's usual one */
    const char *search; /* a strategy's name; NULL: the adviser's usual one */
} sp_inquiry;

/* What searches and predicts during one tune. A family's own struct begins with
 * this one. */
typedef struct {
    double seconds;     /* the budget: as asked for, else its usual one */
    int trusted;        /* predictions are good enough to stop early by */
    char who[SPRY_WHO]; /* "analytic", or a learned model's name */
    char note[512];     /* what was not available, "" if all was */
} sp_adviser;

/* A way that was measured. */
typedef struct {
    const char *text;
    double slower; /* logarithm of its time over the baseline's */
    double noise;  /* half of the interval of that */
} sp_timing;

enum { SP_BASELINES = 4 };

/* What an oracle is for: to check plans fully, only to run them on its
 * operands, or to check one quickly. */
typedef enum { SP_TO_CHECK, SP_TO_RUN, SP_TO_GLANCE } sp_purpose;

typedef struct {
    const char *name;
    const sp_problem_kind *kind; /* of problems that it computes */
    /* Seconds that any way takes at the very least; 0: not known. */
    double (*least)(const spry_problem *p, const spry_machine *m);

    /* ---- ways to compute them ---- */

    /* Plain ways, the one without threads first; returns how many. */
    int (*baselines)(sp_proposal *out, const spry_problem *p,
                     const spry_machine *m);
    /* A quick estimate of seconds; HUGE_VAL: cannot be built. */
    double (*estimate)(const spry_problem *p, const char *text,
                       const spry_machine *m);
    /* The same, split into its terms; NULL: the family cannot do that. */
    spry_status (*explain)(spry_prediction *out, const spry_problem *p,
                           const char *text, const spry_machine *m);
    /* `tools`: whatever the family made beforehand for many plans, or NULL. */
    spry_status (*make)(spry_plan **out, const spry_problem *p,
                        const char *text, const spry_machine *m, void *tools);

    /* ---- oracles: operands and correct results, for many plans ---- */

    spry_status (*ask)(void **oracle, const spry_problem *p, uint64_t seed,
                       sp_purpose purpose);
    /* The full check. */
    spry_status (*check)(const void *oracle, const spry_plan *plan);
    /* One run, every result compared; *seconds is what it took by the clock. */
    spry_status (*try_once)(const void *oracle, const spry_plan *plan,
                            double (*clock)(void), double *seconds);
    /* Compare a few results: for a plan that was checked before. */
    spry_status (*glance)(const void *oracle, const spry_plan *plan);
    /* 1: a full check costs next to nothing. */
    int (*checks_fast)(const spry_problem *p);
    /* One run on the oracle's operands, to be timed. */
    void (*run)(const void *oracle, const spry_plan *plan);
    /* Where a whole run would take long, the oracle's operands are a part of
     * the problem's: how many times as long the whole takes. NULL: always 1. */
    double (*whole)(const void *oracle);
    void (*forget)(void *oracle);

    /* ---- advisers: search and model, for one tune ---- */

    /* SPRY_OK if it has a strategy of that name. */
    spry_status (*can_search)(const char *name);
    spry_status (*consult)(sp_adviser **out, const sp_inquiry *q);
    /* Fill in `threads` and `predicted` of n proposals. */
    void (*predict)(sp_adviser *a, sp_proposal *x, int n);
    /* Add what is worth measuring, best first. */
    spry_status (*propose)(sp_adviser *a, sp_proposals *l);
    /* Add neighbours of what was measured as fast, best first. */
    spry_status (*around)(sp_adviser *a, sp_proposals *l,
                          const sp_proposal *leader, int leaders);
    /* Which of n to use without measuring; the first `plains` are baselines. */
    int (*choose)(sp_adviser *a, const sp_proposal *x, int n, int plains);
    /* Learn from n ways that were measured, in `seconds` at most, so that the
     * next adviser knows; may be NULL. */
    void (*learn)(sp_adviser *a, const sp_timing *x, int n, double seconds);
    void (*dismiss)(sp_adviser *a);
} sp_family;

#endif
