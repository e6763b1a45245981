/* contest.c - a tuned plan and the plain loop, on the same operands, in turn.
 *
 * Both read and write the same dense arrays; caches stay warm for both. */
#include "contest.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "baseline.h"
#include "matrix/matrix.h"
#include "problem/problem.h"

enum { PAIRS = 31, LONG = 4 };        /* a doubtful race lasts so much longer */
static const double RACE_SHARE = 0.4; /* of the budget for tuning */

spry_status bench_problem(spry_problem **out, const spry_matrix *A,
                          const bench_case *c)
{
    if (c->op == SPRY_SPMV)
        return spry_problem_spmv(out, A, c->type);
    if (c->op == SPRY_SPMM)
        return spry_problem_spmm(out, A, c->n, c->type);
    return spry_problem_sddmm(out, A, c->n, c->type);
}

/* ---- the baseline's own copy of the matrix ---- */

static void free_baseline(bench_baseline *b)
{
    sp_free(b->start);
    sp_free(b->col);
    sp_free(b->val);
    sp_free(b->cut);
}

/* Rows where each thread's share of the nonzeros begins. */
static void cut_rows(bench_baseline *b, const spry_matrix *A)
{
    int64_t row = 0;

    for (int t = 0; t < b->threads; t++) {
        while (row < A->rows && A->start[row] < A->nnz / b->threads * t)
            row++;
        b->cut[t] = row;
    }
    b->cut[b->threads] = A->rows;
}

static spry_status make_baseline(bench_baseline *b, const spry_problem *p,
                                 int threads)
{
    const spry_matrix *A = p->A;

    *b = (bench_baseline){p->op, p->type, A->rows, p->n, .threads = threads};
    b->start = sp_alloc_raw(A->rows + 1, sizeof *b->start);
    b->col = sp_alloc_raw(A->nnz, sizeof *b->col);
    b->val = sp_alloc_raw(A->nnz, p->type);
    b->cut = sp_alloc_raw(threads + 1, sizeof *b->cut);
    if (!b->start || !b->col || !b->val || !b->cut)
        return sp_fail_memory((size_t)A->nnz * 8);
    for (int64_t i = 0; i <= A->rows; i++)
        b->start[i] = (int32_t)A->start[i];
    for (int64_t k = 0; k < A->nnz; k++) {
        b->col[k] = (int32_t)sp_col(A, k);
        sp_dense_put(p, b->val, k, sp_val(A, k));
    }
    cut_rows(b, A);
    return SPRY_OK;
}

/* ---- dense operands ---- */

static void *random_operand(const spry_problem *p, int which)
{
    int64_t count = spry_problem_input_size(p, which);
    void *X = sp_alloc_raw(count, p->type);
    sp_rng r = sp_rng_seed((uint64_t)which);

    for (int64_t k = 0; X && k < count; k++)
        sp_dense_put(p, X, k, 2 * sp_rng_unit(&r) - 1);
    return X;
}

typedef struct {
    const spry_plan *plan;
    const void *B, *D;
    void *C;
} runner;

static void run_plan(void *ctx)
{
    const runner *r = ctx;

    (void)spry_run_scaled(r->plan, 1, r->B, r->D, 0, r->C);
}

/* ---- the race ---- */

/* base's time / ours, pair by pair. */
static sp_interval compare(const sp_racer *base, const sp_racer *ours)
{
    double ratio[SP_RACE_PAIRS];
    int n = base->pairs < ours->pairs ? base->pairs : ours->pairs;
    sp_interval v;

    for (int k = 0; k < n; k++)
        ratio[k] = log(base->samples[k] / ours->samples[k]);
    v = sp_median_interval(ratio, n);
    return (sp_interval){exp(v.mid), exp(v.low), exp(v.high)};
}

static spry_status race(sp_interval *out, bench_baseline *b, runner *r,
                        double seconds)
{
    static sp_racer racer[3];
    sp_contestant c[3] = {
        {bench_serial, b}, {run_plan, r}, {bench_parallel, b}};
    sp_race_options o = SP_RACE_DEFAULTS;
    int n = b->threads > 1 ? 3 : 2, base = 0;
    spry_status s;

    o.pairs = PAIRS;
    o.seconds = seconds;
    o.precision = 0.01;
    s = sp_race(racer, c, n, &o);
    if (n == 3 && racer[2].seconds < racer[0].seconds)
        base = 2;
    if (s == SPRY_OK)
        *out = compare(&racer[base], &racer[1]);
    return s;
}

static spry_status race_plan(bench_result *out, const spry_plan *plan,
                             int threads, double seconds, double doubt)
{
    const spry_problem *p = spry_plan_problem(plan);
    runner r = {plan, random_operand(p, 0), random_operand(p, 1),
                sp_alloc(spry_problem_output_size(p), p->type)};
    bench_baseline b;
    spry_status s = make_baseline(&b, p, threads);

    b.B = r.B;
    b.D = r.D;
    b.C = r.C;
    if (s == SPRY_OK && (!r.B || !r.D || !r.C))
        s = sp_fail_memory(0);
    if (s == SPRY_OK)
        s = race(&out->ratio, &b, &r, seconds);
    if (s == SPRY_OK && out->ratio.mid < doubt)
        s = race(&out->ratio, &b, &r, LONG * seconds);
    free_baseline(&b);
    sp_free((void *)(uintptr_t)r.B);
    sp_free((void *)(uintptr_t)r.D);
    sp_free(r.C);
    return s;
}

spry_status bench_contest(bench_result *out, const spry_matrix *A,
                          const bench_case *c, const spry_machine *m,
                          double budget, double doubt)
{
    spry_tune_options opt = SPRY_TUNE_DEFAULTS;
    spry_machine here = *m;
    spry_problem *p;
    spry_plan *plan = NULL;
    spry_status s = bench_problem(&p, A, c);

    if (s != SPRY_OK)
        return s;
    opt.seconds = budget;
    opt.threads = c->threads;
    opt.store = ":memory:";
    opt.machine = &here;
    s = spry_tune(&plan, p, &opt);
    if (s == SPRY_OK) {
        snprintf(out->schedule, sizeof out->schedule, "%s",
                 spry_plan_text(plan));
        s = race_plan(out, plan, c->threads, RACE_SHARE * budget, doubt);
    }
    spry_plan_free(plan);
    spry_problem_free(p);
    return s;
}
