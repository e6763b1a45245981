/* plan.c - a network laid out in some way, ready to run. */

#include "inference/internal.h"
#include "machine/machine.h"

static const sp_inference_plan *plan_of(const spry_plan *plan)
{
    return plan && plan->kind == &sp_inference_plans
               ? (const sp_inference_plan *)plan
               : NULL;
}

static spry_status need(const sp_inference_plan **out, const spry_plan *plan)
{
    *out = plan_of(plan);
    return *out ? SPRY_OK
                : sp_fail(SPRY_USAGE, "the plan is none of a network");
}

/* ---- making ---- */

static spry_status check_threads(const sp_way *w, const spry_machine *m)
{
    int threads = w->form.threads;

    if (threads > m->threads && threads > SP_MANY_THREADS)
        return sp_fail(SPRY_USAGE, "so many threads, %d, cannot be used here",
                       threads);
    return SPRY_OK;
}

/* The network to lay out: the problem's own, what its passes left, or what
 * other passes of this plan alone leave. */
static spry_status find_network(sp_inference_plan *plan, const sp_inference *p,
                                double *seconds)
{
    unsigned changing = plan->way.passes & ~sp_way_rest();
    double begun = sp_seconds();
    spry_status s;

    *seconds = 0;
    plan->net = p->net;
    if (!changing)
        return SPRY_OK;
    if (plan->way.passes == p->passes) {
        s = sp_inference_smaller(&plan->net, p);
        *seconds = p->compile_seconds;
        return s;
    }
    s = spry_network_compile(&plan->own, p->net, plan->way.passes, NULL);
    plan->net = plan->own;
    *seconds = sp_seconds() - begun;
    return s;
}

static spry_status make_runner(sp_inference_plan *plan, const spry_machine *m)
{
    sp_form_options form = plan->way.form;
    spry_status s;

    form.limited = 1;
    form.isa = m->isa;
    form.rest =
        plan->way.passes & sp_way_rest() && strcmp(form.name, "rows") == 0;
    s = sp_runner_make(&plan->runner, plan->net, &form);
    if (s != SPRY_OK)
        return s;
    plan->way.form = *sp_runner_form(plan->runner);
    plan->way.form.rest = 0;
    return SPRY_OK;
}

static void name(sp_inference_plan *plan, const spry_problem *p, double seconds)
{
    SP_ASSERT(plan->runner);
    plan->head.kind = &sp_inference_plans;
    plan->head.p = p;
    sp_way_text(plan->head.text, &plan->way);
    plan->head.kernel = plan->way.form.name;
    plan->head.builtin = 1;
    plan->head.bytes = plan->way.form.bytes;
    plan->head.pack_seconds = seconds;
}

static void free_plan(spry_plan *head)
{
    sp_inference_plan *plan = (sp_inference_plan *)head;

    sp_runner_free(plan->runner);
    spry_network_free(plan->own);
    sp_free(plan);
}

spry_status sp_inference_make(spry_plan **out, const spry_problem *p,
                              const char *text, const spry_machine *m,
                              void *tools)
{
    sp_inference_plan *plan = sp_alloc(1, sizeof *plan);
    double compiled = 0, begun;
    spry_status s = plan ? SPRY_OK : sp_no_memory(sizeof *plan);

    (void)tools;
    *out = NULL;
    if (s == SPRY_OK)
        s = sp_way_parse(&plan->way, text);
    if (s == SPRY_OK)
        s = check_threads(&plan->way, m);
    if (s == SPRY_OK && plan->way.form.threads == 0)
        plan->way.form.threads = m->threads;
    if (s == SPRY_OK)
        s = find_network(plan, sp_inference_of(p), &compiled);
    begun = sp_seconds();
    if (s == SPRY_OK)
        s = make_runner(plan, m);
    if (s == SPRY_OK) {
        name(plan, p, compiled + sp_seconds() - begun);
        *out = &plan->head;
    } else if (plan) {
        free_plan(&plan->head);
    }
    return s;
}

spry_status spry_plan_ordered(spry_plan **out, const spry_problem *p,
                              const int32_t *edge)
{
    SP_NEED_NEW(out, p, edge);
    SP_REFUSE(!sp_inference_of(p), "an order is of the edges of a network");

    sp_inference_plan *plan;
    double begun = sp_seconds();
    spry_status s;

    plan = sp_alloc(1, sizeof *plan);
    if (!plan)
        return sp_no_memory(sizeof *plan);
    plan->net = sp_inference_of(p)->net;
    s = sp_runner_ordered(&plan->runner, plan->net, edge);
    if (s == SPRY_OK) {
        plan->way.form = *sp_runner_form(plan->runner);
        name(plan, p, sp_seconds() - begun);
        *out = &plan->head;
    } else {
        free_plan(&plan->head);
    }
    return s;
}

/* ---- running ---- */

static int two_operands(const spry_plan *plan)
{
    (void)plan;
    return 0;
}

static spry_status run(const spry_plan *plan, const sp_operands *f)
{
    if (f->alpha != 1 || f->beta != 0)
        return sp_fail(SPRY_USAGE, "a network has no alpha and beta");
    return spry_run_inputs(plan, f->B, f->C, sp_inference_of(plan->p)->batch);
}

spry_status spry_run_inputs(const spry_plan *plan, const float *x, float *y,
                            int64_t count)
{
    SP_NEED(plan, x, y);

    const sp_inference_plan *a;
    spry_status s = need(&a, plan);

    return s == SPRY_OK ? sp_runner_run(a->runner, y, x, count) : s;
}

spry_status spry_run_categories(const spry_plan *plan, uint8_t *any,
                                const spry_matrix *m, int64_t first,
                                int64_t count)
{
    SP_NEED(plan, any, m);

    const sp_inference_plan *a;
    spry_status s = need(&a, plan);

    return s == SPRY_OK ? sp_runner_categories(a->runner, any, m, first, count)
                        : s;
}

int64_t spry_plan_edges(const spry_plan *plan)
{
    SP_NEED_OR(0, plan);
    return plan_of(plan) ? plan_of(plan)->net->edges : 0;
}

/* ---- the kind ---- */

static spry_status check(const spry_plan *plan, uint64_t seed)
{
    void *oracle;
    spry_status s = sp_inference_ask(&oracle, plan->p, seed, SP_TO_CHECK);

    if (s == SPRY_OK)
        s = sp_inference_check(oracle, plan);
    sp_inference_forget(oracle);
    return s;
}

static spry_status source(char **out, const spry_plan *plan)
{
    return sp_export_source(out, plan_of(plan)->net);
}

static spry_status write(const spry_plan *plan, const char *dir,
                         const char *name)
{
    return spry_network_export(plan_of(plan)->net, dir, name);
}

const sp_plan_kind sp_inference_plans = {.two_operands = two_operands,
                                         .run = run,
                                         .check = check,
                                         .source = source,
                                         .write = write,
                                         .free = free_plan};
