/* family.c - dense operators, as the tuner's table has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "dense/check.h"
#include "dense/learned.h"

/* ---- ways to compute them ---- */

static sp_proposal proposal(const sp_dense_way *x, double predicted)
{
    sp_proposal out = {.threads = x->threads, .predicted = predicted};

    sp_dense_way_text(out.text, x);
    return out;
}

static int baselines(sp_proposal *out, const spry_problem *p,
                     const spry_machine *m)
{
    sp_dense_way x = {.algorithm = SP_PLAIN, .mr = 1, .v = 1, .threads = 1};

    (void)p;
    out[0] = proposal(&x, 0);
    x.threads = m->threads;
    if (m->threads > 1)
        out[1] = proposal(&x, 0);
    return m->threads > 1 ? 2 : 1;
}

static double estimate(const spry_problem *problem, const char *text,
                       const spry_machine *m)
{
    const sp_dense_problem *p = sp_dense_of(problem);
    sp_dense_way x;

    return sp_dense_way_parse(&x, text) == SPRY_OK &&
                   sp_dense_way_legal(p, &x, m) == SPRY_OK
               ? sp_dense_predict(p, &x, m)
               : HUGE_VAL;
}

static double least(const spry_problem *p, const spry_machine *m)
{
    return sp_dense_least(sp_dense_of(p), m);
}

static spry_status make(spry_plan **out, const spry_problem *p,
                        const char *text, const spry_machine *m, void *tools)
{
    (void)tools;
    return spry_dense_plan(out, p, text, m);
}

/* ---- oracles ---- */

static spry_status ask(void **oracle, const spry_problem *p, uint64_t seed,
                       sp_purpose purpose)
{
    sp_dense_oracle *o = NULL;
    spry_status s =
        sp_dense_oracle_make(&o, sp_dense_of(p), seed, purpose != SP_TO_CHECK);

    *oracle = o;
    return s;
}

static spry_status check(const void *oracle, const spry_plan *plan)
{
    return sp_dense_oracle_check(oracle, sp_dense_plan_of(plan));
}

static spry_status try_once(const void *oracle, const spry_plan *plan,
                            double (*clock)(void), double *seconds)
{
    return sp_dense_oracle_try(oracle, sp_dense_plan_of(plan), clock, seconds);
}

static spry_status glance(const void *oracle, const spry_plan *plan)
{
    double seconds;

    return sp_dense_oracle_try(oracle, sp_dense_plan_of(plan), sp_seconds,
                               &seconds);
}

static int checks_fast(const spry_problem *p)
{
    return spry_problem_flops(p) < 1e7;
}

static void run(const void *oracle, const spry_plan *plan)
{
    sp_dense_oracle_run(oracle, sp_dense_plan_of(plan));
}

static void forget(void *oracle)
{
    sp_dense_oracle_free(oracle);
}

/* ---- advisers ---- */

enum { FEW = 16, MANY = 64, GENERATION = 8 };

typedef struct {
    sp_adviser head;
    sp_inquiry q;
    const sp_dense_problem *p;
    sp_proposal *list; /* all ways, fastest guess first */
    sp_dense_way *way;
    int count;
} adviser;

static int by_seconds(const void *a, const void *b)
{
    double x = ((const sp_proposal *)a)->predicted;
    double y = ((const sp_proposal *)b)->predicted;

    return (x > y) - (x < y);
}

static void dismiss(sp_adviser *head)
{
    adviser *a = (adviser *)head;

    if (a) {
        sp_free(a->list);
        sp_free(a->way);
    }
    sp_free(a);
}

static spry_status list_ways(adviser *a)
{
    sp_dense_way *way;
    double *seconds;
    spry_status s = sp_dense_ways(&way, &a->count, a->p, a->q.m);

    if (s != SPRY_OK)
        return s;
    a->list = sp_alloc(a->count, sizeof *a->list);
    seconds = sp_alloc(a->count, sizeof *seconds);
    if (a->list && seconds) {
        snprintf(a->head.who, sizeof a->head.who, "%s",
                 sp_dense_expect(seconds, a->p, way, a->count, a->q.m));
        for (int i = 0; i < a->count; i++)
            a->list[i] = proposal(&way[i], seconds[i]);
    }
    sp_free(way);
    sp_free(seconds);
    if (!a->list || !seconds)
        return sp_fail_memory((size_t)a->count * sizeof *a->list);
    qsort(a->list, (size_t)a->count, sizeof *a->list, by_seconds);
    return SPRY_OK;
}

static spry_status consult(sp_adviser **out, const sp_inquiry *q)
{
    adviser *a = sp_alloc(1, sizeof *a);
    spry_status s;

    *out = NULL;
    if (!a)
        return sp_fail_memory(sizeof *a);
    a->q = *q;
    a->p = sp_dense_of(q->p);
    a->head.seconds = q->seconds > 0 ? q->seconds : 3;
    s = list_ways(a);
    if (s == SPRY_OK)
        *out = &a->head;
    else
        dismiss(&a->head);
    return s;
}

/* As the list has it; what is not in it is estimated. */
static double predicted(const adviser *a, const char *text)
{
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->list[i].text, text) == 0)
            return a->list[i].predicted;
    return estimate(a->q.p, text, a->q.m);
}

static void predict(sp_adviser *head, sp_proposal *x, int n)
{
    adviser *a = (adviser *)head;
    sp_dense_way way;

    for (int i = 0; i < n; i++) {
        x[i].predicted = predicted(a, x[i].text);
        if (sp_dense_way_parse(&way, x[i].text) == SPRY_OK)
            x[i].threads = way.threads;
    }
}

static int failed(const adviser *a, const char *text)
{
    for (int i = 0; i < a->q.history->failures; i++)
        if (strcmp(a->q.history->failed[i], text) == 0)
            return 1;
    return 0;
}

/* The best guess of every algorithm, in order: with little time they are the
 * race. */
static void propose_first(const adviser *a, sp_proposals *l)
{
    int seen[SP_ALGORITHMS] = {0};
    sp_dense_way x;

    for (int i = 0; i < a->count; i++)
        if (a->list[i].predicted < 4 * a->list[0].predicted &&
            !failed(a, a->list[i].text) &&
            sp_dense_way_parse(&x, a->list[i].text) == SPRY_OK &&
            !seen[x.algorithm]++)
            (void)sp_proposals_add(l, &a->list[i]);
}

/* The best guesses; of every algorithm some, since guesses between them are
 * the least sure. */
static spry_status propose(sp_adviser *head, sp_proposals *l)
{
    adviser *a = (adviser *)head;
    int most = a->q.patient ? MANY : FEW, added = 0;
    int of[SP_ALGORITHMS] = {0};
    sp_dense_way x;

    propose_first(a, l);
    for (int i = 0; i < a->count && added < most; i++) {
        if (failed(a, a->list[i].text) ||
            sp_dense_way_parse(&x, a->list[i].text) != SPRY_OK)
            continue;
        if (of[x.algorithm]++ < most * 3 / 4)
            added += sp_proposals_add(l, &a->list[i]);
    }
    for (int i = 0; i < a->count; i++)
        if (!failed(a, a->list[i].text) &&
            sp_dense_way_parse(&x, a->list[i].text) == SPRY_OK &&
            of[x.algorithm] < 3) {
            of[x.algorithm]++;
            (void)sp_proposals_add(l, &a->list[i]);
        }
    return SPRY_OK;
}

/* Are the blocks cut for as much of a cache? Those of sparse ways are whole
 * sixteens of columns, and the wider the vectors the fewer. */
static int alike_blocks(const sp_dense_way *x, const sp_dense_way *y)
{
    if (x->algorithm != SP_PRUNED || x->block == 0 || y->block == 0)
        return x->block == y->block;
    return x->block * x->v < (y->block + 16) * y->v &&
           y->block * y->v < (x->block + 16) * x->v;
}

/* In how many things they differ. */
static int distance(const sp_dense_way *x, const sp_dense_way *y)
{
    return 4 * (x->algorithm != y->algorithm) +
           (x->v != y->v || x->mr != y->mr) + !alike_blocks(x, y) +
           (x->channels != y->channels || x->threads != y->threads);
}

static spry_status around(sp_adviser *head, sp_proposals *l,
                          const sp_proposal *leader, int leaders)
{
    adviser *a = (adviser *)head;
    int added = 0;

    for (int k = 0; k < leaders; k++) {
        sp_dense_way from, x;

        if (sp_dense_way_parse(&from, leader[k].text) != SPRY_OK)
            continue;
        for (int i = 0; i < a->count && added < GENERATION; i++)
            if (sp_dense_way_parse(&x, a->list[i].text) == SPRY_OK &&
                distance(&from, &x) == 1 && !failed(a, a->list[i].text))
                added += sp_proposals_add(l, &a->list[i]);
    }
    return SPRY_OK;
}

static int choose(sp_adviser *head, const sp_proposal *x, int n, int plains)
{
    int best = 0;

    (void)head;
    (void)plains;
    for (int i = 1; i < n; i++)
        if (x[i].predicted < x[best].predicted)
            best = i;
    return best;
}

const sp_family sp_family_dense = {.name = "dense",
                                   .kind = &sp_dense_kind,
                                   .least = least,
                                   .baselines = baselines,
                                   .estimate = estimate,
                                   .make = make,
                                   .ask = ask,
                                   .check = check,
                                   .try_once = try_once,
                                   .glance = glance,
                                   .checks_fast = checks_fast,
                                   .run = run,
                                   .forget = forget,
                                   .can_search = sp_search_all,
                                   .consult = consult,
                                   .predict = predict,
                                   .propose = propose,
                                   .around = around,
                                   .choose = choose,
                                   .dismiss = dismiss};
