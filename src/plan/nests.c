/* nests.c - many super schedules, one call of the compiler. */
#include <string.h>

#include "base/base.h"
#include "plan/plan.h"

static int named_before(spry_plan *const *plan, int i)
{
    for (int j = 0; j < i; j++)
        if (plan[j] && strcmp(plan[j]->name, plan[i]->name) == 0)
            return 1;
    return 0;
}

/* One file with every kernel once; *widest needs the most flags. */
static void write_file(sp_buf *out, const sp_spec **widest,
                       spry_plan *const *plan, int count)
{
    *widest = NULL;
    for (int i = 0; i < count; i++) {
        if (!plan[i])
            continue;
        if (!*widest)
            sp_codegen_prelude(out, plan[i]->spec.isa);
        if (!*widest || plan[i]->spec.super.parallel)
            *widest = &plan[i]->spec;
        if (!named_before(plan, i))
            sp_codegen_kernel(out, &plan[i]->spec, "");
    }
}

/* The same text is compiled and loaded once; each plan holds on to it. */
static spry_status load(spry_plan *plan, const sp_buf *source,
                        const char *const *flags, const char *cpu)
{
    spry_status s = sp_jit_load(&plan->code, source->data, flags, cpu);

    if (s != SPRY_OK)
        return s;
    *(void **)&plan->kernel = sp_jit_symbol(plan->code, plan->name);
    return plan->kernel
               ? SPRY_OK
               : sp_fail(SPRY_FAIL, "kernel %s lost its name", plan->name);
}

static spry_status compile(spry_plan *const *plan, int count, const char *cpu)
{
    const char *flags[SP_FLAGS];
    const sp_spec *widest;
    sp_buf source = {0};
    spry_status s = SPRY_OK;

    write_file(&source, &widest, plan, count);
    if (source.failed)
        s = sp_fail_memory(source.cap);
    if (widest)
        sp_codegen_flags(flags, widest);
    for (int i = 0; s == SPRY_OK && i < count; i++)
        if (plan[i])
            s = load(plan[i], &source, flags, cpu);
    sp_buf_free(&source);
    return s;
}

spry_status sp_plan_make_nests(spry_plan **plan, int count,
                               const spry_problem *const *p,
                               const spry_schedule *x, const spry_machine *m)
{
    spry_status s = SPRY_OK;

    memset(plan, 0, (size_t)count * sizeof *plan);
    for (int i = 0; s == SPRY_OK && i < count; i++) {
        s = sp_plan_prepare(&plan[i], p[i], &x[i], m);
        if (s == SPRY_USAGE)
            s = SPRY_OK;
    }
    if (s == SPRY_OK)
        s = compile(plan, count, m->fingerprint);
    for (int i = 0; s != SPRY_OK && i < count; i++) {
        spry_plan_free(plan[i]);
        plan[i] = NULL;
    }
    return s;
}
