/* race.c - plans of one problem, side by side. */
#include "base/base.h"
#include "tune/internal.h"

enum { MOST = 64 };

typedef struct {
    const sp_family *family;
    const void *oracle;
    const spry_plan *plan;
} runner;

static void run_once(void *ctx)
{
    const runner *r = ctx;

    r->family->run(r->oracle, r->plan);
}

static spry_status race(spry_score *out, const spry_plan *const *plan,
                        int plans, int pairs, double seconds, const runner *as)
{
    sp_racer *racer = sp_alloc(plans, sizeof *racer);
    runner r[MOST];
    sp_contestant c[MOST];
    sp_race_options o = SP_RACE_DEFAULTS;
    double whole = sp_family_whole(as->family, as->oracle);
    spry_status s;

    if (!racer)
        return sp_fail_memory((size_t)plans * sizeof *racer);
    o.pairs = pairs;
    o.seconds = seconds;
    for (int i = 0; i < plans; i++) {
        r[i] = *as;
        r[i].plan = plan[i];
        c[i] = (sp_contestant){run_once, &r[i]};
    }
    s = sp_race(racer, c, plans, &o);
    for (int i = 0; s == SPRY_OK && i < plans; i++)
        out[i] = (spry_score){.seconds = racer[i].seconds * whole,
                              .speedup = racer[i].speedup,
                              .low = racer[i].low,
                              .high = racer[i].high,
                              .pairs = racer[i].pairs};
    sp_free(racer);
    return s;
}

spry_status spry_race(spry_score *out, const spry_plan *const *plan, int plans,
                      int pairs, double seconds)
{
    SP_NEED(out, plan);

    const spry_problem *p;
    const sp_family *family;
    void *oracle = NULL;
    spry_status s;

    if (plans < 1 || plans > MOST)
        return sp_fail(SPRY_USAGE, "1 to %d plans can race", (int)MOST);
    if (pairs < 1 || pairs > SP_RACE_PAIRS)
        return sp_fail(SPRY_USAGE, "%d pairs: a race has 1 to %d", pairs,
                       (int)SP_RACE_PAIRS);
    for (int i = 0; i < plans; i++)
        SP_REFUSE(!plan[i], "plan %d is missing", i);
    p = spry_plan_problem(plan[0]);
    for (int i = 1; i < plans; i++)
        if (spry_plan_problem(plan[i]) != p)
            return sp_fail(SPRY_USAGE, "plans of one problem can race");
    family = sp_family_of(p);
    s = family->ask(&oracle, p, 1, SP_TO_RUN);
    if (s == SPRY_OK)
        s = race(out, plan, plans, pairs, seconds,
                 &(runner){family, oracle, NULL});
    family->forget(oracle);
    return s;
}
