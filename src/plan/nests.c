/* nests.c - many super schedules, one call of the compiler. */
#include <string.h>

#include "base/base.h"
#include "plan/sparse.h"

static spry_status bind_all(sp_sparse_plan *const *plan, int count,
                            const char *cpu)
{
    sp_spec *spec = sp_alloc_raw(count, sizeof *spec);
    sp_kernels *kernels = NULL;
    int n = 0;
    spry_status s = SPRY_OK;

    if (!spec)
        return sp_fail_memory((size_t)count * sizeof *spec);
    for (int i = 0; i < count; i++)
        if (plan[i])
            spec[n++] = plan[i]->spec;
    s = sp_kernels_open(&kernels);
    if (s == SPRY_OK)
        s = sp_kernels_add(kernels, spec, n, cpu, 1);
    for (int i = 0; s == SPRY_OK && i < count; i++)
        if (plan[i] && !sp_kernels_bind(plan[i], kernels))
            s = sp_fail(SPRY_FAIL, "kernel %s lost its name", plan[i]->name);
    sp_kernels_free(kernels);
    sp_free(spec);
    return s;
}

static spry_status make_all(sp_sparse_plan **plan, int count,
                            const sp_sparse *const *p, const spry_schedule *x,
                            const spry_machine *m)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < count; i++) {
        s = sp_plan_prepare(&plan[i], p[i], &x[i], m);
        if (s == SPRY_USAGE)
            s = SPRY_OK;
    }
    return s == SPRY_OK ? bind_all(plan, count, m->fingerprint) : s;
}

spry_status sp_plan_make_nests(spry_plan **out, int count,
                               const sp_sparse *const *p,
                               const spry_schedule *x, const spry_machine *m)
{
    sp_sparse_plan **plan = sp_alloc(count, sizeof(sp_sparse_plan *));
    spry_status s;

    memset(out, 0, (size_t)count * sizeof(spry_plan *));
    if (!plan)
        return sp_fail_memory((size_t)count * sizeof(sp_sparse_plan *));
    s = make_all(plan, count, p, x, m);
    for (int i = 0; i < count; i++)
        if (s != SPRY_OK)
            sp_sparse_plan_free(plan[i]);
        else if (plan[i])
            out[i] = &plan[i]->head;
    sp_free(plan);
    return s;
}
