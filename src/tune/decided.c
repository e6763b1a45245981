/* decided.c - when is a race over before everybody has run?
 *
 * Predictions are off, but alike: what is measured so far says how far, and
 * with that who is left is not worth a place. */
#include "tune/heat.h"

#include <math.h>

/* Measured over predicted, in logarithms: its mean and spread over what is
 * done. The fastest so far; how many. */
typedef struct {
    double mean, spread, best;
    int count;
} experience;

static experience learn(const sp_heats *h, int to)
{
    const sp_result *result = h->shared->data;
    experience e = {0, 0, HUGE_VAL, 0};
    double squares = 0;

    for (int i = 0; i < to; i++) {
        const sp_result *r = &result[i];
        double off;

        if (!r->done || r->verdict != SPRY_VERDICT_OK ||
            !(r->racer.seconds > 0) || !(r->x.predicted > 0) ||
            !(r->x.predicted < HUGE_VAL))
            continue;
        off = log(r->racer.seconds / r->x.predicted);
        e.mean += off;
        squares += off * off;
        e.best = fmin(e.best, log(r->racer.seconds));
        e.count++;
    }
    if (e.count) {
        e.mean /= e.count;
        e.spread = sqrt(fmax(0, squares / e.count - e.mean * e.mean));
    }
    return e;
}

/* Is nobody left who would be fastest even if the prediction were as wrong,
 * in its favour, as nine in ten are not? */
int sp_heats_decided(const sp_heats *h, int next, int to)
{
    enum { LEAST = 6 };
    static const double NINE_IN_TEN = 1.28, SURELY = 0.03;
    const sp_result *result = h->shared->data;
    experience e;

    if (!h->predicted)
        return 0;
    e = learn(h, next);
    if (e.count < LEAST)
        return 0;
    for (int i = next; i < to; i++)
        if (log(result[i].x.predicted) + e.mean -
                fmax(SURELY, NINE_IN_TEN * e.spread) <
            e.best)
            return 0;
    return 1;
}
