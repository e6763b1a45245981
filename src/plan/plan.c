/* plan.c - what every plan answers, whatever its kind. */
#include "plan/plan.h"

#include "base/base.h"

spry_status spry_run_scaled(const spry_plan *plan, double alpha, const void *B,
                            const void *D, double beta, void *C)
{
    SP_NEED(plan);

    sp_operands f = {alpha, beta, B, D, C};
    spry_status s = sp_operands_check(plan->p, &f);

    SP_ASSERT(plan->kind); /* it was not freed */
    return s == SPRY_OK ? plan->kind->run(plan, &f) : s;
}

spry_status spry_run(const spry_plan *plan, const void *B, void *C)
{
    SP_NEED(plan);
    if (plan->kind->two_operands(plan))
        return sp_fail(SPRY_USAGE,
                       "%s has two dense operands: use spry_run_scaled",
                       spry_op_name(spry_problem_op(plan->p)));
    return spry_run_scaled(plan, 1, B, NULL, 0, C);
}

spry_status spry_run_dense(const spry_plan *plan, double alpha,
                           const spry_dense *B, const spry_dense *D,
                           double beta, const spry_dense *C)
{
    SP_NEED(plan, B, C);
    if (!plan->kind->run_dense)
        return sp_fail(SPRY_USAGE, "a plan of %s takes no strides",
                       plan->p->kind->name);
    if (plan->kind->two_operands(plan) && !D)
        return sp_fail(SPRY_USAGE, "%s has two dense operands",
                       spry_op_name(spry_problem_op(plan->p)));
    return plan->kind->run_dense(plan, alpha, B, D, beta, C);
}

spry_status spry_plan_check(const spry_plan *plan, uint64_t seed)
{
    SP_NEED(plan);
    return plan->kind->check(plan, seed);
}

spry_status spry_plan_source(char **out, const spry_plan *plan)
{
    SP_NEED_NEW(out, plan);
    return plan->kind->source(out, plan);
}

spry_status spry_plan_export(const spry_plan *plan, const char *dir,
                             const char *name)
{
    SP_NEED(plan, dir, name);
    return plan->kind->write(plan, dir, name);
}

spry_status spry_plan_refill(spry_plan *plan, const void *values)
{
    SP_NEED(plan, values);
    if (!plan->kind->refill)
        return sp_fail(SPRY_USAGE, "a plan of %s cannot be refilled",
                       plan->p->kind->name);
    return plan->kind->refill(plan, values);
}

void spry_plan_free(spry_plan *plan)
{
    if (!plan)
        return;
    sp_plan_attach(plan, NULL, NULL);
    plan->kind->free(plan);
}

void sp_plan_attach(spry_plan *plan, void *story, void (*release)(void *))
{
    SP_ASSERT(!story == !release);
    if (plan->story)
        plan->release(plan->story);
    plan->story = story;
    plan->release = release;
}

const char *spry_plan_text(const spry_plan *plan)
{
    SP_NEED_OR("", plan);
    return plan->text;
}

const spry_schedule *spry_plan_schedule(const spry_plan *plan)
{
    SP_NEED_OR(NULL, plan);
    return plan->schedule;
}

const spry_problem *spry_plan_problem(const spry_plan *plan)
{
    SP_NEED_OR(NULL, plan);
    return plan->p;
}

double spry_plan_bytes(const spry_plan *plan)
{
    SP_NEED_OR(0, plan);
    return plan->bytes;
}

double spry_plan_pack_seconds(const spry_plan *plan)
{
    SP_NEED_OR(0, plan);
    return plan->pack_seconds;
}

const char *spry_plan_kernel(const spry_plan *plan)
{
    SP_NEED_OR("", plan);
    return plan->kernel;
}

int spry_plan_builtin(const spry_plan *plan)
{
    SP_NEED_OR(0, plan);
    return plan->builtin;
}
