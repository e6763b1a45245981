/* available.c - the plain loops, and which schedules can be had at all. */
#include "codegen/codegen.h"
#include "schedule/schedule.h"
#include "sparse/sparse.h"

/* The plain loop alone and on all threads; of tensors both plain loops, over
 * entries and over fibers. */
int sp_sparse_baselines(spry_schedule out[SP_BASELINES], const sp_sparse *p,
                        const spry_machine *m)
{
    int n = 0;

    out[n++] = spry_schedule_baseline(1);
    if (m->threads > 1)
        out[n++] = spry_schedule_baseline(m->threads);
    if (!sp_has_tensor(p->op))
        return n;
    for (int i = 0; i < n; i++) {
        out[n + i] = out[i];
        out[n + i].format = SPRY_CSF;
    }
    return 2 * n;
}

/* A kernel that is built in, and for rows that blocks leave another. */
static int is_built_in(const sp_sparse *p, const spry_schedule *x,
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
int sp_sparse_available(const sp_sparse *p, const spry_schedule *x,
                        const spry_machine *m, sp_compiling compile)
{
    int rest = p->n % sp_codegen_lanes(m->isa, p->type) != 0;
    const spry_stats *stats = sp_problem_sketch(p);

    if (sp_format_of(x)->listed && stats && stats->empty_rows == 0)
        return 0; /* a longer name for csr */
    if (x->palette == 1 && stats && !stats->one_value)
        return 0;
    if (x->palette > 1 && stats &&
        (stats->one_value || stats->different > x->palette))
        return 0; /* beyond, or less than a table is for */
    if (x->symmetric && !sp_problem_symmetric(p))
        return 0;
    if (x->rest && stats &&
        spry_stats_fill(stats, x->r, x->c) * x->r * x->c < 1.5)
        return 0; /* most blocks hold one entry */
    return is_built_in(p, x, m) || compile == SP_COMPILE_ALL ||
           (compile == SP_COMPILE_USEFUL && x->fixed && rest);
}
