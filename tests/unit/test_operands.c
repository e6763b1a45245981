/* test_operands.c - dense operands anywhere, transposed products, and
 * products straight from arrays. Integers, so every sum is exact. */
#include "operand_values.h"

#include <math.h>
#include <string.h>

#include "matrix/matrix.h"
#include "plan/internal.h"

static const char *const spmm[] = {
    "csr",
    "csr threads=3",
    "csr index=64",
    "csr index=16",
    "csr tile=2",
    "csr tile=2 threads=3",
    "csr tile=2 threads=3 chunk=7",
    "csr tile=1 pass=16",
    "csr tile=1 pass=16 copy=1 threads=3",
    "csr tile=1 panel=16",
    "csr tile=2 stream=1",
    "csr tile=2 order=length",
    "csr tile=2 sigma=64",
    "dcsr tile=2",
    "bcsr r=2 c=2 tile=2",
    "bcsr r=4 c=4 rest=25 tile=2",
    "sell slice=2 tile=4 sigma=64",
};
enum { TEXTS = sizeof spmm / sizeof *spmm };

/* An operand of `rows` x `cols` in one of several ways to lie in memory. */
enum { WAYS = 4 };
typedef struct {
    spry_dense x;
    int64_t rows, cols, size;
    double *all;
} placed;

static double *cell(const placed *p, int64_t i, int64_t j)
{
    int64_t ld = p->x.ld;

    if (p->x.layout == SPRY_COL_MAJOR)
        return (double *)p->x.data + j * (ld ? ld : p->rows) + i;
    return (double *)p->x.data + i * (ld ? ld : p->cols) + j;
}

static placed place(int way, int64_t rows, int64_t cols)
{
    int64_t gap = way % 2 ? 5 : 0, ahead = 3;
    placed p = {.rows = rows, .cols = cols};

    p.size = (rows + 8) * (cols + 8) + 64;
    p.all = sp_alloc(p.size, sizeof *p.all);
    for (int64_t k = 0; k < p.size; k++)
        p.all[k] = -77.5;
    p.x.data = p.all + ahead;
    p.x.layout = way / 2 ? SPRY_COL_MAJOR : SPRY_ROW_MAJOR;
    p.x.ld = !gap ? 0 : gap + (way / 2 ? rows : cols);
    return p;
}

static void fill(const placed *p, uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);

    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->cols; j++)
            *cell(p, i, j) = (double)sp_rng_below(&r, 9) - 4;
}

/* Cells between rows stay as they were. */
static int64_t untouched(const placed *p)
{
    int64_t n = 0;

    for (int64_t k = 0; k < p->size; k++)
        n += p->all[k] == -77.5;
    return n;
}

static void expect(const spry_matrix *A, const placed *B, const placed *C,
                   const double *before, double alpha, double beta)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t j = 0; j < B->cols; j++) {
            double sum = 0;

            for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
                sum += sp_val(A, k) * *cell(B, sp_col(A, k), j);
            assert_true(*cell(C, i, j) ==
                        alpha * sum + beta * before[i * B->cols + j]);
        }
}

static void try_ways(const spry_plan *plan, const spry_matrix *A, int64_t n,
                     int way)
{
    placed B = place(way % WAYS, A->cols, n);
    placed C = place(way / WAYS, A->rows, n);
    double *before = sp_alloc(A->rows * n, sizeof *before);
    double beta = way % 3 ? 0 : 3;
    int64_t rest;

    fill(&B, 1);
    fill(&C, 2);
    rest = untouched(&C);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t j = 0; j < n; j++)
            before[i * n + j] = *cell(&C, i, j);
    check_ok(spry_run_dense(plan, 2, &B.x, NULL, beta, &C.x));
    expect(A, &B, &C, before, 2, beta);
    assert_int_equal(untouched(&C), rest);
    sp_free(before);
    sp_free(B.all);
    sp_free(C.all);
}

/* All ways for both operands; 0 when there is no such plan. */
static int try_plan(const char *text, int which, int64_t n, spry_isa isa)
{
    spry_matrix *A = integers(which);
    spry_problem *p;
    spry_plan *plan;
    int done = 0;

    check_ok(spry_problem_spmm(&p, A, n, SPRY_F64));
    if (make_plan(&plan, p, text, isa) == SPRY_OK) {
        for (; done < WAYS * WAYS; done++)
            try_ways(plan, A, n, done);
        spry_plan_free(plan);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
    return done;
}

static const int which[] = {4, 6, 7, 9, 11};

static void every_layout(void **state)
{
    spry_machine m;
    int done = 0;

    (void)state;
    check_ok(spry_machine_detect(&m));
    for (int i = 0; i < 5; i++)
        for (int t = 0; t < TEXTS; t++)
            done += try_plan(spmm[t], which[i], t % 2 ? 37 : 24, m.isa);
    assert_true(done > 500);
}

/* Kernels that know their width take rows that lie apart, too. */
static void known_widths(void **state)
{
    static const char *const text[] = {
        "csr tile=4 fixed=1", "csr tile=4 fixed=1 threads=3",
        "csr tile=2 fixed=1 pass=16 copy=1", "sell slice=2 tile=2 fixed=1",
        "bcsr r=2 c=2 tile=2 fixed=1"};
    spry_machine m;
    int done = 0;

    (void)state;
    check_ok(spry_machine_detect(&m));
    for (int i = 0; i < 5; i++)
        for (size_t t = 0; t < sizeof text / sizeof *text; t++)
            done += try_plan(text[t], which[i], 32, m.isa);
    assert_true(done > 100); /* without a compiler some are not there */
}

/* More rows than are turned at a time: columns are computed as rows are, in
 * both types, an infinity among them that padding must not spread. */
static void check_columns(const char *text, spry_type type, double odd)
{
    enum { N = 21 };
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;
    spry_machine m;
    spry_dense rows[2], cols[2];

    check_ok(spry_machine_detect(&m));
    check_ok(spry_matrix_generate(&A, "stencil5,nx=70,ny=41", 1));
    for (int64_t k = 0; k < A->nnz; k++) /* sums are exact, none is NaN */
        set_at((void *)(uintptr_t)A->val, k, A->type, (double)(k % 7) + 1);
    check_ok(spry_problem_spmm(&p, A, N, type));
    check_ok(make_plan(&plan, p, text, m.isa));
    for (int i = 0; i < 2; i++) {
        rows[i] = (spry_dense){sp_alloc(A->rows * N, type), 0, SPRY_ROW_MAJOR};
        cols[i] = (spry_dense){sp_alloc((A->rows + 3) * N, type), A->rows + 3,
                               SPRY_COL_MAJOR};
    }
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t j = 0; j < N; j++) {
            double x = i == 1234 && j == 5 ? odd : (double)((i + 3 * j) % 9);

            set_at(rows[0].data, i * N + j, type, x);
            set_at(cols[0].data, j * (A->rows + 3) + i, type, x);
        }
    check_ok(spry_run_dense(plan, 1, &rows[0], NULL, 0, &rows[1]));
    check_ok(spry_run_dense(plan, 1, &cols[0], NULL, 0, &cols[1]));
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t j = 0; j < N; j++) {
            double want = value_at(rows[1].data, i * N + j, type);
            double got = value_at(cols[1].data, j * (A->rows + 3) + i, type);

            assert_true(got == want);
        }
    for (int i = 0; i < 2; i++) {
        sp_free(rows[i].data);
        sp_free(cols[i].data);
    }
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void columns_are_turned(void **state)
{
    static const char *const text[] = {"csr threads=2",
                                       "csr tile=2 threads=2",
                                       "csr tile=4 pass=16",
                                       "csr tile=2 order=length threads=2",
                                       "bcsr r=2 c=2 tile=2",
                                       "sell slice=2 tile=4",
                                       "csr tile=2 panel=512",
                                       "bcsr r=4 c=4 rest=50 tile=2 threads=2",
                                       "csr tile=2 chunk=64 threads=2"};

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        check_columns(text[i], SPRY_F32, 1);
        check_columns(text[i], SPRY_F64, 1);
        check_columns(text[i], SPRY_F64, HUGE_VAL);
    }
}

/* Rows of B that have a part of the cache only are copied first, and so is a C
 * that many panels add to; results are those of operands without gaps. */
static void check_conflict(const char *text, double beta)
{
    enum { ROWS = 300, N = 16, LD = 64 };
    sp_operand near = {NULL, ROWS, N, N + 8, 1}, far = {NULL, ROWS, N, LD, 1};
    double *wide[2], *dense[2];
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;
    sp_sparse_plan *own;
    spry_machine m;

    check_ok(spry_machine_detect(&m));
    check_ok(spry_matrix_generate(&A, "uniform,rows=300,nnz=20000", 1));
    check_ok(spry_problem_spmm(&p, A, N, SPRY_F64));
    check_ok(make_plan(&plan, p, text, m.isa));
    own = (sp_sparse_plan *)(void *)plan;
    memset(own->cost, 0, sizeof own->cost);
    own->cost[0] = (sp_cache_cost){1 << 20, 50e-9};
    assert_false(sp_strides_conflict(sp_sparse_plan_of(plan), &far));
    own->cost[0].bytes = 16384;
    assert_true(sp_strides_conflict(sp_sparse_plan_of(plan), &far) ==
                !strstr(text, "panel")); /* whose few rows have room */
    assert_false(sp_strides_conflict(sp_sparse_plan_of(plan), &near));
    own->cost[0].seconds = 1e-9; /* the next cache is as fast */
    assert_false(sp_strides_conflict(sp_sparse_plan_of(plan), &far));
    own->cost[0].seconds = 50e-9;
    for (int i = 0; i < 2; i++) {
        wide[i] = sp_alloc(ROWS * LD, sizeof **wide);
        dense[i] = sp_alloc(ROWS * N, sizeof **dense);
        for (int64_t k = 0; k < ROWS * N; k++)
            wide[i][k / N * LD + k % N] = dense[i][k] = (double)(k % 13) / 7;
    }
    check_ok(spry_run_scaled(plan, 1, dense[0], NULL, beta, dense[1]));
    check_ok(spry_run_dense(plan, 1, &(spry_dense){wide[0], LD, SPRY_ROW_MAJOR},
                            NULL, beta,
                            &(spry_dense){wide[1], LD, SPRY_ROW_MAJOR}));
    for (int64_t i = 0; i < ROWS; i++) {
        assert_memory_equal(wide[1] + i * LD, dense[1] + i * N,
                            N * sizeof **dense);
        assert_true(wide[1][i * LD + N] == 0);
    }
    for (int i = 0; i < 2; i++) {
        sp_free(wide[i]);
        sp_free(dense[i]);
    }
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void rows_that_conflict(void **state)
{
    static const char *const text[] = {
        "csr", "csr tile=2 threads=2", "csr tile=2 panel=16",
        "csr tile=1 panel=16 threads=2", "dcsr tile=2"};

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        check_conflict(text[i], 0);
        check_conflict(text[i], -1.5);
    }
}

static void a_vector_with_gaps(void **state)
{
    spry_matrix *A = integers(9);
    double x[450], y[450], want[150];
    spry_dense X = {x, 3, SPRY_ROW_MAJOR}, Y = {y, 2, SPRY_ROW_MAJOR};
    double dense[150];
    spry_problem *p;
    spry_plan *plan;
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    for (int i = 0; i < 150; i++)
        x[3 * i] = dense[i] = i % 5 - 2;
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    check_ok(make_plan(&plan, p, "sell sigma=64", m.isa));
    check_ok(spry_run(plan, dense, want));
    check_ok(spry_run_dense(plan, 1, &X, NULL, 0, &Y));
    for (int i = 0; i < 150; i++)
        assert_true(y[2 * i] == want[i]);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void what_makes_no_sense_is_refused(void **state)
{
    spry_matrix *A = integers(6);
    double x[1];
    spry_dense bad = {x, 2, SPRY_ROW_MAJOR}, none = {NULL, 0, SPRY_ROW_MAJOR};
    spry_dense odd = {x, 0, (spry_layout)7};
    spry_problem *p, *q, *t;
    spry_plan *plan;
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmm(&p, A, 8, SPRY_F64));
    check_ok(spry_problem_sddmm(&q, A, 8, SPRY_F64));
    check_ok(make_plan(&plan, p, "csr", m.isa));
    assert_int_equal(spry_run_dense(plan, 1, &bad, NULL, 0, &bad), SPRY_USAGE);
    assert_int_equal(spry_run_dense(plan, 1, &none, NULL, 0, &none),
                     SPRY_USAGE);
    assert_int_equal(spry_run_dense(plan, 1, &odd, NULL, 0, &odd), SPRY_USAGE);
    assert_int_equal(spry_run_dense(plan, 1, NULL, NULL, 0, NULL), SPRY_USAGE);
    assert_int_equal(spry_run_dense(NULL, 1, &bad, NULL, 0, &bad), SPRY_USAGE);
    assert_int_equal(spry_problem_transpose(&t, q), SPRY_USAGE);
    assert_int_equal(spry_problem_transpose(&t, NULL), SPRY_USAGE);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_problem_free(q);
    spry_matrix_free(A);
}

/* ---- transposed ---- */

static void check_turned(const spry_matrix *A, const char *text, int64_t n)
{
    spry_problem *p, *t;
    spry_plan *plan;
    spry_machine m;
    double *v = sp_alloc(A->nnz + 1, sizeof *v);
    double *x = sp_alloc(A->rows * n + 1, sizeof *x);
    double *y = sp_alloc(A->cols * n + 1, sizeof *y);
    double *want = sp_alloc(A->cols * n + 1, sizeof *want);

    check_ok(spry_machine_detect(&m));
    check_ok(n == 1 ? spry_problem_spmv(&p, A, SPRY_F64)
                    : spry_problem_spmm(&p, A, n, SPRY_F64));
    check_ok(spry_problem_transpose(&t, p));
    spry_problem_free(p);
    for (int64_t k = 0; k < A->rows * n; k++)
        x[k] = (double)(k % 5) - 2;
    if (make_plan(&plan, t, text, m.isa) == SPRY_OK) {
        check_ok(spry_plan_check(plan, 1));
        for (int64_t k = 0; k < A->nnz; k++)
            v[k] = (double)(k % 11) - 5;
        for (int64_t i = 0; i < A->rows; i++)
            for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
                for (int64_t j = 0; j < n; j++)
                    want[sp_col(A, k) * n + j] += v[k] * x[i * n + j];
        check_ok(spry_plan_refill(plan, v));
        check_ok(spry_run(plan, x, y));
        assert_memory_equal(y, want, (size_t)(A->cols * n) * sizeof *y);
        check_ok(spry_plan_check(plan, 1));
        spry_plan_free(plan);
    }
    spry_problem_free(t);
    sp_free(v);
    sp_free(x);
    sp_free(y);
    sp_free(want);
}

static void transposed_products_follow_the_matrix(void **state)
{
    static const char *const spmv[] = {"csr", "csr unroll=4 order=length",
                                       "sell sigma=64", "bcsr r=2 c=2",
                                       "csr unroll=4 panel=16"};

    (void)state;
    for (int i = 0; i < MAKERS; i++) {
        spry_matrix *A = make_matrix(i);

        for (int t = 0; t < 5; t++)
            check_turned(A, spmv[t], 1);
        for (int t = 0; t < TEXTS; t += 3)
            check_turned(A, spmm[t], 37);
        spry_matrix_free(A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout),
        cmocka_unit_test(known_widths),
        cmocka_unit_test(columns_are_turned),
        cmocka_unit_test(rows_that_conflict),
        cmocka_unit_test(a_vector_with_gaps),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(transposed_products_follow_the_matrix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
