/* race.c - plans of one problem, side by side. */
#include "base/base.h"
#include "tune/internal.h"

enum { MOST = 64 };

typedef struct {
    const spry_plan *plan;
    const void *B, *D;
    void *C;
} runner;

static void run_once(void *ctx)
{
    const runner *r = ctx;

    (void)spry_run_scaled(r->plan, 1, r->B, r->D, 0, r->C);
}

/* Operands that take part: random numbers in the problem's type. */
static void *operand(const spry_problem *p, int which, uint64_t seed)
{
    int64_t count = spry_problem_input_size(p, which);
    void *X = sp_alloc_raw(count, p->type);
    sp_rng r = sp_rng_seed(seed);

    for (int64_t k = 0; X && k < count; k++)
        sp_dense_put(p, X, k, 2 * sp_rng_unit(&r) - 1);
    return X;
}

static spry_status race(spry_score *out, const spry_plan *const *plan,
                        int plans, int pairs, double seconds, const runner *as)
{
    sp_racer *racer = sp_alloc(plans, sizeof *racer);
    runner r[MOST];
    sp_contestant c[MOST];
    sp_race_options o = SP_RACE_DEFAULTS;
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
        out[i] = (spry_score){racer[i].seconds, racer[i].speedup, racer[i].low,
                              racer[i].high, racer[i].pairs};
    sp_free(racer);
    return s;
}

spry_status spry_race(spry_score *out, const spry_plan *const *plan, int plans,
                      int pairs, double seconds)
{
    const spry_problem *p;
    runner as;
    spry_status s;

    if (plans < 1 || plans > MOST || pairs < 1)
        return sp_fail(SPRY_USAGE, "1 to %d plans can race", (int)MOST);
    p = plan[0]->p;
    for (int i = 1; i < plans; i++)
        if (plan[i]->p != p)
            return sp_fail(SPRY_USAGE, "plans of one problem can race");
    as = (runner){plan[0], operand(p, 0, 1), operand(p, 1, 2),
                  sp_alloc(spry_problem_output_size(p), p->type)};
    if (!as.B || !as.D || !as.C)
        s = sp_fail_memory(0);
    else
        s = race(out, plan, plans, pairs, seconds, &as);
    sp_free((void *)(uintptr_t)as.B);
    sp_free((void *)(uintptr_t)as.D);
    sp_free(as.C);
    return s;
}
