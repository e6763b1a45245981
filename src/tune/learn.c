/* learn.c - what was measured, for the adviser to learn from. */
#include <math.h>

#include "base/base.h"
#include "tune/internal.h"

/* Seconds that it takes at most. */
static const double LESSON = 0.3;
/* A measurement with a wider interval says nothing. */
static const double LOUD = 0.5;

/* A trial as its time over the baseline's; 0: there is nothing to learn. */
static int timing_of(sp_timing *out, const sp_tuner *t, int i)
{
    const sp_result *r = &sp_results(t)[i];
    sp_result scaled;

    if (!atomic_load(&sp_results(t)[i].done) || r->verdict != SPRY_VERDICT_OK ||
        !sp_result_scaled(&scaled, sp_results(t), i, t->baselines) ||
        !(scaled.racer.speedup > 0))
        return 0;
    *out =
        (sp_timing){.text = r->x.text,
                    .slower = -log(scaled.racer.speedup),
                    .noise = scaled.racer.low > 0
                                 ? log(scaled.racer.high / scaled.racer.low) / 2
                                 : 0};
    return isfinite(out->slower) && out->noise < LOUD;
}

/* What is measured for a machine that is only described, or not to be kept,
 * teaches nothing; nor is there a lesson when the budget has no time for it:
 * records stay, for `spry adapt`. */
void sp_tune_learn(sp_tuner *t)
{
    sp_timing *x;
    int n = 0;

    if (t->opt.frozen || t->opt.machine || !t->db || !t->adviser ||
        !t->family->learn || sp_budget_left(t) < LESSON)
        return;
    x = sp_alloc(t->count + 1, sizeof *x);
    for (int i = 0; x && i < t->count; i++)
        n += timing_of(&x[n], t, i);
    if (n > 1)
        t->family->learn(t->adviser, x, n, LESSON);
    sp_free(x);
}
