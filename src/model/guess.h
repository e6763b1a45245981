/* guess.h - seconds, from whoever knows best: the learned model of the
 * operation if there is one, else the analytic one. */
#ifndef SP_GUESS_H
#define SP_GUESS_H

#include "model/cost.h"
#include "spry/model.h"

typedef struct {
    sp_subject subject;
    sp_cost *cost; /* NULL: the analytic model speaks */
    sp_view *view;
    double plain; /* log score of the plain loop, when only order counts */
    char who[SPRY_WHO]; /* "analytic", or the learned model's name */
    char why[400]; /* why a learned model that was found is not used, or "" */
} sp_guess;

/* p and m outlive it. A model file that cannot be used is no failure. */
spry_status sp_guess_open(sp_guess *g, const sp_sparse *p,
                          const spry_machine *m);
/* The same with a model that is at hand, borrowed. */
spry_status sp_guess_with(sp_guess *g, const sp_sparse *p,
                          const spry_machine *m, const sp_cost *c);
void sp_guess_close(sp_guess *g);

/* Seconds of n schedules; HUGE_VAL: cannot be had. */
void sp_guess_seconds(double *out, sp_guess *g, const spry_schedule *x, int n);

/* 1: from now on seconds may be rough, if that is faster; 0: no longer. What
 * was found that way is chosen from with all that the model knows. */
void sp_guess_hurry(sp_guess *g, int hasty);

/* Which of n schedules to take if none can be measured; the first `plains` of
 * them are plain loops, and are left only for what promises enough. How far
 * the opinions of a learned model lie apart counts against a schedule. */
int sp_guess_choose(sp_guess *g, const spry_schedule *x, int n, int plains);

#endif
