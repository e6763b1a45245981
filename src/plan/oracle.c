/* oracle.c - a problem to right answers, to hold plans against.
 *
 * Two questions. With small integers every sum is exact in any order, so a
 * right kernel agrees bit for bit: A's values are mapped to integers, in the
 * packed storage and in the reference alike. With real numbers it stays
 * inside the error bound of a sum,
 *     |y' - y| <= 2 g (|alpha| |A| |x| + |beta| |y0|),  g = k u / (1 - k u).
 * All rows are answered while that is cheap, a sample of them beyond. Of the
 * integer results the rest is covered too: by Freivalds' test, C r = A (B r)
 * with a random integer r, and for sddmm by every product, which is exact in
 * any arithmetic and so can be had at the speed of the plain loop. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "matrix/matrix.h"
#include "plan/internal.h"

/* Terms the reference may sum, per question: for a check, for a glance. */
static const double MOST_TERMS = 2e6, FEW_TERMS = 1e4;

double sp_to_integer(double v)
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

static void repeat(const sp_sparse *p, void *X, int64_t count,
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

spry_status sp_oracle_fill(const sp_oracle *o)
{
    const sp_sparse *p = o->p;
    void *period = sp_alloc_raw(PERIOD, p->type);

    if (!period)
        return sp_fail_memory(PERIOD * (size_t)p->type);
    for (int64_t k = 0; k < PERIOD; k++)
        sp_dense_put(p, period, k, before(k));
    repeat(p, o->C, sp_sparse_output_size(p), period);
    sp_free(period);
    return SPRY_OK;
}

static void *random_dense(const sp_sparse *p, int64_t count, sp_rng *r)
{
    void *X = sp_alloc_raw(count, p->type);
    void *period = sp_alloc_raw(PERIOD, p->type);

    /* no zero among them: it would hide whatever it is multiplied with */
    for (int64_t k = 0; period && k < PERIOD; k++) {
        double x = (double)sp_rng_below(r, 4) - 2;

        sp_dense_put(p, period, k, x < 0 ? x : x + 1);
    }
    if (X && period)
        repeat(p, X, count, period);
    else {
        sp_free(X);
        X = NULL;
    }
    sp_free(period);
    return X;
}

/* Elements before and behind C that nobody may write: a dense row and some
 * vectors, whole cache lines. */
static int64_t margin(const sp_sparse *p)
{
    return (p->n + 127) / 64 * 64;
}

static size_t results_bytes(const sp_sparse *p)
{
    return (size_t)(sp_sparse_output_size(p) + 2 * margin(p)) * p->type;
}

/* Results lie in shared memory: children that run plans one after the other
 * write the same pages, and the system need not find them new ones. A glance
 * has no children, and large pages are found faster. */
static spry_status make_results(sp_oracle *o, int brief)
{
    int sharing = brief ? MAP_PRIVATE : MAP_SHARED;
    void *all = mmap(NULL, results_bytes(o->p), PROT_READ | PROT_WRITE,
                     sharing | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED)
        return sp_fail_memory(results_bytes(o->p));
    if (brief)
        (void)madvise(all, results_bytes(o->p), MADV_HUGEPAGE);
    o->margin = margin(o->p);
    o->C = (char *)all + o->margin * o->p->type;
    return SPRY_OK;
}

static spry_status make_operands(sp_oracle *o, uint64_t seed, int brief)
{
    const sp_sparse *p = o->p;
    int64_t b = sp_sparse_input_size(p, 0);
    int64_t d = sp_sparse_input_size(p, 1);
    sp_rng r = sp_rng_seed(seed);

    o->B = random_dense(p, b, &r);
    o->D = random_dense(p, d, &r);
    if (!o->B || !o->D)
        return sp_fail_memory((size_t)(b + d) * p->type);
    return make_results(o, brief);
}

static double row_terms(const sp_sparse *p, int64_t i)
{
    return (double)(p->A->start[i + 1] - p->A->start[i] + 1) * (double)p->n;
}

/* All rows, or an even sample of at most some terms, always with the first,
 * last and longest. */
static spry_status choose_rows(sp_oracle *o, double most)
{
    const spry_matrix *A = o->p->A;
    double terms = ((double)A->nnz + (double)A->rows) * (double)o->p->n;
    double keep = terms > most ? most / terms : 1, due = 0;
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

static double slack_of(const sp_sparse *p, int64_t i, double magnitude)
{
    double u = p->type == SPRY_F32 ? 0x1p-24 : 0x1p-53;
    int64_t sum =
        sp_is_sampled(p->op) ? p->n : p->A->start[i + 1] - p->A->start[i];
    double terms = (double)(sum + sp_operation_of(p->op)->modes + 1);
    double tiny = p->type == SPRY_F32 ? 0x1p-126 : 0x1p-1022;

    return 2 * terms * u / (1 - terms * u) * magnitude + tiny;
}

static void answer_row(sp_oracle *o, int64_t s)
{
    const sp_sparse *p = o->p;
    int64_t i = o->row[s];
    sp_operands whole = {1, 0, o->B, o->D, NULL};
    sp_operands real = {SP_ALPHA, 0, o->B, o->D, NULL};

    for (int64_t j = 0; j < sp_result_width(p, i); j++) {
        int64_t k = o->first[s] + j;
        double old = SP_BETA * before(sp_result_place(p, i, j));
        long double magnitude;

        o->exact[k] =
            (double)sp_reference_one(p, i, j, sp_to_integer, &whole, NULL);
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

double sp_oracle_times_r(const sp_oracle *o, const void *X, int64_t rows,
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

/* sum_j r_j B(b,j) D(d,j): what an entry of a tensor is multiplied with, and
 * with r = 1 an entry of sddmm. */
static double pair_times_r(const sp_oracle *o, int64_t b, int64_t d)
{
    const sp_sparse *p = o->p;
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
static double row_times_r(const sp_oracle *o, const double *Br, int64_t i)
{
    const sp_sparse *p = o->p;
    const spry_matrix *A = p->A;
    double sum = 0;

    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        int64_t c = sp_col(A, k);
        double v = sp_val(A, k);

        if (p->type == SPRY_F32)
            v = (double)(float)v;
        sum += sp_to_integer(v) *
               (Br ? Br[c] : pair_times_r(o, c / p->inner, c % p->inner));
    }
    return sum;
}

/* Ar = A (B r), all integers; of tensors A times all pairs of rows of B and
 * D, times r. */
static spry_status make_freivalds(sp_oracle *o, uint64_t seed)
{
    const sp_sparse *p = o->p;
    const spry_matrix *A = p->A;
    int64_t paired = sp_has_tensor(p->op) ? 0 : A->cols;
    sp_rng rng = sp_rng_seed(seed ^ 0x5eed);
    double *Br;

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
        Br[c] = sp_oracle_times_r(o, o->B, A->cols, c);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < A->rows; i++)
        o->Ar[i] = row_times_r(o, sp_has_tensor(p->op) ? NULL : Br, i);
    sp_free(Br);
    return SPRY_OK;
}

/* Every result of an integer sddmm: pairs of rows, times r = 1. */
static spry_status make_products(sp_oracle *o)
{
    const spry_matrix *A = o->p->A;

    o->r = sp_alloc_raw(o->p->n, sizeof *o->r);
    o->all = sp_alloc_raw(A->nnz, o->p->type);
    if (!o->r || !o->all)
        return sp_fail_memory((size_t)A->nnz * o->p->type);
    for (int64_t j = 0; j < o->p->n; j++)
        o->r[j] = 1;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            double v = sp_val(A, k);

            if (o->p->type == SPRY_F32)
                v = (double)(float)v;
            sp_dense_put(o->p, o->all, k,
                         sp_to_integer(v) * pair_times_r(o, i, sp_col(A, k)));
        }
    return SPRY_OK;
}

static spry_status make_rest(sp_oracle *o, uint64_t seed)
{
    if (o->rows == o->p->A->rows)
        return SPRY_OK;
    return sp_is_sampled(o->p->op) ? make_products(o) : make_freivalds(o, seed);
}

static spry_status make(sp_oracle **out, const sp_sparse *p, uint64_t seed,
                        int brief)
{
    sp_oracle *o = sp_alloc(1, sizeof *o);
    spry_status s;

    *out = NULL;
    if (!o)
        return sp_fail_memory(sizeof *o);
    o->p = p;
    o->seed = seed;
    s = make_operands(o, seed, brief);
    if (s == SPRY_OK)
        s = choose_rows(o, brief ? FEW_TERMS : MOST_TERMS);
    if (s == SPRY_OK)
        s = make_answers(o);
    if (s == SPRY_OK && !brief)
        s = make_rest(o, seed);
    if (s != SPRY_OK) {
        sp_oracle_free(o);
        return s;
    }
    *out = o;
    return SPRY_OK;
}

spry_status sp_oracle_make(sp_oracle **out, const sp_sparse *p, uint64_t seed)
{
    return make(out, p, seed, 0);
}

spry_status sp_oracle_brief(sp_oracle **out, const sp_sparse *p, uint64_t seed)
{
    return make(out, p, seed, 1);
}

void sp_oracle_free(sp_oracle *o)
{
    if (!o)
        return;
    sp_free(o->B);
    sp_free(o->D);
    if (o->C)
        munmap((char *)o->C - o->margin * o->p->type, results_bytes(o->p));
    sp_free(o->row);
    sp_free(o->first);
    sp_free(o->exact);
    sp_free(o->real);
    sp_free(o->slack);
    sp_free(o->r);
    sp_free(o->Ar);
    sp_free(o->all);
    sp_free(o);
}

void sp_oracle_run(const sp_oracle *o, const spry_plan *plan)
{
    const void *second = sp_two_operands(o->p) ? o->D : NULL;

    (void)spry_run_scaled(plan, 1, o->B, second, 0, o->C);
}
