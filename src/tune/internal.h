/* internal.h - one tune under way. */
#ifndef SP_TUNE_INTERNAL_H
#define SP_TUNE_INTERNAL_H

#include "spry/tune.h"
#include "tune/heat.h"

/* Room for all results; the last places are the final's. */
enum { SP_FINALISTS = 6, SP_RESULTS = 256 };

/* Rounds of a final: enough when even the worst pair leaves no doubt. */
enum { SP_FINAL_FEWEST = 6 };

/* Of the budget, kept for the final. */
#define SP_FINAL_SHARE 0.2

typedef struct {
    const spry_problem *p;
    const sp_family *family;
    spry_tune_options opt;
    spry_machine m;
    spry_records *db;    /* NULL: nothing is kept */
    spry_records *site;  /* behind it, only read; NULL: there is none */
    void *oracle;        /* the family's; NULL: nothing is measured */
    sp_adviser *adviser; /* the same; NULL: nobody was asked */
    sp_history history;
    sp_proposals list; /* what the results were made of */
    double least;      /* seconds that p takes at the very least */
    double begun, deadline;
    double end;       /* by then the plan is handed over; 0: no budget was
                      asked for */
    int in_final;     /* what wins there was checked whole */
    int due;          /* heats ended so that there is time for the final */
    int late;         /* time ended heats or the final */
    int baselines;    /* the first results are the plain ways */
    sp_shared shared; /* sp_result[SP_RESULTS] */
    int count;        /* results in use */
    int recorded;     /* of them in the store */
    int best;         /* of them the fastest, -1: none yet */
    spry_plan *made;  /* of the first finalist; NULL: none */
    int checked;      /* the answer was, whole, in the final */
    int stopped;
    char note[512];
} sp_tuner;

static inline sp_result *sp_results(const sp_tuner *t)
{
    return t->shared.data;
}

/* The baseline: the plain way that is fastest so far. */
const sp_result *sp_baseline(const sp_tuner *t);

/* Add a sentence about what was not available. */
void sp_tuner_note(sp_tuner *t, const char *sentence);
double sp_tuner_left(const sp_tuner *t); /* seconds */

/* ---- the budget (budget.c) ---- */

void sp_budget_begin(sp_tuner *t);
/* Longer than usual where no budget was named and a plain run takes long. */
void sp_budget_stretch(sp_tuner *t, double plain);
int sp_budget_has_time_to_probe(const sp_tuner *t);
/* When heats end. */
void sp_budget_set_deadline(sp_tuner *t);
/* SPRY_BUDGET when the least that is to be done takes longer; a plain run
 * takes `plain` seconds. */
spry_status sp_budget_check(const sp_tuner *t, double plain);
/* Seconds to make, check and hand over what is likely to win. */
double sp_budget_to_hand_over(const sp_tuner *t);
/* Is it time to hand over? */
int sp_budget_is_over(const sp_tuner *t);
/* Seconds until it has to end, with all that is allowed beyond the budget. */
double sp_budget_left(const sp_tuner *t);
/* Must heats end now, or there is no time to prove the fastest? */
int sp_budget_final_is_due(const sp_tuner *t);
/* Seconds that a final takes before its race begins. */
double sp_budget_for_final(const sp_tuner *t, const int *finalist, int n);

/* ---- the steps, in order ---- */

/* Take the options; sp_tune_end also after a failure. */
spry_status sp_tune_begin(sp_tuner *t, const spry_problem *p,
                          const spry_tune_options *opt);
void sp_tune_end(sp_tuner *t);
/* Room for proposals and results. */
spry_status sp_tune_open_results(sp_tuner *t);

/* The machine (prepare.c). */
spry_status sp_tune_prepare(sp_tuner *t);
/* The sentence about a site's store that could not be opened just now. */
void sp_site_useless(char *note, size_t size);
/* The store and the site's, or a note; a store that was named must be one. */
spry_status sp_tune_open_stores(sp_tuner *t);
/* The machine as a store knows its numbers; 0: none does. */
int sp_tune_known_machine(spry_machine *out, sp_tuner *t);
/* The machine's probed numbers, which only guesses and races need. */
void sp_tune_know_machine(sp_tuner *t);
/* Find who proposes and predicts, and what earlier tunes found. */
spry_status sp_tune_consult(sp_tuner *t);
/* An answer from the store becomes *out; NULL when there is none. */
spry_status sp_tune_lookup(spry_plan **out, sp_tuner *t);
/* Time ended before anything was proven: the plain way, for those who have no
 * more time than that. */
void sp_answer_unproven(spry_answer *a);
/* The plan of an answer, looked at once more. */
spry_status sp_tune_answered(spry_plan **out, sp_tuner *t,
                             const spry_answer *a);
/* The lock file that is to be obeyed, if there is one; and its answer. When it
 * has none *out is NULL, and the sentence says so (locked.c). */
int sp_tune_lock(char *out, size_t size, const sp_tuner *t);
spry_status sp_tune_locked(spry_plan **out, sp_tuner *t, const char *path);
/* Add candidates: baselines, what the store liked, what the adviser likes. */
spry_status sp_tune_propose(sp_tuner *t);
/* Add neighbours of what won so far; 0 added ends the search. */
spry_status sp_tune_evolve(sp_tuner *t, int *added);
/* Race results [from, count) against the baseline (rounds.c). */
spry_status sp_tune_heats(sp_tuner *t, int from);
/* Race the best few again, in a fresh child; their places in results. */
spry_status sp_tune_final(sp_tuner *t, int finalist[SP_FINALISTS], int *count);
/* Who is handed out, of all that was measured; and that the baseline stays
 * (answer.c). */
spry_status sp_tune_decide(sp_tuner *t, spry_tuning *story);
void sp_tune_stay(const sp_tuner *t, spry_tuning *story);
/* Does r's race say how r does beside its plain way in another process? */
int sp_result_is_comparable(const sp_tuner *t, const sp_result *r);
/* Run by run of the same race, a's time over b's. */
double sp_result_beside(const sp_result *a, const sp_result *b);
/* The adviser learns from what was measured (learn.c). */
void sp_tune_learn(sp_tuner *t);
/* The answer, into the store. */
void sp_tune_conclude(sp_tuner *t, const spry_tuning *story,
                      const spry_plan *plan);
/* Append finished trials to the store; keep: one of them. */
void sp_tune_remember(sp_tuner *t);
void sp_tune_keep(sp_tuner *t, const sp_result *r);

#endif
