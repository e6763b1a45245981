/* direct.c - products straight from arrays that belong to others.
 *
 * Compressed rows are what the csr kernels walk, so the caller's arrays are
 * handed to a built-in kernel as they are; only kernels that read nothing
 * behind the last entry are. Compressed columns are the transpose, and every
 * entry adds a row of X to a row of Y. Blocks have loops of their own. */
#include <omp.h>
#include <string.h>

#include "base/base.h"
#include "machine/built.h"
#include "machine/isa.h"
#include "plan/direct.h"
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
    sp_fork_watch(); /* perhaps nothing of the library ran before */
    return threads > 0 && threads < most ? threads : most;
}

/* Rows [first, last) of Y are about to be read and written. */
static void bring_rows(const spry_compressed *A, int64_t n, void *Y,
                       int64_t first, int64_t last)
{
    int64_t row = n * (int64_t)A->type;

    sp_pages_bring((char *)Y + first * row, (size_t)((last - first) * row));
}

static int lacks_pages(const spry_compressed *A, int64_t n, const void *Y)
{
    return sp_pages_lack(Y, (size_t)(A->rows * n) * A->type);
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

/* The first of `count` rows whose entries begin at or behind share t of all. */
static int64_t cut(const spry_compressed *A, int64_t count, int64_t nnz, int t,
                   int threads)
{
    int64_t goal = nnz / threads * t, low = 0, high = count;

    if (t == threads)
        return count;
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
    int fresh;

    if (s != SPRY_OK)
        return s;
    nnz = start_of(A, A->rows);
    if (A->rows == 0 || n == 0 || nnz == 0)
        return SPRY_OK;
    kernel = kernel_for(A, n, nnz);
    if (!kernel)
        return sp_fail(SPRY_FAIL, "no built-in kernel computes this");
    threads = threads_for(threads, (double)nnz * (double)n);
    fresh = lacks_pages(A, n, Y);
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

        own.first = cut(A, A->rows, nnz, t, threads);
        own.last = cut(A, A->rows, nnz, t + 1, threads);
        if (fresh)
            bring_rows(A, n, Y, own.first, own.last);
        if (own.first < own.last)
            (void)kernel(&own);
    }
    return SPRY_OK;
}

/* ---- columns and blocks ---- */

#define DECLARE(id, name) extern const sp_direct sp_direct_##name;
SP_BUILT_ISAS(DECLARE)

#define ROW(id, name) {SPRY_##id, &sp_direct_##name},
static const struct {
    spry_isa isa;
    const sp_direct *loops;
} built[] = {SP_BUILT_ISAS(ROW)};

const sp_direct *sp_direct_here(void)
{
    spry_isa isa = sp_isa_here();
    int last = (int)(sizeof built / sizeof built[0]) - 1;

    while (last > 0 && !sp_isa_includes(isa, built[last].isa))
        last--;
    return built[last].loops;
}

/* y += the sums that threads kept apart. */
static void add_up(const spry_compressed *A, void *y, const void *sums,
                   int count)
{
    int64_t n = A->rows;

#pragma omp parallel for num_threads(count + 1) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int t = 0; t < count; t++)
            if (A->type == SPRY_F32)
                ((float *)y)[i] += ((const float *)sums)[t * n + i];
            else
                ((double *)y)[i] += ((const double *)sums)[t * n + i];
}

/* A vector: threads share the matrix's columns. Rows of Y are anybody's, so
 * all but the first thread add into memory of their own. */
static spry_status multiply_vector(const spry_compressed *A,
                                   sp_add_columns *add, const void *X, void *Y,
                                   int threads)
{
    enum { WORTH = 8 }; /* entries of a row that pay for adding up */
    int64_t nnz = start_of(A, A->cols);
    int64_t most = 1 + nnz / (WORTH * (A->rows ? A->rows : 1));
    char *sums = NULL;
    size_t each = (size_t)A->rows * A->type;

    threads = threads < most ? threads : (int)most;
    if (threads > 1)
        sums = sp_alloc_raw((threads - 1) * A->rows, A->type);
    if (!sums) {
        add(A, 1, X, Y, 0, A->cols);
        return SPRY_OK;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        char *own = t ? sums + (size_t)(t - 1) * each : Y;

        if (t)
            memset(own, 0, each);
        add(A, 1, X, own, cut(A, A->cols, nnz, t, threads),
            cut(A, A->cols, nnz, t + 1, threads));
    }
    add_up(A, Y, sums, threads - 1);
    sp_free(sums);
    return SPRY_OK;
}

/* Threads share the dense columns: rows of Y are anybody's. */
spry_status spry_csc_multiply(const spry_compressed *A, int64_t n,
                              const void *X, void *Y, int threads)
{
    enum { LINE = 16 }; /* columns that a thread takes at least */
    spry_status s = check(A, n, X, Y);
    sp_add_columns *add;
    int64_t most = (n + LINE - 1) / LINE;

    if (s != SPRY_OK || A->cols == 0 || n == 0)
        return s;
    add = sp_direct_here()->columns[A->type == SPRY_F64][A->index == SPRY_I64];
    threads = threads_for(threads, (double)start_of(A, A->cols) * (double)n);
    if (n == 1)
        return multiply_vector(A, add, X, Y, threads);
    threads = threads < most ? threads : (int)most;
    if (start_of(A, A->cols) >= A->rows && lacks_pages(A, n, Y))
        bring_rows(A, n, Y, 0, A->rows);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        int64_t from = most * t / threads * LINE;
        int64_t to = most * (t + 1) / threads * LINE;

        add(A, n, X, Y, from, to < n ? to : n);
    }
    return SPRY_OK;
}

spry_status spry_bsr_multiply(const spry_compressed *A, int64_t r, int64_t c,
                              int64_t n, const void *X, void *Y, int threads)
{
    spry_status s = check(A, n, X, Y);
    sp_add_blocks *add;
    int64_t rows, blocks;
    int fresh;

    if (s != SPRY_OK)
        return s;
    if (r < 1 || c < 1 || A->rows % r || A->cols % c)
        return sp_fail(SPRY_USAGE,
                       "%lld x %lld is no matrix of %lld x %lld "
                       "blocks",
                       (long long)A->rows, (long long)A->cols, (long long)r,
                       (long long)c);
    rows = A->rows / r;
    if (rows == 0 || n == 0)
        return SPRY_OK;
    blocks = start_of(A, rows);
    add = sp_direct_here()->blocks[A->type == SPRY_F64][A->index == SPRY_I64];
    threads = threads_for(threads, (double)(blocks * r * c) * (double)n);
    fresh = lacks_pages(A, n, Y);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        int64_t first = cut(A, rows, blocks, t, threads);
        int64_t last = cut(A, rows, blocks, t + 1, threads);

        if (fresh)
            bring_rows(A, n, Y, first * r, last * r);
        add(A, r, c, n, X, Y, first, last);
    }
    return SPRY_OK;
}
