/* test_palette.c - matrices with one value: kernels that never load it. */
#include "odd_matrices.h"

#include <string.h>

#include "codegen/codegen.h"
#include "plan/plan.h"

static const char *const texts[] = {
    "csr unroll=2 palette=1",
    "csr unroll=4 index=16 palette=1",
    "csr unroll=8 palette=1 order=length threads=3",
    "csr unroll=8 index=16 palette=1 threads=3 chunk=3",
    "dcsr unroll=4 palette=1",
    "dcsr unroll=2 index=16 palette=1 threads=2",
    "sell palette=1",
    "sell index=16 palette=1 sigma=64",
    "sell slice=2 palette=1 sigma=1048576",
    "sell slice=2 index=16 palette=1 threads=3",
    "sell slice=4 palette=1 sigma=64 threads=2 chunk=1",
    "sell slice=4 index=16 palette=1",
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* An odd matrix with every value the same. */
static spry_matrix *make_even(int which, double value)
{
    spry_matrix *A = make_matrix(which);

    for (int64_t k = 0; k < A->nnz; k++)
        ((double *)(uintptr_t)A->val)[k] = value;
    return A;
}

static spry_status make_plan(spry_plan **plan, const spry_problem *p,
                             const char *text, spry_isa isa)
{
    spry_schedule x;
    spry_machine m;

    check_ok(spry_machine_detect(&m));
    m.isa = isa;
    m.threads = 3;
    check_ok(spry_schedule_parse(&x, text));
    return spry_plan_make(plan, p, &x, &m);
}

static void check_matrix(const spry_matrix *A, spry_type type, spry_isa isa)
{
    spry_problem *p;

    check_ok(spry_problem_spmv(&p, A, type));
    for (int t = 0; t < TEXTS; t++) {
        spry_plan *plan;
        spry_status s = make_plan(&plan, p, texts[t], isa);

        if (A->nnz == 0 || s == SPRY_USAGE) { /* far too much padding */
            assert_int_equal(s, SPRY_USAGE);
            continue;
        }
        check_ok(s);
        assert_true(spry_plan_builtin(plan));
        check_ok(spry_plan_check(plan, 7));
        spry_plan_free(plan);
    }
    spry_problem_free(p);
}

static void kernels_without_values_agree(void **state)
{
    static const double value[] = {1, -3};
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    for (int a = 0; a < MAKERS; a++) {
        spry_matrix *A = make_even(a, value[a % 2]);

        for (int isa = SPRY_SSE2; isa <= (int)m.isa; isa++)
            for (int t = 4; t <= 8; t += 4)
                check_matrix(A, (spry_type)t, (spry_isa)isa);
        spry_matrix_free(A);
    }
}

/* Lanes whose row has ended see none of what follows. */
static void ended_rows_meet_no_infinity(void **state)
{
    spry_matrix *A = make_even(11, 1);
    spry_problem *p;
    spry_machine m;
    double x[64], y[60], want[60];

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (int i = 0; i < 64; i++)
        x[i] = i;
    x[0] = HUGE_VAL; /* where empty rows point */
    x[33] = (double)NAN;
    check_ok(spry_problem_reference(p, 2, x, NULL, 0, want));
    for (int t = 0; t < TEXTS; t++) {
        spry_plan *plan;

        check_ok(make_plan(&plan, p, texts[t], m.isa));
        memset(y, 0, sizeof y);
        check_ok(spry_run_scaled(plan, 2, x, NULL, 0, y));
        for (int i = 0; i < 60; i++)
            assert_true(isnan(want[i]) ? isnan(y[i]) : y[i] == want[i]);
        spry_plan_free(plan);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Values that differ, or whose sum could overflow where products do not. */
static void other_values_are_refused(void **state)
{
    static const double value[] = {0.5, 0, HUGE_VAL, 1e300};
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    for (int v = 0; v <= 4; v++) {
        spry_matrix *A = v < 4 ? make_even(6, value[v]) : make_matrix(6);
        spry_problem *p;
        spry_plan *plan;
        spry_prediction guess;
        spry_schedule x;

        check_ok(spry_problem_spmv(&p, A, SPRY_F64));
        check_ok(spry_schedule_parse(&x, texts[0]));
        assert_int_equal(make_plan(&plan, p, texts[0], m.isa), SPRY_USAGE);
        assert_int_equal(spry_predict(&guess, p, &x, &m), SPRY_USAGE);
        assert_false(spry_problem_stats(p)->one_value);
        spry_problem_free(p);
        spry_matrix_free(A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_without_values_agree),
        cmocka_unit_test(ended_rows_meet_no_infinity),
        cmocka_unit_test(other_values_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
