/* choose.c - a plan for every stage: equal stages are one task and computed
 * alike.
 *
 * Problems are made and weights are packed by all threads, a stage each. An
 * answer of the store is taken as it is when the same kernels found it to be
 * right: their mark says so. All else is looked at by the tuner first. */
#include <stdatomic.h>
#include <string.h>

#include "graph/kept.h"

/* ---- all stages, by all threads ---- */

typedef spry_status stage_act(spry_executor *e, int i);

typedef struct {
    spry_executor *e;
    stage_act *act;
    atomic_int next, failed;
    spry_status status; /* of the one that failed first, and its sentence */
    char why[400];
} stage_job;

static void take_stages(void *arg, int share)
{
    stage_job *j = arg;
    int i;

    (void)share;
    while ((i = atomic_fetch_add(&j->next, 1)) < j->e->p->stages) {
        spry_status s = SPRY_OK;

        if (j->e->p->stage[i].kind == SP_STAGE_DENSE)
            s = j->act(j->e, i);
        if (s == SPRY_OK)
            continue;
        if (!atomic_exchange(&j->failed, 1)) {
            j->status = s;
            snprintf(j->why, sizeof j->why, "%s", spry_message());
        }
        return;
    }
}

static spry_status each_stage(spry_executor *e, stage_act *act)
{
    stage_job j = {.e = e, .act = act, .status = SPRY_OK};

    sp_team_run(e->team, take_stages, &j, e->threads);
    return j.status == SPRY_OK ? SPRY_OK : sp_fail(j.status, "%s", j.why);
}

/* ---- plans ---- */

/* Weights for a problem that was made without. */
static spry_status need_weights(spry_executor *e, int i)
{
    sp_stage *stage = &e->p->stage[i];
    spry_status s = sp_stage_fold(e->p, stage);

    if (s == SPRY_OK && stage->op.weights)
        sp_dense_give_weights(e->stage[i].problem, stage->op.weights);
    return s;
}

static spry_status bind_in(spry_executor *e, int i, const char *text,
                           sp_slab *slab)
{
    sp_ready_stage *x = &e->stage[i];
    sp_dense_home home = {.slab = slab};
    spry_plan *plan = NULL;
    spry_status s = SPRY_FAIL;

    if (e->kept)
        home.packed = sp_kept_find(e->kept, i, text, &home.bytes);
    if (home.packed)
        s = sp_dense_plan_in(&plan, x->problem, text, &e->m, &home);
    x->kept = s == SPRY_OK;
    home.packed = NULL;
    if (s != SPRY_OK)
        s = need_weights(e, i);
    if (s == SPRY_OK && !x->kept)
        s = sp_dense_plan_in(&plan, x->problem, text, &e->m, &home);
    if (s != SPRY_OK)
        return s;
    spry_plan_free(x->plan);
    x->plan = plan;
    x->dense = sp_dense_plan_of(plan);
    x->shares = sp_dense_shares(x->dense);
    x->scratch = sp_dense_scratch(x->dense);
    return s;
}

spry_status sp_executor_bind(spry_executor *e, int i, const char *text)
{
    return bind_in(e, i, text, NULL);
}

/* By its task's text; one that is no more than an answer of the store may be
 * of no use here. */
static spry_status bind_stage(spry_executor *e, int i)
{
    const sp_graph_task *t = &e->task[e->stage[i].task];
    spry_status s = bind_in(e, i, t->text, e->p->slab);

    return *t->mark ? SPRY_OK : s;
}

/* ---- tasks ---- */

/* The share of a stage's weights that is not 0. */
static double density_of(const spry_problem *p)
{
    const spry_operator *op = spry_problem_operator(p);
    int64_t count = sp_dense_weights(op);

    if (op->kind == SPRY_LAYERNORM || count == 0)
        return 1;
    return 1 - (double)sp_dense_of(p)->zeros / (double)count;
}

static spry_status open_problem(spry_executor *e, int i)
{
    sp_ready_stage *x = &e->stage[i];
    int64_t zeros = e->kept ? sp_kept_zeros(e->kept, i) : -1;
    spry_status s = zeros < 0 ? sp_stage_fold(e->p, &e->p->stage[i]) : SPRY_OK;

    if (s == SPRY_OK)
        s = zeros < 0
                ? spry_problem_dense(&x->problem, &x->stage->op)
                : sp_dense_problem_bare(&x->problem, &x->stage->op, zeros);
    if (s == SPRY_OK)
        x->density = density_of(x->problem);
    return s;
}

static int find_task(const spry_executor *e, const char *key)
{
    for (int i = 0; i < e->tasks; i++)
        if (strcmp(e->task[i].key, key) == 0)
            return i;
    return -1;
}

/* Tuning without transfer begins from nothing. */
const char *sp_executor_store(const spry_executor *e)
{
    return e->o.transfer || e->o.effort < SPRY_MEASURE ? e->o.store
                                                       : ":memory:";
}

static spry_tune_options predicting(const spry_executor *e, const char *store)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;

    o.effort = SPRY_PREDICT;
    o.threads = e->threads;
    o.store = store;
    o.machine = &e->m;
    return o;
}

/* What the store knows of a task's problem and is right, else what should be
 * fastest. */
static spry_status predict(spry_executor *e, sp_graph_task *t)
{
    const spry_problem *p = e->stage[t->first].problem;
    spry_tune_options o = predicting(e, sp_executor_store(e));
    spry_plan *plan = NULL;
    spry_status s = need_weights(e, t->first);

    if (s != SPRY_OK)
        return s;
    if (sp_family_of(p))
        s = spry_tune(&plan, p, &o);
    else
        s = spry_dense_plan(&plan, p, NULL, &e->m);
    if (s == SPRY_OK) {
        const spry_tuning *story = spry_plan_tuning(plan);

        snprintf(t->text, sizeof t->text, "%s", plan->text);
        t->stale = story && story->looked_up;
    }
    spry_plan_free(plan);
    return s;
}

int sp_executor_guesses(spry_candidate *out, int most, const spry_executor *e,
                        int task)
{
    const spry_problem *p = e->stage[e->task[task].first].problem;
    spry_tune_options o = predicting(e, ":memory:");
    int count = 0;

    if (sp_family_of(p) && spry_propose(out, &count, most, p, &o) != SPRY_OK)
        count = 0;
    return count;
}

/* Stage i is of a task that is known, or of a new one. */
static spry_status join_task(spry_executor *e, int i)
{
    sp_ready_stage *x = &e->stage[i];
    sp_graph_task *t;

    x->task = find_task(e, spry_problem_key(x->problem));
    if (x->task >= 0) {
        e->task[x->task].weight++;
        return SPRY_OK;
    }
    x->task = e->tasks++;
    t = &e->task[x->task];
    t->key = spry_problem_key(x->problem);
    t->first = i;
    t->weight = 1;
    if (sp_answers_find(t->text, t->mark, e->known, x->problem, &e->m) &&
        *t->mark)
        return SPRY_OK;
    *t->mark = 0;
    return predict(e, t);
}

static spry_status set_tasks(spry_executor *e)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < e->p->stages; i++)
        if (e->stage[i].problem)
            s = join_task(e, i);
    return s;
}

/* Was the answer found by other kernels than these? */
static int is_strange(const spry_executor *e, const sp_graph_task *t)
{
    const spry_plan *plan = e->stage[t->first].plan;
    char mark[SP_KERNEL_MARK];

    if (!*t->mark)
        return 0;
    if (!plan)
        return 1;
    sp_kernel_mark(mark, plan);
    return strcmp(mark, t->mark) != 0;
}

/* What is strange is chosen anew. */
static spry_status settle_task(spry_executor *e, int task)
{
    sp_graph_task *t = &e->task[task];
    int strange = is_strange(e, t);
    spry_status s = SPRY_OK;

    if (strange)
        s = predict(e, t);
    for (int i = 0; s == SPRY_OK && i < e->p->stages; i++)
        if (e->stage[i].task == task && (strange || !e->stage[i].plan))
            s = sp_executor_bind(e, i, t->text);
    return s;
}

/* Answers that were looked at once more need not be again. */
static void renew_answers(const spry_executor *e)
{
    for (int i = 0; i < e->tasks; i++)
        if (e->task[i].stale)
            sp_answers_renew(e->known, e->stage[e->task[i].first].plan, &e->m);
}

spry_status sp_executor_choose(spry_executor *e)
{
    spry_status s;

    e->stage = sp_alloc(e->p->stages + 1, sizeof *e->stage);
    e->task = sp_alloc(e->p->stages + 1, sizeof *e->task);
    if (!e->stage || !e->task)
        return sp_fail_memory((size_t)e->p->stages * sizeof *e->task);
    for (int i = 0; i < e->p->stages; i++) {
        e->stage[i].stage = &e->p->stage[i];
        e->stage[i].density = 1;
        e->stage[i].task = -1;
        e->stage[i].shares = 1;
    }
    s = each_stage(e, open_problem);
    if (s == SPRY_OK)
        s = set_tasks(e);
    if (s == SPRY_OK)
        s = each_stage(e, bind_stage);
    for (int i = 0; s == SPRY_OK && i < e->tasks; i++)
        s = settle_task(e, i);
    if (s == SPRY_OK)
        renew_answers(e);
    return s;
}
