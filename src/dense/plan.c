/* plan.c - a way to compute and an operator become a plan. */
#include <string.h>

#include "base/base.h"
#include "base/slab.h"
#include "base/unconst.h"
#include "dense/check.h"
#include "dense/export.h"
#include "dense/internal.h"
#include "dense/tiling.h"

static const sp_dense_algorithm *const algorithms[SP_ALGORITHMS] = {
    &sp_dense_plain, &sp_dense_direct, &sp_dense_wino2,
    &sp_dense_dw,    &sp_dense_rows,   &sp_dense_pruned};

static const sp_plan_kind dense_plans;

const sp_dense_plan *sp_dense_plan_of(const spry_plan *plan)
{
    return plan && plan->kind == &dense_plans ? (const sp_dense_plan *)plan
                                              : NULL;
}

/* ---- making ---- */

const char *sp_dense_way_illegal(const sp_dense_problem *p,
                                 const sp_dense_way *x, const spry_machine *m)
{
    const char *why = algorithms[x->algorithm]->illegal(p, x, m);

    return !why && x->threads > m->threads ? "there are fewer threads" : why;
}

spry_status sp_dense_way_legal(const sp_dense_problem *p, const sp_dense_way *x,
                               const spry_machine *m)
{
    const char *why = sp_dense_way_illegal(p, x, m);
    char text[SPRY_SCHEDULE_TEXT];

    sp_dense_way_text(text, x);
    return why ? sp_fail(SPRY_USAGE, "%s: %s", text, why) : SPRY_OK;
}

static void free_plan(spry_plan *head)
{
    sp_dense_plan *plan = (sp_dense_plan *)head;

    if (!plan->slab && !plan->ready)
        sp_free(plan->packed);
    sp_free(plan->bias);
    sp_tiling_free(plan->tiling);
    sp_scratch_close(plan->memory);
    sp_free(plan);
}

/* Shares' scratch memories lie side by side, on 64 bytes. */
static spry_status open_scratch(sp_dense_plan *plan)
{
    plan->scratch = sp_round_up(plan->scratch, 64);
    if (!plan->scratch)
        return SPRY_OK;
    return sp_scratch_open(&plan->memory, plan->scratch * plan->x.threads, 1);
}

static void open_core(sp_dense_plan *plan)
{
    const sp_dense_problem *p = plan->p;

    plan->core = (sp_dense_core){.op = p->op,
                                 .height = p->height,
                                 .width = p->width,
                                 .rows = p->rows,
                                 .cols = p->cols,
                                 .x = plan->x,
                                 .near = sp_dense_near(&plan->machine),
                                 .second = sp_dense_second(&plan->machine),
                                 .loops = sp_dense_loops_of(plan->machine.isa)};
}

static void name_plan(sp_dense_plan *plan, const spry_machine *m)
{
    sp_dense_way_text(plan->head.text, &plan->x);
    snprintf(plan->kernel, sizeof plan->kernel, "%s_%s",
             sp_algorithm_name(plan->x.algorithm), spry_isa_name(m->isa));
    plan->head.kernel = plan->kernel;
    plan->head.builtin = 1;
}

spry_status sp_dense_room(sp_dense_plan *plan, int64_t count, int *packs)
{
    int64_t bytes = count * (int64_t)sizeof(float);

    *packs = !plan->ready;
    if (plan->ready && plan->ready_bytes != bytes)
        return sp_fail(SPRY_FAIL, "weights were packed for another plan");
    plan->packed = plan->ready  ? sp_unconst(plan->ready)
                   : plan->slab ? sp_slab_get(plan->slab, count, sizeof(float))
                                : sp_alloc_raw(count, sizeof(float));
    plan->head.bytes = (double)bytes;
    return plan->packed ? SPRY_OK : sp_fail_memory((size_t)bytes);
}

spry_status sp_dense_pack_bias(sp_dense_plan *plan, int64_t groups,
                               int64_t count, int64_t wide)
{
    const spry_operator *op = &plan->p->op;

    if (!op->with_bias)
        return SPRY_OK;
    plan->bias = sp_alloc(groups * wide, sizeof(float));
    if (!plan->bias)
        return sp_fail_memory((size_t)(groups * wide) * sizeof(float));
    for (int64_t g = 0; g < groups; g++)
        memcpy(plan->bias + g * wide, op->bias + g * count,
               (size_t)count * sizeof(float));
    return SPRY_OK;
}

const void *sp_dense_packed(const sp_dense_plan *plan, int64_t *bytes)
{
    *bytes = plan->packed ? (int64_t)plan->head.bytes : 0;
    return plan->packed;
}

static spry_status make(sp_dense_plan **out, const sp_dense_problem *p,
                        const sp_dense_way *x, const spry_machine *m,
                        const sp_dense_home *home)
{
    spry_status s = sp_dense_way_legal(p, x, m);
    double begun = sp_seconds();
    sp_dense_plan *plan;

    *out = NULL;
    if (s != SPRY_OK)
        return s;
    if (!sp_dense_loops_of(m->isa).plain)
        return sp_fail(SPRY_SYSTEM, "loops for %s are not built in",
                       spry_isa_name(m->isa));
    plan = sp_alloc(1, sizeof *plan);
    if (!plan)
        return sp_fail_memory(sizeof *plan);
    plan->head.kind = &dense_plans;
    plan->head.p = &p->head;
    plan->p = p;
    plan->x = *x;
    plan->slab = home ? home->slab : NULL;
    plan->ready = home ? home->packed : NULL;
    plan->ready_bytes = home ? home->bytes : 0;
    plan->machine = *m;
    plan->foreign = !sp_isa_runs_here(m->isa);
    plan->how = algorithms[x->algorithm];
    name_plan(plan, m);
    open_core(plan);
    s = plan->how->prepare(plan, m);
    plan->core.tiling = plan->tiling;
    plan->core.packed = plan->packed;
    plan->core.bias = plan->bias;
    if (s == SPRY_OK)
        s = open_scratch(plan);
    plan->head.pack_seconds = sp_seconds() - begun;
    if (s == SPRY_OK)
        *out = plan;
    else
        free_plan(&plan->head);
    return s;
}

spry_status sp_dense_plan_make(sp_dense_plan **out, const sp_dense_problem *p,
                               const sp_dense_way *x, const spry_machine *m)
{
    return make(out, p, x, m, NULL);
}

spry_status sp_dense_plan_in(spry_plan **out, const spry_problem *problem,
                             const char *text, const spry_machine *m,
                             const sp_dense_home *home)
{
    const sp_dense_problem *p = sp_dense_of(problem);
    sp_dense_plan *plan = NULL;
    spry_machine here;
    spry_status s = SPRY_OK;
    sp_dense_way x;

    if (!out)
        return sp_fail(SPRY_USAGE, "a plan needs a place");
    *out = NULL;
    if (!p)
        return sp_fail(SPRY_USAGE, "it is no dense operator");
    if (!m) {
        s = spry_machine_detect(&here);
        m = &here;
    }
    if (s == SPRY_OK && text)
        s = sp_dense_way_parse(&x, text);
    else if (s == SPRY_OK)
        x = sp_dense_usual(p, m);
    if (s == SPRY_OK)
        s = make(&plan, p, &x, m, home);
    if (s == SPRY_OK)
        *out = &plan->head;
    return s;
}

spry_status spry_dense_plan(spry_plan **out, const spry_problem *problem,
                            const char *text, const spry_machine *m)
{
    return sp_dense_plan_in(out, problem, text, m, NULL);
}

spry_status sp_dense_adapt(char out[SPRY_SCHEDULE_TEXT], const spry_problem *p,
                           const char *text, const spry_machine *m, int threads)
{
    sp_dense_way x;
    spry_status s = sp_dense_way_parse(&x, text);

    if (s != SPRY_OK)
        return s;
    x.threads = x.threads > 1 ? threads : 1;
    sp_dense_even(&x, sp_dense_of(p));
    s = sp_dense_way_legal(sp_dense_of(p), &x, m);
    sp_dense_way_text(out, &x);
    return s;
}

spry_status spry_dense_predict(double *seconds, const spry_problem *problem,
                               const char *text, const spry_machine *m)
{
    const sp_dense_problem *p = sp_dense_of(problem);
    sp_dense_way x;
    spry_status s;

    if (!seconds || !p || !text || !m)
        return sp_fail(SPRY_USAGE,
                       "a prediction needs a place, a dense operator, a text "
                       "and a machine");
    s = sp_dense_way_parse(&x, text);
    if (s == SPRY_OK)
        s = sp_dense_way_legal(p, &x, m);
    *seconds = s == SPRY_OK ? sp_dense_predict(p, &x, m) : 0;
    return s;
}

/* ---- running ---- */

int sp_dense_shares(const sp_dense_plan *plan)
{
    return plan->x.threads;
}

int64_t sp_dense_scratch(const sp_dense_plan *plan)
{
    return plan->scratch;
}

void sp_dense_share(const sp_dense_plan *plan, const spry_tensors *t, int i,
                    void *scratch)
{
    plan->how->part(&plan->core, t, i, scratch);
}

spry_status sp_dense_run(const sp_dense_plan *plan, const spry_tensors *t)
{
    int shares = plan->x.threads;
    char *scratch = NULL;

    if (plan->memory && !(scratch = sp_scratch_take(plan->memory)))
        return SPRY_SYSTEM;
    if (shares == 1)
        plan->how->part(&plan->core, t, 0, scratch);
    else {
#pragma omp parallel for num_threads(shares) schedule(static, 1)
        for (int i = 0; i < shares; i++)
            plan->how->part(&plan->core, t, i,
                            scratch ? scratch + i * plan->scratch : NULL);
    }
    if (scratch)
        sp_scratch_give(plan->memory, scratch);
    return SPRY_OK;
}

spry_status spry_dense_run(const spry_plan *plan, const spry_tensors *t)
{
    const sp_dense_plan *dense = sp_dense_plan_of(plan);
    spry_status s;

    if (!dense)
        return sp_fail(SPRY_USAGE, "it is no plan of a dense operator");
    if (dense->foreign)
        return sp_fail(SPRY_USAGE, "a plan for %s cannot run on this machine",
                       spry_isa_name(dense->machine.isa));
    s = sp_dense_complete(dense->p, t);
    return s == SPRY_OK ? sp_dense_run(dense, t) : s;
}

/* ---- as any plan ---- */

static int two_operands(const spry_plan *plan)
{
    const spry_operator *op = &((const sp_dense_plan *)plan)->p->op;

    return op->given || op->add != SPRY_ADD_NONE;
}

static spry_status run(const spry_plan *head, const sp_operands *f)
{
    const sp_dense_plan *plan = (const sp_dense_plan *)head;
    spry_tensors t = {.in = f->B, .out = f->C};

    if (f->alpha != 1 || f->beta != 0)
        return sp_fail(SPRY_USAGE, "dense operators have alpha 1 and beta 0");
    if (plan->p->op.given)
        t.b = f->D;
    else
        t.add = f->D;
    return spry_dense_run(head, &t);
}

static spry_status source(char **out, const spry_plan *plan)
{
    *out = NULL;
    return sp_fail(SPRY_USAGE, "%s is built in and has no text of its own",
                   plan->kernel);
}

static spry_status write_plan(const spry_plan *plan, const char *dir,
                              const char *name)
{
    return sp_export_plan((const sp_dense_plan *)plan, dir, name);
}

static const sp_plan_kind dense_plans = {.two_operands = two_operands,
                                         .run = run,
                                         .check = sp_dense_check,
                                         .source = source,
                                         .write = write_plan,
                                         .free = free_plan};
