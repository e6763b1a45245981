/* families.c - the families of problems, one row each. */
#include "tune/heat.h"

static int sparse_takes(const spry_problem *p)
{
    return p->op != SPRY_MTTKRP;
}

static int tensor_takes(const spry_problem *p)
{
    return p->op == SPRY_MTTKRP;
}

/* The plain loop alone and on all threads. */
static int sparse_baselines(spry_schedule *out, const spry_problem *p,
                            const spry_machine *m)
{
    (void)p;
    out[0] = spry_schedule_baseline(1);
    if (m->threads == 1)
        return 1;
    out[1] = spry_schedule_baseline(m->threads);
    return 2;
}

/* Both plain loops: over entries and over fibers. */
static int tensor_baselines(spry_schedule *out, const spry_problem *p,
                            const spry_machine *m)
{
    int n = sparse_baselines(out, p, m);

    for (int i = 0; i < n; i++) {
        out[n + i] = out[i];
        out[n + i].format = SPRY_CSF;
    }
    return 2 * n;
}

/* A kernel that is built in, and for rows that blocks leave another. */
static int is_built_in(const spry_problem *p, const spry_schedule *x,
                       const spry_machine *m)
{
    int32_t index = x->index ? x->index : 32;
    sp_spec k = sp_codegen_spec(x, p, m->isa, index);
    spry_schedule rest =
        sp_schedule_of_rest(x, p, sp_codegen_lanes(m->isa, p->type));

    if (!sp_builtin_find(&k))
        return 0;
    k = sp_codegen_spec(&rest, p, m->isa, index);
    return !x->rest || sp_builtin_find(&k);
}

/* The index width is pack's to settle; any width that is built in will do.
 * Compiling costs as much as many races, so it must promise something: a
 * width that full vectors leave a rest of, or a patient caller. */
static int sparse_available(const spry_problem *p, const spry_schedule *x,
                            const spry_machine *m, sp_compiling compile)
{
    int rest = p->n % sp_codegen_lanes(m->isa, p->type) != 0;
    const spry_stats *stats = sp_problem_sketch(p);

    if (x->format == SPRY_DCSR && stats && stats->empty_rows == 0)
        return 0; /* a longer name for csr */
    if (x->palette == 1 && stats && !stats->one_value)
        return 0;
    if (x->palette > 1 && stats &&
        (stats->one_value || stats->different > x->palette))
        return 0; /* beyond, or less than a table is for */
    if (x->rest && stats &&
        spry_stats_fill(stats, x->r, x->c) * x->r * x->c < 1.5)
        return 0; /* most blocks hold one entry */
    return is_built_in(p, x, m) || compile == SP_COMPILE_ALL ||
           (compile == SP_COMPILE_USEFUL && x->fixed && rest);
}

static const sp_family families[] = {
    {"sparse", sparse_takes, sparse_baselines, sparse_available, spry_predict,
     sp_plan_make_from},
    {"tensor", tensor_takes, tensor_baselines, sparse_available, spry_predict,
     sp_plan_make_from},
};

const sp_family *sp_family_of(const spry_problem *p)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (families[i].takes(p))
            return &families[i];
    return NULL;
}
