/* oracle.c - right answers to hold plans against.
 *
 * Two questions. With small integers every sum is exact in any order, so a
 * right kernel agrees bit for bit: A's values are mapped to integers, in the
 * packed storage and in the reference alike. With real numbers it stays
 * inside the error bound of a sum,
 *     |y' - y| <= 2 g (|alpha| |A| |x| + |beta| |y0|),  g = k u / (1 - k u).
 * All rows are compared while that is cheap, a sample of them beyond; then
 * Freivalds' test, C r = A (B r) with a random integer r, covers the rest of
 * the integer results. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "plan/plan.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "matrix/matrix.h"

/* Terms the reference may sum, per question. */
static const double MOST_TERMS = 2e6;

struct sp_oracle {
    const spry_problem *p;
    void *B, *D;    /* small integers, for both questions */
    void *C;        /* results of the plan being checked */
    int64_t rows;   /* compared one by one */
    int64_t *row;   /* [rows] */
    int64_t *first; /* [rows + 1] their first answer */
    double *exact;  /* answers to the integer question */
    double *real;   /* answers to the real one, */
    double *slack;  /* and how far off they may be */
    double *r, *Ar; /* Freivalds: [n], [rows of A]; NULL: not needed */
};

static const double ALPHA = 0.75, BETA = -1.5;

/* Small integers, zero only for zero: padding stays what it is. */
static double to_integer(double v)
{
    uint64_t bits;

    if (v == 0)
        return 0;
    memcpy(&bits, &v, sizeof bits);
    bits ^= bits >> 29;
    return (bits % 3 == 0 ? 2 : 1) * (v < 0 ? -1 : 1);
}

/* Dense arrays may be far larger than the matrix, so they repeat a random
 * sequence. Its prime length keeps rows of any width apart. */
enum { PERIOD = 65537 };

static void repeat(const spry_problem *p, void *X, int64_t count,
                   const void *period)
{
    size_t bytes = PERIOD * (size_t)p->type;
    int64_t whole = count / PERIOD;

#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i <= whole; i++)
        memcpy((char *)X + (size_t)i * bytes, period,
               i < whole ? bytes
                         : (size_t)(count - whole * PERIOD) * (size_t)p->type);
}

/* What C holds before a run with beta. */
static double before(int64_t k)
{
    return (double)(k % PERIOD % 17 - 8) * 0.125;
}

static spry_status fill_before(const spry_problem *p, void *C, int64_t count)
{
    void *period = sp_alloc_raw(PERIOD, p->type);

    if (!period)
        return sp_fail_memory(PERIOD * (size_t)p->type);
    for (int64_t k = 0; k < PERIOD; k++)
        sp_dense_put(p, period, k, before(k));
    repeat(p, C, count, period);
    sp_free(period);
    return SPRY_OK;
}

static void *random_dense(const spry_problem *p, int64_t count, sp_rng *r)
{
    void *X = sp_alloc_raw(count, p->type);
    void *period = sp_alloc_raw(PERIOD, p->type);

    for (int64_t k = 0; period && k < PERIOD; k++)
        sp_dense_put(p, period, k, (double)sp_rng_below(r, 5) - 2);
    if (X && period)
        repeat(p, X, count, period);
    else {
        sp_free(X);
        X = NULL;
    }
    sp_free(period);
    return X;
}

/* Results lie in shared memory: children that run plans one after the other
 * write the same pages, and the system need not find them new ones. */
static void *shared_results(int64_t count, spry_type type)
{
    void *C = mmap(NULL, (size_t)(count + 1) * type, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return C == MAP_FAILED ? NULL : C;
}

static spry_status make_operands(sp_oracle *o, uint64_t seed)
{
    const spry_problem *p = o->p;
    int64_t b = spry_problem_input_size(p, 0), c = spry_problem_output_size(p);
    int64_t d = spry_problem_input_size(p, 1);
    sp_rng r = sp_rng_seed(seed);

    o->B = random_dense(p, b, &r);
    o->D = random_dense(p, d, &r);
    o->C = shared_results(c, p->type);
    if (!o->B || !o->D || !o->C)
        return sp_fail_memory((size_t)(b + d + c) * p->type);
    return SPRY_OK;
}

static double row_terms(const spry_problem *p, int64_t i)
{
    return (double)(p->A->start[i + 1] - p->A->start[i] + 1) * (double)p->n;
}

/* All rows, or an even sample, always with the first, last and longest. */
static spry_status choose_rows(sp_oracle *o)
{
    const spry_matrix *A = o->p->A;
    double terms = ((double)A->nnz + (double)A->rows) * (double)o->p->n;
    double keep = terms > MOST_TERMS ? MOST_TERMS / terms : 1, due = 0;
    int64_t longest = 0;

    o->row = sp_alloc_raw(A->rows + 1, sizeof *o->row);
    if (!o->row)
        return sp_fail_memory((size_t)A->rows * sizeof *o->row);
    for (int64_t i = 0; i < A->rows; i++)
        if (row_terms(o->p, i) > row_terms(o->p, longest))
            longest = i;
    for (int64_t i = 0; i < A->rows; i++) {
        due += keep;
        if (keep == 1 || due >= 1 || i == longest || i == 0 ||
            i == A->rows - 1) {
            o->row[o->rows++] = i;
            due -= due >= 1;
        }
    }
    return SPRY_OK;
}

static double slack_of(const spry_problem *p, int64_t i, double magnitude)
{
    double u = p->type == SPRY_F32 ? 0x1p-24 : 0x1p-53;
    int64_t sum =
        p->op == SPRY_SDDMM ? p->n : p->A->start[i + 1] - p->A->start[i];
    double terms = (double)sum + (p->op == SPRY_MTTKRP ? 4 : 3);
    double tiny = p->type == SPRY_F32 ? 0x1p-126 : 0x1p-1022;

    return 2 * terms * u / (1 - terms * u) * magnitude + tiny;
}

static void answer_row(sp_oracle *o, int64_t s)
{
    const spry_problem *p = o->p;
    int64_t i = o->row[s];
    sp_operands whole = {1, 0, o->B, o->D, NULL};
    sp_operands real = {ALPHA, 0, o->B, o->D, NULL};

    for (int64_t j = 0; j < sp_result_width(p, i); j++) {
        int64_t k = o->first[s] + j;
        double old = BETA * before(sp_result_place(p, i, j));
        long double magnitude;

        o->exact[k] =
            (double)sp_reference_one(p, i, j, to_integer, &whole, NULL);
        o->real[k] =
            (double)(sp_reference_one(p, i, j, NULL, &real, &magnitude) +
                     (long double)old);
        o->slack[k] = slack_of(p, i, (double)magnitude + fabs(old));
    }
}

static spry_status make_answers(sp_oracle *o)
{
    int64_t count = 0;

    o->first = sp_alloc_raw(o->rows + 1, sizeof *o->first);
    if (!o->first)
        return sp_fail_memory((size_t)o->rows * sizeof *o->first);
    for (int64_t s = 0; s < o->rows; s++) {
        o->first[s] = count;
        count += sp_result_width(o->p, o->row[s]);
    }
    o->first[o->rows] = count;
    o->exact = sp_alloc_raw(count, sizeof *o->exact);
    o->real = sp_alloc_raw(count, sizeof *o->real);
    o->slack = sp_alloc_raw(count, sizeof *o->slack);
    if (!o->exact || !o->real || !o->slack)
        return sp_fail_memory((size_t)count * 24);
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t s = 0; s < o->rows; s++)
        answer_row(o, s);
    return SPRY_OK;
}

/* Row i of dense X, which has `rows` of them, times r. */
static double times_r(const sp_oracle *o, const void *X, int64_t rows,
                      int64_t i)
{
    int columns = o->p->layout == SPRY_COL_MAJOR;
    int64_t at = columns ? i : i * o->p->n, step = columns ? rows : 1;
    double sum = 0;

    if (o->p->type == SPRY_F32)
        for (int64_t j = 0; j < o->p->n; j++)
            sum += o->r[j] * (double)((const float *)X)[at + j * step];
    else
        for (int64_t j = 0; j < o->p->n; j++)
            sum += o->r[j] * ((const double *)X)[at + j * step];
    return sum;
}

/* sum_j r_j B(b,j) D(d,j): what an entry of a tensor is multiplied with. */
static double pair_times_r(const sp_oracle *o, int64_t b, int64_t d)
{
    const spry_problem *p = o->p;
    const double *r = o->r;
    double sum = 0;

    if (p->type == SPRY_F32) {
        const float *B = (const float *)o->B + b * p->n;
        const float *D = (const float *)o->D + d * p->n;

#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < p->n; j++)
            sum += r[j] * (double)(B[j] * D[j]);
    } else {
        const double *B = (const double *)o->B + b * p->n;
        const double *D = (const double *)o->D + d * p->n;

#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < p->n; j++)
            sum += r[j] * (B[j] * D[j]);
    }
    return sum;
}

/* Row i of Ar; Br holds B r, of tensors nothing. */
static double row_of_Ar(const sp_oracle *o, const double *Br, int64_t i)
{
    const spry_problem *p = o->p;
    const spry_matrix *A = p->A;
    double sum = 0;

    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        int64_t c = sp_col(A, k);
        double v = sp_val(A, k);

        if (p->type == SPRY_F32)
            v = (double)(float)v;
        sum += to_integer(v) *
               (Br ? Br[c] : pair_times_r(o, c / p->inner, c % p->inner));
    }
    return sum;
}

/* Ar = A (B r), all integers; of tensors A times all pairs of rows of B and
 * D, times r. */
static spry_status make_freivalds(sp_oracle *o, uint64_t seed)
{
    const spry_problem *p = o->p;
    const spry_matrix *A = p->A;
    int64_t paired = p->op == SPRY_MTTKRP ? 0 : A->cols;
    sp_rng rng = sp_rng_seed(seed ^ 0x5eed);
    double *Br;

    if (o->rows == A->rows || p->op == SPRY_SDDMM)
        return SPRY_OK;
    o->r = sp_alloc_raw(p->n, sizeof *o->r);
    o->Ar = sp_alloc(A->rows, sizeof *o->Ar);
    Br = sp_alloc(paired, sizeof *Br);
    if (!o->r || !o->Ar || !Br) {
        sp_free(Br);
        return sp_fail_memory((size_t)(A->rows + paired) * 8);
    }
    for (int64_t j = 0; j < p->n; j++)
        o->r[j] = (double)sp_rng_below(&rng, 4096) - 2048;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < paired; c++)
        Br[c] = times_r(o, o->B, A->cols, c);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < A->rows; i++)
        o->Ar[i] = row_of_Ar(o, p->op == SPRY_MTTKRP ? NULL : Br, i);
    sp_free(Br);
    return SPRY_OK;
}

spry_status sp_oracle_make(sp_oracle **out, const spry_problem *p,
                           uint64_t seed)
{
    sp_oracle *o = sp_alloc(1, sizeof *o);
    spry_status s;

    *out = NULL;
    if (!o)
        return sp_fail_memory(sizeof *o);
    o->p = p;
    s = make_operands(o, seed);
    if (s == SPRY_OK)
        s = choose_rows(o);
    if (s == SPRY_OK)
        s = make_answers(o);
    if (s == SPRY_OK)
        s = make_freivalds(o, seed);
    if (s != SPRY_OK) {
        sp_oracle_free(o);
        return s;
    }
    *out = o;
    return SPRY_OK;
}

void sp_oracle_free(sp_oracle *o)
{
    if (!o)
        return;
    sp_free(o->B);
    sp_free(o->D);
    if (o->C)
        munmap(o->C, (size_t)(spry_problem_output_size(o->p) + 1) * o->p->type);
    sp_free(o->row);
    sp_free(o->first);
    sp_free(o->exact);
    sp_free(o->real);
    sp_free(o->slack);
    sp_free(o->r);
    sp_free(o->Ar);
    sp_free(o);
}

const void *sp_oracle_B(const sp_oracle *o)
{
    return o->B;
}

const void *sp_oracle_D(const sp_oracle *o)
{
    return sp_two_operands(o->p) ? o->D : NULL;
}

void *sp_oracle_C(const sp_oracle *o)
{
    return o->C;
}

/* ---- checking a plan ---- */

static spry_status differ(const spry_plan *plan, int64_t i, int64_t j,
                          double got, double want)
{
    return sp_fail(SPRY_WRONG,
                   "%s: result %lld of row %lld is %.9g, should be %.9g",
                   plan->text, (long long)j, (long long)i, got, want);
}

/* Equal within slack; NaN agrees with NaN, an infinity with itself. */
static int agree(double got, double want, double slack)
{
    if (isnan(want))
        return isnan(got);
    return got == want || fabs(got - want) <= slack;
}

static spry_status compare(const sp_oracle *o, const spry_plan *plan,
                           const double *want, const double *slack)
{
    for (int64_t s = 0; s < o->rows; s++)
        for (int64_t k = o->first[s]; k < o->first[s + 1]; k++) {
            int64_t i = o->row[s], j = k - o->first[s];
            double got = sp_dense_get(o->p, o->C, sp_result_place(o->p, i, j));

            if (!agree(got, want[k], slack ? slack[k] : 0))
                return differ(plan, i, j, got, want[k]);
        }
    return SPRY_OK;
}

static spry_status compare_sums(const sp_oracle *o, const spry_plan *plan)
{
    int64_t wrong = -1;

    if (!o->Ar)
        return SPRY_OK;
#pragma omp parallel for schedule(static) reduction(max : wrong)
    for (int64_t i = 0; i < o->p->A->rows; i++)
        if (times_r(o, o->C, o->p->A->rows, i) != o->Ar[i] && i > wrong)
            wrong = i;
    return wrong < 0 ? SPRY_OK
                     : sp_fail(SPRY_WRONG, "%s: row %lld is wrong", plan->text,
                               (long long)wrong);
}

/* part[] with every stored value mapped to an integer. */
static spry_status integer_parts(sp_packed *k, const spry_plan *plan)
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
        for (int64_t j = 0; val && j < count; j++)
            sp_dense_put(plan->p, val, j,
                         to_integer(sp_dense_get(plan->p, q->val, j)));
    }
    return s;
}

/* Unwritten results must not pass for right ones: NaN everywhere first. */
static spry_status check_integers(const sp_oracle *o, const spry_plan *plan)
{
    sp_packed k;
    spry_plan whole = *plan;
    spry_status s = integer_parts(&k, plan);

    whole.packed = &k;
    memset(o->C, 0xff,
           (size_t)spry_problem_output_size(o->p) * (size_t)o->p->type);
    if (s == SPRY_OK)
        s = spry_run_scaled(&whole, 1, o->B, o->D, 0, o->C);
    if (s == SPRY_OK)
        s = compare(o, plan, o->exact, NULL);
    if (s == SPRY_OK)
        s = compare_sums(o, plan);
    for (int i = 0; k.part && i < k.parts; i++)
        sp_free(k.part[i].val);
    sp_free(k.part);
    return s;
}

static spry_status check_reals(const sp_oracle *o, const spry_plan *plan)
{
    int64_t count = spry_problem_output_size(o->p);
    spry_status s = fill_before(o->p, o->C, count);

    if (s == SPRY_OK)
        s = spry_run_scaled(plan, ALPHA, o->B, o->D, BETA, o->C);
    return s == SPRY_OK ? compare(o, plan, o->real, o->slack) : s;
}

spry_status sp_oracle_check(const sp_oracle *o, const spry_plan *plan)
{
    spry_status s = check_integers(o, plan);

    return s == SPRY_OK ? check_reals(o, plan) : s;
}

spry_status spry_plan_check(const spry_plan *plan, uint64_t seed)
{
    sp_oracle *o;
    spry_status s = sp_oracle_make(&o, plan->p, seed);

    if (s == SPRY_OK)
        s = sp_oracle_check(o, plan);
    sp_oracle_free(o);
    return s;
}
