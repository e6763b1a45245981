/* test_plan.c - what a plan promises beside right numbers: the oracle's eye,
 * odd operands, foreign machines, memory that runs out. */
#include "odd_matrices.h"

#include <string.h>

#include "machine/isa.h"
#include "plan/sparse.h"
#include "schedule/schedule.h"

/* ---- what the oracle must notice ---- */

static void oracle_notices_a_wrong_value(void **state)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *A = make_matrix(6);
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_problem_spmm(&p, A, 8, SPRY_F32));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    check_ok(spry_plan_check(plan, 1));
    ((float *)sp_sparse_plan_of(plan)->packed->part[0].val)[5] += 0.01f;
    assert_int_equal(spry_plan_check(plan, 1), SPRY_WRONG);
    ((float *)sp_sparse_plan_of(plan)->packed->part[0].val)[5] -= 0.01f;
    ((int32_t *)sp_sparse_plan_of(plan)->packed->part[0].col)[5] ^= 1;
    assert_int_equal(spry_plan_check(plan, 1), SPRY_WRONG);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Kernels that do wrong in one way each, around a right one. */
static sp_kernel *right;

static int also_behind(const sp_args *a)
{
    right(a);
    ((float *)a->C)[a->rows * a->n] = 1;
    return 0;
}

static int also_before(const sp_args *a)
{
    right(a);
    ((float *)a->C)[-1] = 1;
    return 0;
}

/* Only with beta, and only in one row of many. */
static int one_row_twice(const sp_args *a)
{
    sp_args b = *a;

    right(a);
    b.first = a->rows / 2 + 1;
    b.last = b.first + 1;
    return a->beta != 0 ? right(&b) : 0;
}

static int one_value_off(const sp_args *a)
{
    right(a);
    ((float *)a->C)[((const int32_t *)a->start)[a->rows / 2 + 1]] += 1;
    return 0;
}

static int says_nothing(const sp_args *a)
{
    right(a);
    return 0;
}

static spry_status check_with(sp_kernel *wrong, const spry_problem *p,
                              const char *schedule)
{
    spry_schedule x;
    spry_plan *plan;
    spry_status s;

    check_ok(spry_schedule_parse(&x, schedule));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    check_ok(spry_plan_check(plan, 1));
    right = ((sp_sparse_plan *)plan)->kernel;
    ((sp_sparse_plan *)plan)->kernel = wrong;
    s = spry_plan_check(plan, 1);
    spry_plan_free(plan);
    return s;
}

static void oracle_notices_wrong_kernels(void **state)
{
    spry_matrix *A = make_matrix(9);
    spry_problem *spmm, *spmv;

    (void)state;
    check_ok(spry_problem_spmm(&spmm, A, 5, SPRY_F32));
    check_ok(spry_problem_spmv(&spmv, A, SPRY_F32));
    assert_int_equal(check_with(also_behind, spmm, "csr tile=1"), SPRY_WRONG);
    assert_non_null(strstr(spry_message(), "behind"));
    assert_int_equal(check_with(also_before, spmm, "csr tile=1"), SPRY_WRONG);
    assert_non_null(strstr(spry_message(), "before"));
    assert_int_equal(check_with(says_nothing, spmv, "bcsr r=4 c=4"),
                     SPRY_WRONG);
    assert_non_null(strstr(spry_message(), "NaN"));
    spry_problem_free(spmm);
    spry_problem_free(spmv);
    spry_matrix_free(A);
}

/* So many rows that only some are compared one by one. */
static void oracle_notices_one_row_of_many(void **state)
{
    spry_matrix *A;
    spry_problem *spmm, *sddmm;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform rows=30k nnz=90k", 1));
    check_ok(spry_problem_spmm(&spmm, A, 64, SPRY_F32));
    check_ok(spry_problem_sddmm(&sddmm, A, 64, SPRY_F32));
    assert_int_equal(check_with(one_row_twice, spmm, "csr tile=4"), SPRY_WRONG);
    assert_int_equal(check_with(one_value_off, sddmm, "csr tile=4 unroll=4"),
                     SPRY_WRONG);
    spry_problem_free(spmm);
    spry_problem_free(sddmm);
    spry_matrix_free(A);
}

static void a_glance_sees_the_first_row(void **state)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *A = make_matrix(7);
    spry_problem *p;
    spry_plan *plan;
    sp_oracle *o;

    (void)state;
    check_ok(spry_problem_spmm(&p, A, 8, SPRY_F32));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    check_ok(sp_oracle_brief(&o, sp_sparse_of(p), 1));
    check_ok(sp_oracle_glance(o, sp_sparse_plan_of(plan)));
    ((float *)sp_sparse_plan_of(plan)->packed->part[0].val)[0] += 0.5f;
    assert_int_equal(sp_oracle_glance(o, sp_sparse_plan_of(plan)), SPRY_WRONG);
    sp_oracle_free(o);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Padding must not turn an infinite operand into NaN elsewhere. */
static void padding_keeps_infinity_in_its_place(void **state)
{
    static const char *const texts[] = {"bcsr r=4 c=4", "sell slice=2",
                                        "dia slice=1", "bcsr r=2 c=8",
                                        "bcsr r=3 c=3"};
    spry_matrix *A = make_matrix(9);
    spry_problem *p;
    double x[150], y[150], want[150];

    (void)state;
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (int i = 0; i < 150; i++)
        x[i] = i;
    x[40] = HUGE_VAL;
    x[90] = (double)NAN;
    check_ok(spry_problem_reference(p, 2, x, NULL, 0, want));
    for (int t = 0; t < 5; t++)
        for (int beta = 0; beta <= 1; beta++) {
            spry_schedule s;
            spry_plan *plan;

            check_ok(spry_schedule_parse(&s, texts[t]));
            check_ok(spry_plan_make(&plan, p, &s, NULL));
            memset(y, 0, sizeof y);
            check_ok(spry_run_scaled(plan, 2, x, NULL, beta, y));
            for (int i = 0; i < 150; i++)
                assert_true(isnan(want[i]) ? isnan(y[i]) : y[i] == want[i]);
            spry_plan_free(plan);
        }
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void columns_may_come_first(void **state)
{
    static const char *const texts[] = {"csr", "csr tile=4",
                                        "bcsr r=2 c=2 tile=2"};
    spry_matrix *A = make_matrix(7);
    spry_problem *p;

    (void)state;
    check_ok(spry_problem_spmm(&p, A, 13, SPRY_F32));
    spry_problem_set_layout(p, SPRY_COL_MAJOR);
    for (int t = 0; t < 3; t++) {
        spry_schedule s;
        spry_plan *plan;

        check_ok(spry_schedule_parse(&s, texts[t]));
        check_ok(spry_plan_make(&plan, p, &s, NULL));
        check_ok(spry_plan_check(plan, 3));
        spry_plan_free(plan);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* A pass may begin anywhere in a row; stores past the cache may not. */
static void passes_of_any_width_may_stream(void **state)
{
    spry_matrix *A = make_matrix(7);
    spry_problem *p;
    spry_schedule s;
    spry_plan *plan;
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmm(&p, A, 64, SPRY_F32));
    check_ok(spry_schedule_parse(&s, "csr tile=1 pass=19 stream=1"));
    s.stream = sp_isa_of(m.isa)->streams;
    check_ok(spry_plan_make(&plan, p, &s, NULL));
    check_ok(spry_plan_check(plan, 3));
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* It may be exported, but running it would end the process. */
/* Runs of one plan side by side each need a copy of their own. */
static void copies_do_not_meet(void **state)
{
    enum { N = 40, RUNS = 16 };
    spry_matrix *A = make_matrix(6);
    spry_schedule x;
    spry_problem *p;
    spry_plan *plan;
    double *B, *want, *got;
    int64_t in, out, wrong = 0;

    (void)state;
    check_ok(spry_problem_spmm(&p, A, N, SPRY_F64));
    check_ok(spry_schedule_parse(&x, "csr tile=2 pass=16 copy=1"));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    in = spry_problem_input_size(p, 0);
    out = spry_problem_output_size(p);
    B = sp_alloc(in, sizeof *B);
    want = sp_alloc(out, sizeof *want);
    got = sp_alloc(RUNS * out, sizeof *got);
    for (int64_t k = 0; k < in; k++)
        B[k] = (double)(k % 13) - 6;
    check_ok(spry_problem_reference(p, 1, B, NULL, 0, want));
#pragma omp parallel for num_threads(4) schedule(dynamic)
    for (int r = 0; r < RUNS; r++)
        (void)spry_run(plan, B, got + r * out);
    for (int64_t k = 0; k < RUNS * out; k++)
        wrong += fabs(got[k] - want[k % out]) > 1e-9 * (1 + fabs(got[k]));
    assert_int_equal(wrong, 0);
    sp_free(B);
    sp_free(want);
    sp_free(got);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void a_plan_for_another_cpu_is_not_run(void **state)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *A = make_matrix(6);
    spry_problem *p;
    spry_machine m;
    spry_plan *plan;

    (void)state;
    check_ok(spry_machine_detect(&m));
    m.isa = m.isa == SPRY_NEON ? SPRY_AVX2 : SPRY_NEON;
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    if (spry_plan_make(&plan, p, &x, &m) == SPRY_OK)
        assert_int_equal(spry_plan_check(plan, 1), SPRY_USAGE);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* A width compiled in, and a shape nobody built in. */
static void kernels_are_made_at_run_time(void **state)
{
    static const char *const texts[] = {
        "csr tile=4 fixed=1", "csr tile=3 unroll=3 prefetch=4",
        "bcsr r=2 c=16 tile=3 fixed=1", "csr tile=12 fixed=1 order=cluster"};
    spry_matrix *A = make_matrix(6);
    spry_problem *p;

    (void)state;
    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    check_ok(spry_problem_spmm(&p, A, 77, SPRY_F32));
    for (int t = 0; t < 4; t++) {
        spry_schedule s;
        spry_plan *plan;

        check_ok(spry_schedule_parse(&s, texts[t]));
        check_ok(spry_plan_make(&plan, p, &s, NULL));
        assert_false(spry_plan_builtin(plan));
        check_ok(spry_plan_check(plan, 3));
        spry_plan_free(plan);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Refuse the n-th allocation until a plan is made without a refusal. */
static void allocation_may_fail_anywhere(void **state)
{
    static const char *const texts[] = {"csr",
                                        "csr unroll=4 order=rcm",
                                        "csr unroll=4 panel=64",
                                        "bcsr r=4 c=2",
                                        "sell slice=2 sigma=64",
                                        "dcsr unroll=2",
                                        "dia",
                                        "csr unroll=4 order=length",
                                        "sell palette=256",
                                        "bcsr r=2 c=2 rest=50"};
    spry_matrix *A = make_matrix(9);
    spry_problem *p;

    (void)state;
    check_ok(spry_problem_spmv(&p, A, SPRY_F32));
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        spry_schedule s;
        spry_plan *plan = NULL;
        int64_t before = sp_alloc_live(), n = 0;
        spry_status made;

        check_ok(spry_schedule_parse(&s, texts[t]));
        do {
            sp_alloc_refuse(++n, 0);
            made = spry_plan_make(&plan, p, &s, NULL);
            sp_alloc_refuse(0, 0);
            if (made != SPRY_OK) {
                assert_null(plan);
                assert_int_equal(made, SPRY_SYSTEM);
                assert_int_equal(sp_alloc_live(), before);
            }
        } while (made != SPRY_OK);
        assert_true(n > 3);
        spry_plan_free(plan);
        assert_int_equal(sp_alloc_live(), before);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_notices_a_wrong_value),
        cmocka_unit_test(oracle_notices_wrong_kernels),
        cmocka_unit_test(oracle_notices_one_row_of_many),
        cmocka_unit_test(a_glance_sees_the_first_row),
        cmocka_unit_test(padding_keeps_infinity_in_its_place),
        cmocka_unit_test(columns_may_come_first),
        cmocka_unit_test(passes_of_any_width_may_stream),
        cmocka_unit_test(copies_do_not_meet),
        cmocka_unit_test(a_plan_for_another_cpu_is_not_run),
        cmocka_unit_test(kernels_are_made_at_run_time),
        cmocka_unit_test(allocation_may_fail_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
