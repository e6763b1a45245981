/* family.c - sparse matrices and tensors, as the tuner's table has them. */
#include <math.h>

#include "base/base.h"
#include "model/least.h"
#include "plan/plan.h"
#include "sparse/internal.h"

static int takes(const spry_problem *p)
{
    return (unsigned)p->op < SPRY_OPS;
}

/* ---- problems ---- */

static void origin(spry_origin *out, const spry_problem *p)
{
    out->op = spry_op_name(p->op);
    out->type = spry_type_name(p->type);
    out->n = p->n;
    out->rows = p->A->rows;
    out->cols = p->A->cols;
    out->nnz = p->A->nnz;
}

static int nothing(const spry_problem *p)
{
    return spry_problem_output_size(p) == 0 || p->A->nnz == 0;
}

static double bytes(const spry_problem *p)
{
    return (double)p->A->nnz * (4 + (double)p->type);
}

/* ---- ways to compute them ---- */

static int baselines(sp_proposal *out, const spry_problem *p,
                     const spry_machine *m)
{
    spry_schedule x[SP_BASELINES];
    int n = sp_sparse_baselines(x, p, m);

    for (int i = 0; i < n; i++)
        out[i] = sp_sparse_proposal(&x[i], 0);
    return n;
}

static double estimate(const spry_problem *p, const char *text,
                       const spry_machine *m)
{
    spry_prediction guess;
    spry_schedule x;

    return spry_schedule_parse(&x, text) == SPRY_OK &&
                   spry_predict(&guess, p, &x, m) == SPRY_OK
               ? guess.seconds
               : HUGE_VAL;
}

static spry_status make(spry_plan **out, const spry_problem *p,
                        const char *text, const spry_machine *m, void *tools)
{
    spry_schedule x;
    spry_status s = spry_schedule_parse_for(&x, text, p->op);

    *out = NULL;
    return s == SPRY_OK ? sp_plan_make_from(out, p, &x, m, tools) : s;
}

/* ---- oracles ---- */

static spry_status ask(void **oracle, const spry_problem *p, uint64_t seed,
                       int brief)
{
    sp_oracle *o = NULL;
    spry_status s =
        brief ? sp_oracle_brief(&o, p, seed) : sp_oracle_make(&o, p, seed);

    *oracle = o;
    return s;
}

static spry_status check(const void *oracle, const spry_plan *plan)
{
    return sp_oracle_check(oracle, plan);
}

static spry_status try_once(const void *oracle, const spry_plan *plan,
                            double (*clock)(void), double *seconds)
{
    return sp_oracle_try(oracle, plan, clock, seconds);
}

static spry_status glance(const void *oracle, const spry_plan *plan)
{
    return sp_oracle_glance(oracle, plan);
}

static void run(const void *oracle, const spry_plan *plan)
{
    (void)spry_run_scaled(plan, 1, sp_oracle_B(oracle), sp_oracle_D(oracle), 0,
                          sp_oracle_C(oracle));
}

static void forget(void *oracle)
{
    sp_oracle_free(oracle);
}

const sp_family sp_family_sparse = {.name = "sparse",
                                    .takes = takes,
                                    .about = sp_problem_about,
                                    .origin = origin,
                                    .nothing = nothing,
                                    .bytes = bytes,
                                    .least = sp_model_least,
                                    .baselines = baselines,
                                    .estimate = estimate,
                                    .make = make,
                                    .ask = ask,
                                    .check = check,
                                    .try_once = try_once,
                                    .glance = glance,
                                    .checks_fast = sp_check_is_short,
                                    .run = run,
                                    .forget = forget,
                                    .consult = sp_sparse_consult,
                                    .predict = sp_sparse_predict,
                                    .propose = sp_sparse_propose,
                                    .around = sp_sparse_around,
                                    .choose = sp_sparse_choose,
                                    .dismiss = sp_sparse_dismiss};
