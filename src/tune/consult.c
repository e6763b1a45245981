/* consult.c - who predicts: a learned model if there is one, else the
 * family's own. */
#include <math.h>

#include "base/base.h"
#include "tune/internal.h"

/* Who learned needs fewer tries. */
static const double DEFAULT_BUDGET = 10, LEARNED_BUDGET = 3.5;

spry_status sp_tune_consult(sp_tuner *t)
{
    spry_status s = sp_guess_open(&t->guess, t->p, &t->m);

    if (t->guess.why[0])
        sp_tuner_note(t, t->guess.why);
    if (t->opt.seconds == 0)
        t->opt.seconds = t->guess.view ? LEARNED_BUDGET : DEFAULT_BUDGET;
    return s;
}

void sp_tune_seconds(double *out, sp_tuner *t, const spry_schedule *x, int n)
{
    spry_prediction is;

    if (t->guess.view) {
        sp_guess_seconds(out, &t->guess, x, n);
        return;
    }
    for (int i = 0; i < n; i++)
        out[i] = t->family->predict(&is, t->p, &x[i], &t->m) == SPRY_OK
                     ? is.seconds
                     : HUGE_VAL;
}
