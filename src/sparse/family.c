/* family.c - sparse matrices and tensors, as the tuner's table has them. */
#include <math.h>

#include "base/base.h"
#include "model/least.h"
#include "plan/sparse.h"
#include "sparse/internal.h"

/* ---- ways to compute them ---- */

static int baselines(sp_proposal *out, const spry_problem *p,
                     const spry_machine *m)
{
    spry_schedule x[SP_BASELINES];
    int n = sp_sparse_baselines(x, sp_sparse_of(p), m);

    for (int i = 0; i < n; i++)
        out[i] = sp_sparse_proposal(&x[i], 0);
    return n;
}

static spry_status explain(spry_prediction *out, const spry_problem *p,
                           const char *text, const spry_machine *m)
{
    spry_schedule x;
    spry_status s = spry_schedule_parse(&x, text);

    return s == SPRY_OK ? spry_predict(out, p, &x, m) : s;
}

static double estimate(const spry_problem *p, const char *text,
                       const spry_machine *m)
{
    spry_prediction guess = {.size = sizeof guess};

    return explain(&guess, p, text, m) == SPRY_OK ? guess.seconds : HUGE_VAL;
}

static double least(const spry_problem *p, const spry_machine *m)
{
    return sp_model_least(sp_sparse_of(p), m);
}

static spry_status make(spry_plan **out, const spry_problem *p,
                        const char *text, const spry_machine *m, void *tools)
{
    spry_schedule x;
    spry_status s = spry_schedule_parse_for(&x, text, spry_problem_op(p));

    *out = NULL;
    return s == SPRY_OK ? sp_plan_make_from(out, sp_sparse_of(p), &x, m, tools)
                        : s;
}

/* ---- oracles ---- */

static spry_status ask(void **oracle, const spry_problem *p, uint64_t seed,
                       sp_purpose purpose)
{
    sp_oracle *o = NULL;
    spry_status s = purpose == SP_TO_CHECK
                        ? sp_oracle_make(&o, sp_sparse_of(p), seed)
                        : sp_oracle_brief(&o, sp_sparse_of(p), seed);

    *oracle = o;
    return s;
}

static spry_status check(const void *oracle, const spry_plan *plan)
{
    return sp_oracle_check(oracle, sp_sparse_plan_of(plan));
}

static spry_status try_once(const void *oracle, const spry_plan *plan,
                            double (*clock)(void), double *seconds)
{
    return sp_oracle_try(oracle, sp_sparse_plan_of(plan), clock, seconds);
}

static spry_status glance(const void *oracle, const spry_plan *plan)
{
    return sp_oracle_glance(oracle, sp_sparse_plan_of(plan));
}

static int checks_fast(const spry_problem *p)
{
    return sp_check_is_short(sp_sparse_of(p));
}

static void run(const void *oracle, const spry_plan *plan)
{
    sp_oracle_run(oracle, plan);
}

static void forget(void *oracle)
{
    sp_oracle_free(oracle);
}

static spry_status can_search(const char *name)
{
    const sp_strategy *found;

    return sp_strategy_named(&found, name);
}

const sp_family sp_family_sparse = {.name = "sparse",
                                    .kind = &sp_sparse_kind,
                                    .least = least,
                                    .baselines = baselines,
                                    .estimate = estimate,
                                    .explain = explain,
                                    .make = make,
                                    .ask = ask,
                                    .check = check,
                                    .try_once = try_once,
                                    .glance = glance,
                                    .checks_fast = checks_fast,
                                    .run = run,
                                    .forget = forget,
                                    .can_search = can_search,
                                    .consult = sp_sparse_consult,
                                    .predict = sp_sparse_predict,
                                    .propose = sp_sparse_propose,
                                    .around = sp_sparse_around,
                                    .choose = sp_sparse_choose,
                                    .learn = sp_sparse_learn,
                                    .dismiss = sp_sparse_dismiss};
