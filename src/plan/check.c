/* check.c - a plan and an oracle to a verdict.
 *
 * The kernel runs at least four times, each time into a C that holds
 * something else: into NaN, so that what is not written shows; onto its own
 * integer results with beta, so that what is written twice or by two threads
 * shows, in every row; and on real numbers. The margins of C must stay as
 * they are. A race need not show every time: where a run is short there are
 * several laps, and one in which threads run their shares over and over.
 * Kernels that pad are asked whether they notice results that are not finite,
 * since the runner relies on their word. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "matrix/matrix.h"
#include "plan/internal.h"

/* The integer runs, one after the other into the same C, which begins as
 * NaN and then is `factor` A B. What is asked for most comes first: kernels
 * may be special there. After it no factor is 1 and nothing is a fixed point,
 * so what is left out or done twice does not come out right. */
static const struct {
    double alpha, beta, factor;
} runs[] = {{1, 0, 1}, {-1, 3, 2}, {-2, 0, -2}};
enum { RUNS = sizeof runs / sizeof runs[0] };

/* A run of fewer terms is short. */
static const double SHORT_TERMS = 2e5;
enum { LAPS = 2, PROBES = 8 };

/* So many terms take about half a millisecond, in which threads may meet. */
static const double CROWD_TERMS = 1e6;

int sp_check_is_short(const sp_sparse *p)
{
    return ((double)p->A->nnz + (double)p->A->rows) * (double)p->n <
           SHORT_TERMS;
}

/* ---- comparing ---- */

static spry_status differ(const sp_sparse_plan *plan, int64_t i, int64_t j,
                          double got, double want)
{
    return sp_fail(SPRY_WRONG,
                   "%s: result %lld of row %lld is %.9g, should be %.9g",
                   plan->head.text, (long long)j, (long long)i, got, want);
}

/* Equal within slack; NaN agrees with NaN, an infinity with itself. */
static int agree(double got, double want, double slack)
{
    if (isnan(want))
        return isnan(got);
    return got == want || fabs(got - want) <= slack;
}

/* What the plan made of an answer of the s-th chosen row. */
static double answer(const sp_oracle *o, int64_t s, int64_t k)
{
    return sp_dense_get(o->p, o->C,
                        sp_result_place(o->p, o->row[s], k - o->first[s]));
}

/* The first answer of the s-th chosen row that is wrong, -1: none. */
static int64_t first_wrong(const sp_oracle *o, int64_t s, const double *want,
                           const double *slack, double scale)
{
    for (int64_t k = o->first[s]; k < o->first[s + 1]; k++)
        if (!agree(answer(o, s, k), scale * want[k], slack ? slack[k] : 0))
            return k;
    return -1;
}

/* The chosen rows against `scale` times the answers. */
static spry_status compare(const sp_oracle *o, const sp_sparse_plan *plan,
                           const double *want, const double *slack,
                           double scale)
{
    int64_t first = o->rows, k;

#pragma omp parallel for schedule(static) reduction(min : first)
    for (int64_t s = 0; s < o->rows; s++)
        if (s < first && first_wrong(o, s, want, slack, scale) >= 0)
            first = s;
    if (first == o->rows)
        return SPRY_OK;
    k = first_wrong(o, first, want, slack, scale);
    return differ(plan, o->row[first], k - o->first[first], answer(o, first, k),
                  scale * want[k]);
}

/* All the other rows of an integer result. */
static spry_status compare_rest(const sp_oracle *o, const sp_sparse_plan *plan,
                                double scale)
{
    const sp_sparse *p = o->p;
    int64_t wrong = -1;

    if (o->Ar) {
#pragma omp parallel for schedule(static) reduction(max : wrong)
        for (int64_t i = 0; i < p->A->rows; i++)
            if (!(sp_oracle_times_r(o, o->C, p->A->rows, i) ==
                  scale * o->Ar[i]))
                wrong = i > wrong ? i : wrong;
    } else if (o->all) {
#pragma omp parallel for schedule(static) reduction(max : wrong)
        for (int64_t k = 0; k < p->A->nnz; k++)
            if (!(sp_dense_get(p, o->C, k) ==
                  scale * sp_dense_get(p, o->all, k)))
                wrong = k > wrong ? k : wrong;
    }
    return wrong < 0
               ? SPRY_OK
               : sp_fail(SPRY_WRONG, "%s: %s %lld is wrong", plan->head.text,
                         o->Ar ? "row" : "result", (long long)wrong);
}

/* ---- the margins of C ---- */

static void fill_margins(const sp_oracle *o)
{
    size_t bytes = (size_t)o->margin * o->p->type;
    size_t results = (size_t)sp_sparse_output_size(o->p) * o->p->type;

    memset((char *)o->C - bytes, 0x5a, bytes);
    memset((char *)o->C + results, 0x5a, bytes);
}

static spry_status compare_margins(const sp_oracle *o,
                                   const sp_sparse_plan *plan)
{
    int64_t bytes = o->margin * (int64_t)o->p->type;
    const char *behind =
        (const char *)o->C + sp_sparse_output_size(o->p) * o->p->type;

    for (int64_t k = 0; k < bytes; k++)
        if (behind[k] != 0x5a || ((const char *)o->C - bytes)[k] != 0x5a)
            return sp_fail(SPRY_WRONG, "%s: writes %s its results",
                           plan->head.text,
                           behind[k] != 0x5a ? "behind" : "before");
    return SPRY_OK;
}

/* ---- the integer question ---- */

/* part[] with every stored value mapped to an integer. */
static spry_status integer_parts(sp_packed *k, const sp_sparse_plan *plan)
{
    spry_status s = SPRY_OK;

    *k = *plan->packed;
    k->part = sp_alloc(k->parts, sizeof *k->part);
    if (!k->part)
        return sp_fail_memory(sizeof *k->part);
    for (int i = 0; i < k->parts; i++) {
        const sp_part *q = &plan->packed->part[i];
        int64_t count = q->values + k->spare;
        void *val = sp_alloc_raw(count, plan->p->type);

        k->part[i] = *q;
        k->part[i].val = val;
        if (!val)
            s = sp_fail_memory((size_t)count * plan->p->type);
#pragma omp parallel for schedule(static)
        for (int64_t j = 0; j < count; j++)
            if (val)
                sp_dense_put(plan->p, val, j,
                             sp_to_integer(sp_dense_get(plan->p, q->val, j)));
    }
    return s;
}

static void free_parts(sp_packed *k)
{
    for (int i = 0; k->part && i < k->parts; i++)
        sp_free(k->part[i].val);
    sp_free(k->part);
}

/* Fill C with NaN. */
static void forget_results(const sp_oracle *o)
{
    enum { CHUNK = 1 << 20 };
    int64_t bytes = sp_sparse_output_size(o->p) * (int64_t)o->p->type;

#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < bytes; at += CHUNK)
        memset((char *)o->C + at, 0xff,
               (size_t)(bytes - at < CHUNK ? bytes - at : CHUNK));
}

/* The i-th of the runs; the first begins with NaN, since unwritten results
 * must not pass for right ones. */
static spry_status run_integers(const sp_oracle *o, const sp_sparse_plan *plan,
                                int i, double (*clock)(void), double *seconds)
{
    double begun;
    spry_status s;

    if (i == 0)
        forget_results(o);
    begun = clock();
    s = sp_sparse_run(
        plan, (sp_operands){runs[i].alpha, runs[i].beta, o->B, o->D, o->C});
    *seconds = clock() - begun;
    if (s == SPRY_OK)
        s = compare(o, plan, o->exact, NULL, runs[i].factor);
    if (s == SPRY_OK)
        s = compare_rest(o, plan, runs[i].factor);
    return s;
}

static spry_status one_lap(const sp_oracle *o, const sp_sparse_plan *plan)
{
    double seconds;
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < RUNS; i++)
        s = run_integers(o, plan, i, sp_seconds, &seconds);
    return s;
}

/* How often results may be added up and stay exact in 24 bits. */
static double most_times(const sp_sparse *p)
{
    int64_t longest = p->n;

    for (int64_t i = 0; i < p->A->rows; i++)
        if (p->A->start[i + 1] - p->A->start[i] > longest)
            longest = p->A->start[i + 1] - p->A->start[i];
    return 0x1p24 / (16 * ((double)longest + 1));
}

/* Short shares, run over and over side by side, each time on top of what is
 * there: what goes wrong once, when threads meet, stays wrong. */
static spry_status check_crowd(const sp_oracle *o, const sp_sparse_plan *plan)
{
    double terms =
        ((double)o->p->A->nnz + (double)o->p->A->rows) * (double)o->p->n;
    int times = (int)fmin(2 + CROWD_TERMS / (terms + 1000), most_times(o->p));

    if (plan->x.threads == 1 || !sp_run_has_shares(plan) ||
        !sp_check_is_short(o->p) || o->p->layout == SPRY_COL_MAJOR)
        return SPRY_OK;
    memset(o->C, 0, (size_t)sp_sparse_output_size(o->p) * (size_t)o->p->type);
    sp_run_crowded(plan, (sp_operands){1, 1, o->B, o->D, o->C}, times);
    return compare(o, plan, o->exact, NULL, times);
}

static int has_bad_result(const sp_oracle *o)
{
    int64_t count = sp_sparse_output_size(o->p);

    for (int64_t k = 0; k < count; k++)
        if (!isfinite(sp_dense_get(o->p, o->C, k)))
            return 1;
    return 0;
}

/* With a NaN somewhere in B, the kernel must say so if it got anywhere. */
static spry_status check_watch(const sp_oracle *o, const sp_sparse_plan *plan)
{
    const spry_matrix *A = o->p->A;
    sp_rng rng = sp_rng_seed(o->seed ^ 0xbad);
    sp_operands f = {1, 0, o->B, o->D, o->C};
    int probes = sp_check_is_short(o->p) ? PROBES : 1;

    if (!plan->packed->pads || sp_two_operands(o->p) || A->nnz == 0 ||
        o->p->n == 0)
        return SPRY_OK;
    for (int i = 0; i < probes; i++) {
        int64_t entry = (int64_t)sp_rng_below(&rng, (uint64_t)A->nnz);
        int64_t at = sp_col(A, entry) * o->p->n +
                     (int64_t)sp_rng_below(&rng, (uint64_t)o->p->n);
        double kept = sp_dense_get(o->p, o->B, at);
        spry_status s;
        int told;

        sp_dense_put(o->p, o->B, at, (double)NAN);
        s = sp_run_kernel(plan, f, &told);
        sp_dense_put(o->p, o->B, at, kept);
        if (s != SPRY_OK)
            return s;
        if (!told && has_bad_result(o))
            return sp_fail(SPRY_WRONG, "%s: a NaN passes unnoticed",
                           plan->head.text);
    }
    return SPRY_OK;
}

/* Of blocks and a rest only the blocks are padded, and only they watch. */
static spry_status check_blocks(const sp_oracle *o, const sp_sparse_plan *plan)
{
    sp_packed blocks = *plan->packed;
    sp_sparse_plan alone = *plan;

    blocks.parts = 1;
    alone.packed = &blocks;
    return check_watch(o, &alone);
}

static spry_status check_integers(const sp_oracle *o,
                                  const sp_sparse_plan *plan)
{
    sp_packed k;
    sp_sparse_plan whole = *plan;
    spry_status s = integer_parts(&k, plan);
    int laps = plan->x.threads > 1 && sp_check_is_short(o->p) ? LAPS : 1;

    whole.packed = &k;
    for (int lap = 0; s == SPRY_OK && lap < laps; lap++)
        s = one_lap(o, &whole);
    if (s == SPRY_OK)
        s = check_crowd(o, &whole);
    if (s == SPRY_OK && plan->x.rest)
        s = check_blocks(o, &whole);
    else if (s == SPRY_OK)
        s = check_watch(o, &whole);
    free_parts(&k);
    return s;
}

/* ---- the real question ---- */

static spry_status check_reals(const sp_oracle *o, const sp_sparse_plan *plan)
{
    spry_status s = sp_oracle_fill(o);

    if (s == SPRY_OK)
        s = sp_sparse_run(plan,
                          (sp_operands){SP_ALPHA, SP_BETA, o->B, o->D, o->C});
    return s == SPRY_OK ? compare(o, plan, o->real, o->slack, 1) : s;
}

spry_status sp_oracle_check(const sp_oracle *o, const sp_sparse_plan *plan)
{
    spry_status s;

    fill_margins(o);
    s = check_integers(o, plan);
    if (s == SPRY_OK)
        s = check_reals(o, plan);
    return s == SPRY_OK ? compare_margins(o, plan) : s;
}

spry_status sp_oracle_try(const sp_oracle *o, const sp_sparse_plan *plan,
                          double (*clock)(void), double *seconds)
{
    sp_packed k;
    sp_sparse_plan whole = *plan;
    spry_status s = integer_parts(&k, plan);

    whole.packed = &k;
    if (s == SPRY_OK) {
        fill_margins(o);
        s = run_integers(o, &whole, 0, clock, seconds);
    }
    free_parts(&k);
    return s == SPRY_OK ? compare_margins(o, plan) : s;
}

spry_status sp_oracle_glance(const sp_oracle *o, const sp_sparse_plan *plan)
{
    return check_reals(o, plan);
}
