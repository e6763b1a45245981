/* direct.c - products straight from arrays that belong to others.
 *
 * Compressed rows are what the csr kernels walk, so the caller's arrays are
 * handed to a built-in kernel as they are; only kernels that read nothing
 * behind the last entry are. Compressed columns are the transpose, and every
 * entry adds a row of X to a row of Y. */
#include <omp.h>
#include <string.h>

#include "base/base.h"
#include "machine/isa.h"
#include "plan/sparse.h"

enum {
    LONG_ROW = 12,        /* entries from which vectors along a row pay */
    WORTH_THREADS = 50000 /* products before another thread has started */
};

static int64_t start_of(const spry_compressed *A, int64_t i)
{
    return A->index == SPRY_I32 ? ((const int32_t *)A->indptr)[i]
                                : ((const int64_t *)A->indptr)[i];
}

static spry_status check(const spry_compressed *A, int64_t n, const void *X,
                         const void *Y)
{
    if (!A || A->size < sizeof *A || !A->indptr)
        return sp_fail(SPRY_USAGE, "a product needs a matrix");
    if (A->rows < 0 || A->cols < 0 || n < 0)
        return sp_fail(SPRY_USAGE, "%lld x %lld times %lld columns",
                       (long long)A->rows, (long long)A->cols, (long long)n);
    if ((A->index != SPRY_I32 && A->index != SPRY_I64) ||
        (A->type != SPRY_F32 && A->type != SPRY_F64))
        return sp_fail(SPRY_USAGE, "there are no such indices or values");
    if ((!X && A->cols && n) || (!Y && A->rows && n))
        return sp_fail(SPRY_USAGE, "a product needs its operands");
    return SPRY_OK;
}

static int threads_for(int threads, double products)
{
    int most = omp_get_max_threads();

    if (products < WORTH_THREADS || omp_in_parallel())
        return 1;
    return threads > 0 && threads < most ? threads : most;
}

/* The built-in kernel for rows of this length and width; NULL: none. */
static sp_kernel *kernel_for(const spry_compressed *A, int64_t n, int64_t nnz)
{
    spry_isa isa = sp_isa_here();
    int lanes = sp_codegen_lanes(isa, A->type);
    sp_sparse p = {.op = n == 1 ? SPRY_SPMV : SPRY_SPMM, .type = A->type};
    spry_schedule x = sp_schedule_default(SPRY_CSR);
    sp_spec spec;

    p.n = n;
    if (n > 1)
        x.tile = n >= 8 * lanes   ? 8
                 : n >= 4 * lanes ? 4
                 : n >= 2 * lanes ? 2
                                  : 1;
    else if (nnz >= LONG_ROW * A->rows)
        x.unroll = 8;
    spec = sp_codegen_spec(&x, &p, isa, 8 * (int32_t)A->index);
    return sp_builtin_find(&spec);
}

/* The first row whose entries begin at or behind share t of all. */
static int64_t cut(const spry_compressed *A, int64_t nnz, int t, int threads)
{
    int64_t goal = nnz / threads * t, low = 0, high = A->rows;

    if (t == threads)
        return A->rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (start_of(A, middle) < goal)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

spry_status spry_csr_multiply(const spry_compressed *A, int64_t n,
                              const void *X, void *Y, int threads)
{
    spry_status s = check(A, n, X, Y);
    sp_kernel *kernel;
    int64_t nnz;
    sp_args a;

    if (s != SPRY_OK)
        return s;
    nnz = start_of(A, A->rows);
    if (A->rows == 0 || n == 0 || nnz == 0)
        return SPRY_OK;
    kernel = kernel_for(A, n, nnz);
    if (!kernel)
        return sp_fail(SPRY_FAIL, "no built-in kernel computes this");
    threads = threads_for(threads, (double)nnz * (double)n);
    a = (sp_args){.rows = A->rows,
                  .cols = A->cols,
                  .columns = n,
                  .n = n,
                  .wide = n,
                  .pass = n,
                  .start = A->indptr,
                  .col = A->indices,
                  .val = A->values,
                  .B = X,
                  .C = Y,
                  .alpha = 1,
                  .beta = 1,
                  .threads = 1};
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        sp_args own = a;

        own.first = cut(A, nnz, t, threads);
        own.last = cut(A, nnz, t + 1, threads);
        if (own.first < own.last)
            (void)kernel(&own);
    }
    return SPRY_OK;
}

/* ---- columns ---- */

/* Columns [from, to) of X and Y, every entry once. */
#define ADD(name, T, I)                                                   \
    static void name(const spry_compressed *A, int64_t n, const void *in, \
                     void *out, int64_t from, int64_t to)                 \
    {                                                                     \
        const I *start = A->indptr, *row = A->indices;                    \
        const T *val = A->values, *X = in;                                \
        T *Y = out;                                                       \
                                                                          \
        if (n == 1) {                                                     \
            for (int64_t j = 0; j < A->cols; j++)                         \
                for (int64_t k = start[j]; k < start[j + 1]; k++)         \
                    Y[row[k]] += val[k] * X[j];                           \
            return;                                                       \
        }                                                                 \
        for (int64_t j = 0; j < A->cols; j++)                             \
            for (int64_t k = start[j]; k < start[j + 1]; k++) {           \
                const T *restrict x = X + j * n;                          \
                T *restrict y = Y + (int64_t)row[k] * n;                  \
                const T w = val[k];                                       \
                                                                          \
                _Pragma("omp simd") for (int64_t c = from; c < to; c++)   \
                    y[c] += w * x[c];                                     \
            }                                                             \
    }

ADD(add_f32_i32, float, int32_t)
ADD(add_f32_i64, float, int64_t)
ADD(add_f64_i32, double, int32_t)
ADD(add_f64_i64, double, int64_t)

typedef void adder(const spry_compressed *A, int64_t n, const void *in,
                   void *out, int64_t from, int64_t to);

/* Threads share the dense columns: rows of Y are anybody's. */
spry_status spry_csc_multiply(const spry_compressed *A, int64_t n,
                              const void *X, void *Y, int threads)
{
    static adder *const adders[2][2] = {{add_f32_i32, add_f32_i64},
                                        {add_f64_i32, add_f64_i64}};
    enum { LINE = 16 }; /* columns that a thread takes at least */
    spry_status s = check(A, n, X, Y);
    adder *add;
    int64_t most = (n + LINE - 1) / LINE;

    if (s != SPRY_OK || A->cols == 0 || n == 0)
        return s;
    add = adders[A->type == SPRY_F64][A->index == SPRY_I64];
    threads = threads_for(threads, (double)start_of(A, A->cols) * (double)n);
    threads = threads < most ? threads : (int)most;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        int64_t from = most * t / threads * LINE;
        int64_t to = most * (t + 1) / threads * LINE;

        add(A, n, X, Y, from, to < n ? to : n);
    }
    return SPRY_OK;
}
