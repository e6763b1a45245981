/* choose.c - a plan for every stage: equal stages are one task and computed
 * alike. */
#include <string.h>

#include "graph/executor.h"
#include "tune/heat.h"

spry_status sp_executor_bind(spry_executor *e, int i, const char *text)
{
    sp_ready_stage *x = &e->stage[i];
    spry_plan *plan;
    spry_status s = spry_dense_plan(&plan, x->problem, text, &e->m);

    if (s != SPRY_OK)
        return s;
    spry_plan_free(x->plan);
    x->plan = plan;
    x->dense = sp_dense_plan_of(plan);
    x->shares = sp_dense_shares(x->dense);
    x->scratch = sp_dense_scratch(x->dense);
    return s;
}

/* The share of a stage's weights that is not 0. */
static double density_of(const spry_operator *op)
{
    int64_t count = sp_dense_weights(op), zeros = 0;

    if (op->kind == SPRY_LAYERNORM || !op->weights || count == 0)
        return 1;
    for (int64_t i = 0; i < count; i++)
        zeros += op->weights[i] == 0;
    return 1 - (double)zeros / (double)count;
}

static int find_task(const spry_executor *e, const char *key)
{
    for (int i = 0; i < e->tasks; i++)
        if (strcmp(e->task[i].key, key) == 0)
            return i;
    return -1;
}

/* What the store knows of a problem, else what should be fastest. */
static spry_status predict(char text[SPRY_SCHEDULE_TEXT],
                           const spry_executor *e, const spry_problem *p)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *plan = NULL;
    spry_status s;

    o.effort = SPRY_PREDICT;
    o.threads = e->threads;
    o.store =
        e->o.transfer || e->o.effort < SPRY_MEASURE ? e->o.store : ":memory:";
    o.machine = &e->m;
    if (sp_family_of(p))
        s = spry_tune(&plan, p, &o);
    else
        s = spry_dense_plan(&plan, p, NULL, &e->m);
    if (s == SPRY_OK)
        snprintf(text, SPRY_SCHEDULE_TEXT, "%s", plan->text);
    spry_plan_free(plan);
    return s;
}

static spry_status choose_stage(spry_executor *e, int i)
{
    sp_ready_stage *x = &e->stage[i];
    spry_status s = spry_problem_dense(&x->problem, &x->stage->op);

    if (s != SPRY_OK)
        return s;
    x->density = density_of(&x->stage->op);
    x->task = find_task(e, spry_problem_key(x->problem));
    if (x->task < 0) {
        sp_graph_task *t = &e->task[e->tasks];

        t->key = spry_problem_key(x->problem);
        t->first = i;
        s = predict(t->text, e, x->problem);
        x->task = e->tasks++;
    }
    e->task[x->task].weight++;
    return s == SPRY_OK ? sp_executor_bind(e, i, e->task[x->task].text) : s;
}

spry_status sp_executor_choose(spry_executor *e)
{
    spry_status s = SPRY_OK;

    e->stage = sp_alloc(e->p->stages + 1, sizeof *e->stage);
    e->task = sp_alloc(e->p->stages + 1, sizeof *e->task);
    if (!e->stage || !e->task)
        return sp_fail_memory((size_t)e->p->stages * sizeof *e->task);
    for (int i = 0; s == SPRY_OK && i < e->p->stages; i++) {
        e->stage[i].stage = &e->p->stage[i];
        e->stage[i].density = 1;
        e->stage[i].task = -1;
        e->stage[i].shares = 1;
        if (e->p->stage[i].kind == SP_STAGE_DENSE)
            s = choose_stage(e, i);
    }
    return s;
}
