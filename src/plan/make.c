/* make.c - a schedule and a problem become a plan: packed data, a kernel. */
#include "plan/plan.h"

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
static spry_status find_kernel(spry_plan *plan, const char *cpu, sp_kernels *k)
{
    plan->kernel = sp_builtin_find(&plan->spec);
    if (plan->kernel || (k && sp_kernels_bind(plan, k)))
        return SPRY_OK;
    return compile(&plan->kernel, &plan->code, &plan->spec, cpu);
}

/* The same for the rows that blocks leave, if they do. */
static spry_status find_rest(spry_plan *plan, const char *cpu)
{
    if (!plan->x.rest)
        return SPRY_OK;
    plan->rest = sp_builtin_find(&plan->rest_spec);
    return plan->rest
               ? SPRY_OK
               : compile(&plan->rest, &plan->rest_code, &plan->rest_spec, cpu);
}

static spry_status pack(spry_plan *plan, const spry_machine *m)
{
    double begun = sp_seconds();
    spry_status s =
        sp_pack(&plan->packed, plan->p, &plan->x,
                sp_codegen_lanes(m->isa, plan->p->type), m->threads);

    plan->pack_seconds = sp_seconds() - begun;
    return s;
}

sp_spec sp_plan_rest_spec(const spry_schedule *x, const spry_problem *p,
                          spry_isa isa, int32_t index)
{
    spry_schedule rest =
        sp_schedule_of_rest(x, p, sp_codegen_lanes(isa, p->type));

    return sp_codegen_spec(&rest, p, isa, index);
}

spry_status sp_plan_prepare(spry_plan **out, const spry_problem *p,
                            const spry_schedule *x, const spry_machine *m)
{
    spry_plan *plan;
    spry_status s = spry_schedule_legal(x, p, m);

    *out = NULL;
    if (s != SPRY_OK)
        return s;
    plan = sp_alloc(1, sizeof *plan);
    if (!plan)
        return sp_fail_memory(sizeof *plan);
    plan->p = p;
    plan->x = *x;
    plan->foreign = !sp_isa_runs_here(m->isa);
    spry_schedule_text(plan->text, x);
    s = pack(plan, m);
    if (s == SPRY_OK && x->copy)
        s = sp_scratch_open(&plan->scratch, p->A->cols * x->pass, p->type);
    if (s != SPRY_OK) {
        spry_plan_free(plan);
        return s;
    }
    plan->spec = sp_codegen_spec(x, p, m->isa, plan->packed->index);
    sp_codegen_name(plan->name, &plan->spec);
    if (x->rest)
        plan->rest_spec = sp_plan_rest_spec(x, p, m->isa, plan->packed->index);
    *out = plan;
    return SPRY_OK;
}

spry_status spry_plan_make(spry_plan **out, const spry_problem *p,
                           const spry_schedule *x, const spry_machine *m)
{
    return sp_plan_make_from(out, p, x, m, NULL);
}

spry_status sp_plan_make_from(spry_plan **out, const spry_problem *p,
                              const spry_schedule *x, const spry_machine *m,
                              sp_kernels *k)
{
    spry_machine here;
    spry_status s = SPRY_OK;

    *out = NULL;
    if (!m) {
        s = spry_machine_detect(&here);
        m = &here;
    }
    if (s == SPRY_OK)
        s = sp_plan_prepare(out, p, x, m);
    if (s == SPRY_OK)
        s = find_kernel(*out, m->fingerprint, k);
    if (s == SPRY_OK)
        s = find_rest(*out, m->fingerprint);
    if (s != SPRY_OK) {
        spry_plan_free(*out);
        *out = NULL;
    }
    return s;
}

void spry_plan_free(spry_plan *plan)
{
    if (!plan)
        return;
    sp_plan_attach(plan, NULL, NULL);
    sp_packed_free(plan->packed);
    sp_scratch_close(plan->scratch);
    sp_jit_free(plan->code);
    sp_jit_free(plan->rest_code);
    sp_kernels_free(plan->kernels);
    sp_free(plan);
}

void sp_plan_attach(spry_plan *plan, void *story, void (*release)(void *))
{
    if (plan->story)
        plan->release(plan->story);
    plan->story = story;
    plan->release = release;
}

const char *spry_plan_text(const spry_plan *plan)
{
    return plan->text;
}

const spry_schedule *spry_plan_schedule(const spry_plan *plan)
{
    return &plan->x;
}

const spry_problem *spry_plan_problem(const spry_plan *plan)
{
    return plan->p;
}

double spry_plan_bytes(const spry_plan *plan)
{
    return plan->packed->bytes;
}

double spry_plan_pack_seconds(const spry_plan *plan)
{
    return plan->pack_seconds;
}

const char *spry_plan_kernel(const spry_plan *plan)
{
    return plan->name;
}

int spry_plan_builtin(const spry_plan *plan)
{
    return !plan->code && !plan->kernels && !plan->rest_code;
}

void sp_plan_source(sp_buf *out, const spry_plan *plan, const char *storage)
{
    sp_buf kernels = {0};

    sp_codegen_kernel(&kernels, &plan->spec, storage);
    if (plan->x.rest)
        sp_codegen_kernel(&kernels, &plan->rest_spec, storage);
    sp_codegen_around(out, plan->spec.isa, &kernels);
    sp_buf_free(&kernels);
}

spry_status spry_plan_source(char **out, const spry_plan *plan)
{
    sp_buf source = {0};

    sp_plan_source(&source, plan, "");
    *out = sp_buf_steal(&source);
    return *out ? SPRY_OK : sp_fail_memory(0);
}
