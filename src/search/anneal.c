/* anneal.c - one point that wanders, ever less willing to climb. */
#include "search/internal.h"

#include <math.h>

enum { WALKS = 4, STEPS = 800 };

/* Accept a step from `now` to `next` seconds? */
static int accept(double now, double next, double heat, sp_rng *r)
{
    return next <= now ||
           (next < HUGE_VAL && sp_rng_unit(r) < exp(log(now / next) / heat));
}

static spry_status wander(sp_keep *keep, const sp_space *s, sp_rng *r)
{
    spry_schedule x = sp_point_first(s);
    double now = sp_point_score(s, &x);
    spry_status status = sp_keep_add(keep, &x, now);

    for (int i = 0; status == SPRY_OK && i < STEPS; i++) {
        double heat = 0.5 * (1 - (double)i / STEPS) + 1e-6, next;
        spry_schedule y = x;

        if (!sp_point_mutate(&y, s, r))
            break;
        next = sp_point_score(s, &y);
        status = sp_keep_add(keep, &y, next);
        if (accept(now, next, heat, r)) {
            x = y;
            now = next;
        }
    }
    return status;
}

spry_status sp_search_anneal(sp_candidate *out, int *count, int most,
                             const sp_space *s)
{
    sp_rng r = sp_rng_seed(s->seed);
    sp_keep keep;
    spry_status status = sp_keep_open(&keep);

    *count = 0;
    for (int i = 0; status == SPRY_OK && i < WALKS; i++)
        status = wander(&keep, s, &r);
    if (status == SPRY_OK)
        status = sp_keep_best(out, count, most, &keep, s->p);
    sp_keep_close(&keep);
    return status;
}
