/* test_arrays.c - products straight from others' arrays, and matrices made of
 * them. Integers, so every sum is exact. */
#include "operand_values.h"

#include <math.h>
#include <string.h>

#include "matrix/matrix.h"
#include "plan/sparse.h"

/* ---- straight from arrays ---- */

static void check_direct(const spry_matrix *A, int64_t n, spry_index width,
                         int columns)
{
    int64_t units = A->rows;
    void *start = sp_alloc(units + 1, 8), *col = sp_alloc(A->nnz + 1, 8);
    spry_compressed a = {sizeof a, A->rows, A->cols, start,
                         col,      A->val,  width,   SPRY_F64};
    int64_t in = columns ? A->rows : A->cols, out = columns ? A->cols : A->rows;
    double *x = sp_alloc(in * n + 1, sizeof *x);
    double *y = sp_alloc(out * n + 1, sizeof *y);
    double *want = sp_alloc(out * n + 1, sizeof *want);

    for (int64_t i = 0; i <= units; i++)
        if (width == SPRY_I32)
            ((int32_t *)start)[i] = (int32_t)A->start[i];
        else
            ((int64_t *)start)[i] = A->start[i];
    for (int64_t k = 0; k < A->nnz; k++)
        if (width == SPRY_I32)
            ((int32_t *)col)[k] = (int32_t)sp_col(A, k);
        else
            ((int64_t *)col)[k] = sp_col(A, k);
    for (int64_t k = 0; k < in * n; k++)
        x[k] = (double)(k % 5) - 2;
    for (int64_t k = 0; k < out * n; k++)
        y[k] = want[k] = (double)(k % 3);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            for (int64_t j = 0; j < n; j++)
                if (columns)
                    want[sp_col(A, k) * n + j] += sp_val(A, k) * x[i * n + j];
                else
                    want[i * n + j] += sp_val(A, k) * x[sp_col(A, k) * n + j];
    if (columns) { /* the rows of A are the columns of its transpose */
        a.rows = A->cols;
        a.cols = A->rows;
        check_ok(spry_csc_multiply(&a, n, x, y, 2));
    } else
        check_ok(spry_csr_multiply(&a, n, x, y, 2));
    assert_memory_equal(y, want, (size_t)(out * n) * sizeof *y);
    sp_free(start);
    sp_free(col);
    sp_free(x);
    sp_free(y);
    sp_free(want);
}

/* Every other block of r x c, values and operands small integers. */
static void check_blocks(int64_t r, int64_t c, int64_t n, spry_type type)
{
    enum { ROWS = 60, COLS = 50, EACH = COLS / 2 };
    static int32_t start[ROWS + 1], col[ROWS * EACH];
    int64_t blocks = ROWS * EACH, in = COLS * c * n, out = ROWS * r * n;
    spry_compressed a = {sizeof a, ROWS * r, COLS * c, start,
                         col,      NULL,     SPRY_I32, type};
    double *v = sp_alloc(blocks * r * c, 8), *x = sp_alloc(in, 8);
    double *y = sp_alloc(out, 8), *want = sp_alloc(out, 8);

    for (int i = 0; i <= ROWS; i++)
        start[i] = i * EACH;
    for (int k = 0; k < blocks; k++)
        col[k] = k % EACH * 2 + k / EACH % 2;
    for (int64_t k = 0; k < blocks * r * c; k++)
        set_at(v, k, type, (double)(k % 7) - 3);
    for (int64_t k = 0; k < in; k++)
        set_at(x, k, type, (double)(k % 5) - 2);
    for (int64_t k = 0; k < out; k++) {
        set_at(y, k, type, 1);
        want[k] = 1;
    }
    for (int64_t k = 0; k < blocks; k++)
        for (int64_t p = 0; p < r; p++)
            for (int64_t q = 0; q < c; q++)
                for (int64_t j = 0; j < n; j++)
                    want[(k / EACH * r + p) * n + j] +=
                        value_at(v, (k * r + p) * c + q, type) *
                        value_at(x, (col[k] * c + q) * n + j, type);
    a.values = v;
    check_ok(spry_bsr_multiply(&a, r, c, n, x, y, 2));
    for (int64_t k = 0; k < out; k++)
        assert_true(value_at(y, k, type) == want[k]);
    sp_free(v);
    sp_free(x);
    sp_free(y);
    sp_free(want);
}

static void blocks_of_others(void **state)
{
    static const int64_t sides[] = {1, 2, 3, 4, 7, 8}, widths[] = {1, 3, 21};
    spry_compressed a = {sizeof a, 3, 4, "", "", "", SPRY_I32, SPRY_F64};
    double x[8];

    (void)state;
    for (int i = 0; i < 36; i++)
        for (int w = 0; w < 3; w++)
            check_blocks(sides[i / 6], sides[i % 6], widths[w],
                         i % 2 ? SPRY_F32 : SPRY_F64);
    assert_int_equal(spry_bsr_multiply(&a, 2, 2, 1, x, x, 1), SPRY_USAGE);
    assert_int_equal(spry_bsr_multiply(&a, 0, 2, 1, x, x, 1), SPRY_USAGE);
    assert_int_equal(spry_bsr_multiply(NULL, 1, 1, 1, x, x, 1), SPRY_USAGE);
}

/* So many entries that threads keep sums of their own. */
static void many_columns_of_others(void **state)
{
    spry_matrix *A;

    (void)state;
    check_ok(
        spry_matrix_generate(&A, "uniform,rows=300,cols=400,nnz=60000", 1));
    assert_int_equal(A->type, SPRY_F64);
    for (int64_t k = 0; k < A->nnz; k++)
        set_at((void *)(uintptr_t)A->val, k, A->type, (double)(k % 7) - 3);
    for (int columns = 0; columns < 2; columns++)
        check_direct(A, 1, SPRY_I32, columns);
    spry_matrix_free(A);
}

static void arrays_of_others(void **state)
{
    static const int64_t widths[] = {1, 2, 5, 16, 40, 130};
    spry_compressed none = {0};
    double x[1];

    (void)state;
    for (int i = 0; i < MAKERS; i++) {
        spry_matrix *A = integers(i);

        for (int w = 0; w < 6; w++)
            for (int way = 0; way < 4; way++)
                check_direct(A, widths[w], way % 2 ? SPRY_I32 : SPRY_I64,
                             way / 2);
        spry_matrix_free(A);
    }
    assert_int_equal(spry_csr_multiply(&none, 1, x, x, 1), SPRY_USAGE);
    assert_int_equal(spry_csc_multiply(NULL, 1, x, x, 1), SPRY_USAGE);
}

/* ---- doors ---- */

static void same_matrix(const spry_matrix *a, const spry_matrix *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_int_equal(a->nnz, b->nnz);
    for (int64_t i = 0; i <= a->rows; i++)
        assert_int_equal(a->start[i], b->start[i]);
    for (int64_t k = 0; k < a->nnz; k++) {
        assert_int_equal(sp_col(a, k), sp_col(b, k));
        assert_true(sp_val(a, k) == sp_val(b, k));
    }
}

static void columns_blocks_and_coordinates(void **state)
{
    static const int32_t start[] = {0, 1, 3}, block[] = {1, 2, 0};
    static const double cells[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const int32_t row[] = {0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    static const int32_t col[] = {2, 3, 2, 3, 4, 5, 0, 1, 4, 5, 0, 1};
    static const double val[] = {1, 2, 3, 4, 5, 6, 9, 10, 7, 8, 11, 12};
    static const int32_t far[] = {0, 9};
    spry_matrix *a, *b, *turned, *c;
    int32_t narrow[7];

    (void)state;
    check_ok(spry_matrix_bsr(&a, 4, 6, 2, 2, start, block, cells, SPRY_I32,
                             SPRY_F64));
    check_ok(spry_matrix_coo(&b, 4, 6, 12, row, col, val, SPRY_I32, SPRY_F64));
    same_matrix(a, b);
    check_ok(spry_matrix_transpose(&turned, a));
    for (int64_t j = 0; j <= turned->rows; j++)
        narrow[j] = (int32_t)turned->start[j];
    check_ok(spry_matrix_csc(&c, 4, 6, narrow, turned->col, turned->val,
                             SPRY_I32, SPRY_F64));
    same_matrix(a, c);
    spry_matrix_free(c);
    assert_int_equal(spry_matrix_bsr(&c, 5, 6, 2, 2, start, block, cells,
                                     SPRY_I32, SPRY_F64),
                     SPRY_USAGE);
    assert_int_equal(
        spry_matrix_bsr(&c, 2, 2, 2, 2, far, far, cells, SPRY_I32, SPRY_F64),
        SPRY_INPUT);
    assert_int_equal(
        spry_matrix_coo(&c, 1, 1, 2, far, far, val, SPRY_I32, SPRY_F64),
        SPRY_INPUT);
    spry_matrix_free(turned);
    spry_matrix_free(a);
    spry_matrix_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_others),
        cmocka_unit_test(many_columns_of_others),
        cmocka_unit_test(arrays_of_others),
        cmocka_unit_test(columns_blocks_and_coordinates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
