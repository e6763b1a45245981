/* make.c - a schedule and a problem become a plan: packed data, a kernel. */
#include "plan/internal.h"

#include "base/base.h"
#include "machine/isa.h"

static spry_status compile(sp_kernel **out, sp_jit_code **code,
                           const sp_spec *spec, const char *cpu)
{
    const char *flags[SP_FLAGS];
    char name[SP_KERNEL_NAME];
    sp_buf source = {0};
    spry_status s;

    sp_codegen_file(&source, spec);
    if (source.failed)
        s = sp_fail_memory(source.cap);
    else
        s = sp_jit_load(code, source.data, sp_codegen_flags(flags, spec), cpu);
    sp_buf_free(&source);
    if (s != SPRY_OK)
        return s;
    *(void **)out = sp_jit_symbol(*code, sp_codegen_name(name, spec));
    return *out ? SPRY_OK : sp_fail(SPRY_FAIL, "kernel %s lost its name", name);
}

/* The built-in kernel, one of k, or one compiled now. */
static spry_status find_kernel(sp_sparse_plan *plan, const char *cpu,
                               sp_kernels *k)
{
    plan->kernel = sp_builtin_find(&plan->spec);
    if (plan->kernel || (k && sp_kernels_bind(plan, k)))
        return SPRY_OK;
    return compile(&plan->kernel, &plan->code, &plan->spec, cpu);
}

/* The same for the rows that blocks leave, if they do. */
static spry_status find_rest(sp_sparse_plan *plan, const char *cpu)
{
    if (!plan->x.rest)
        return SPRY_OK;
    plan->rest = sp_builtin_find(&plan->rest_spec);
    return plan->rest
               ? SPRY_OK
               : compile(&plan->rest, &plan->rest_code, &plan->rest_spec, cpu);
}

static spry_status pack(sp_sparse_plan *plan, const spry_machine *m)
{
    double begun = sp_seconds();
    spry_status s =
        sp_pack(&plan->packed, plan->p, &plan->x,
                sp_codegen_lanes(m->isa, plan->p->type), m->threads);

    plan->head.pack_seconds = sp_seconds() - begun;
    if (s == SPRY_OK)
        plan->head.bytes = plan->packed->bytes;
    return s;
}

sp_spec sp_plan_rest_spec(const spry_schedule *x, const sp_sparse *p,
                          spry_isa isa, int32_t index)
{
    spry_schedule rest =
        sp_schedule_of_rest(x, p, sp_codegen_lanes(isa, p->type));

    return sp_codegen_spec(&rest, p, isa, index);
}

/* What a miss of each cache from the second on costs: what the next one, or
 * memory, takes longer, by the card; if nobody measured, as is usual. */
static void set_costs(sp_cache_cost cost[SPRY_CACHES], const spry_machine *m)
{
    static const double usual[] = {1e-9, 4e-9, 20e-9, 120e-9};
    int count = 0;

    for (int i = 1; i < SPRY_CACHES; i++) {
        int64_t bytes = spry_machine_cache(m, i);
        int next = i + 1;

        while (next < SPRY_CACHES && spry_machine_cache(m, next) <= bytes)
            next++;
        if (bytes <= 0)
            continue;
        cost[count].bytes = bytes;
        cost[count++].seconds =
            m->latency[i] > 0 && m->latency[next] > m->latency[i]
                ? m->latency[next] - m->latency[i]
                : usual[next] - usual[i];
    }
}

spry_status sp_plan_prepare(sp_sparse_plan **out, const sp_sparse *p,
                            const spry_schedule *x, const spry_machine *m)
{
    sp_sparse_plan *plan;
    spry_status s = spry_schedule_legal(x, &p->head, m);

    *out = NULL;
    if (s != SPRY_OK)
        return s;
    plan = sp_alloc(1, sizeof *plan);
    if (!plan)
        return sp_fail_memory(sizeof *plan);
    plan->head.kind = &sp_sparse_plans;
    plan->head.p = &p->head;
    plan->head.schedule = &plan->x;
    plan->head.kernel = plan->name;
    plan->p = p;
    plan->x = *x;
    plan->threads = m->threads;
    set_costs(plan->cost, m);
    plan->foreign = !sp_isa_runs_here(m->isa);
    spry_schedule_text(plan->head.text, x);
    s = pack(plan, m);
    if (s == SPRY_OK && x->copy)
        s = sp_scratch_open(&plan->scratch, p->A->cols * x->pass, p->type);
    if (s == SPRY_OK)
        s = sp_columns_open(&plan->turned, p, x);
    if (s == SPRY_OK && plan->turned)
        s = sp_scratch_open(&plan->contiguous_B, p->A->cols * p->n, p->type);
    if (s == SPRY_OK && plan->turned)
        s = sp_scratch_open(&plan->contiguous_C, p->A->rows * p->n, p->type);
    if (s != SPRY_OK) {
        sp_sparse_plan_free(plan);
        return s;
    }
    plan->spec = sp_codegen_spec(x, p, m->isa, plan->packed->index);
    sp_codegen_name(plan->name, &plan->spec);
    if (x->rest)
        plan->rest_spec = sp_plan_rest_spec(x, p, m->isa, plan->packed->index);
    *out = plan;
    return SPRY_OK;
}

/* Everything was found in the library or compiled now. */
static spry_status bind(sp_sparse_plan *plan, const spry_machine *m,
                        sp_kernels *k)
{
    spry_status s = find_kernel(plan, m->fingerprint, k);

    if (s == SPRY_OK)
        s = find_rest(plan, m->fingerprint);
    plan->head.builtin = !plan->code && !plan->kernels && !plan->rest_code;
    return s;
}

spry_status sp_plan_make_from(spry_plan **out, const sp_sparse *p,
                              const spry_schedule *x, const spry_machine *m,
                              sp_kernels *k)
{
    sp_sparse_plan *plan = NULL;
    spry_machine here;
    spry_status s = SPRY_OK;

    *out = NULL;
    if (!m) {
        s = spry_machine_detect(&here);
        m = &here;
    }
    if (s == SPRY_OK)
        s = sp_plan_prepare(&plan, p, x, m);
    if (s == SPRY_OK)
        s = bind(plan, m, k);
    if (s == SPRY_OK)
        *out = &plan->head;
    else
        sp_sparse_plan_free(plan);
    return s;
}

spry_status spry_plan_make(spry_plan **out, const spry_problem *p,
                           const spry_schedule *x, const spry_machine *m)
{
    SP_NEED_NEW(out, p, x);

    const sp_sparse *a;
    spry_status s = sp_sparse_need(&a, p);

    return s == SPRY_OK ? sp_plan_make_from(out, a, x, m, NULL) : s;
}

void sp_sparse_plan_free(sp_sparse_plan *plan)
{
    if (!plan)
        return;
    sp_packed_free(plan->packed);
    sp_slots_free(plan->slots);
    sp_scratch_close(plan->scratch);
    sp_scratch_close(plan->turned);
    sp_scratch_close(plan->contiguous_B);
    sp_scratch_close(plan->contiguous_C);
    sp_jit_free(plan->code);
    sp_jit_free(plan->rest_code);
    sp_kernels_free(plan->kernels);
    sp_free(plan);
}

void sp_plan_source(sp_buf *out, const sp_sparse_plan *plan,
                    const char *storage)
{
    sp_buf kernels = {0};

    sp_codegen_kernel(&kernels, &plan->spec, storage);
    if (plan->x.rest)
        sp_codegen_kernel(&kernels, &plan->rest_spec, storage);
    sp_codegen_around(out, plan->spec.isa, &kernels);
    sp_buf_free(&kernels);
}

/* ---- as any plan ---- */

const sp_sparse_plan *sp_sparse_plan_of(const spry_plan *plan)
{
    return plan->kind == &sp_sparse_plans ? (const sp_sparse_plan *)plan : NULL;
}

static int two_operands(const spry_plan *plan)
{
    return sp_two_operands(sp_sparse_plan_of(plan)->p);
}

static spry_status run(const spry_plan *plan, const sp_operands *f)
{
    return sp_sparse_run(sp_sparse_plan_of(plan), *f);
}

static spry_status run_dense(const spry_plan *plan, double alpha,
                             const spry_dense *B, const spry_dense *D,
                             double beta, const spry_dense *C)
{
    return sp_sparse_run_dense(sp_sparse_plan_of(plan), alpha, B, D, beta, C);
}

static spry_status check(const spry_plan *plan, uint64_t seed)
{
    const sp_sparse_plan *own = sp_sparse_plan_of(plan);
    sp_present now;
    sp_oracle *o = NULL;
    spry_status s = sp_present_open(&now, own);

    if (s == SPRY_OK)
        s = sp_oracle_make(&o, &now.p, seed);
    if (s == SPRY_OK)
        s = sp_oracle_check(o, own);
    sp_oracle_free(o);
    sp_present_close(&now);
    return s;
}

static spry_status source(char **out, const spry_plan *plan)
{
    sp_buf text = {0};

    sp_plan_source(&text, sp_sparse_plan_of(plan), "");
    *out = sp_buf_steal(&text);
    return *out ? SPRY_OK : sp_fail_memory(0);
}

static spry_status write(const spry_plan *plan, const char *dir,
                         const char *name)
{
    return sp_sparse_export(sp_sparse_plan_of(plan), dir, name);
}

static spry_status refill(spry_plan *plan, const void *values)
{
    return sp_sparse_refill((sp_sparse_plan *)plan, values);
}

static void free_plan(spry_plan *plan)
{
    sp_sparse_plan_free((sp_sparse_plan *)plan);
}

const sp_plan_kind sp_sparse_plans = {
    two_operands, run, run_dense, check, source, write, refill, free_plan};
