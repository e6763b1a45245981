/* test_problem.c - keys, sizes and the reference. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "problem/sparse.h"
#include "spry.h"

/* [1 0 2; 0 0 3] */
static spry_matrix *small(double v)
{
    static const int64_t row[] = {0, 0, 1}, col[] = {0, 2, 2};
    double val[] = {1, 2, v};
    spry_matrix *A;

    check_ok(spry_matrix_triples(&A, 2, 3, 3, row, col, val, SPRY_F64));
    return A;
}

static void reference_follows_its_definition(void **state)
{
    spry_matrix *A = small(3);
    spry_problem *p;
    float x[] = {1, 10, 100}, y[] = {5, 7};
    double B[] = {1, 2, 3, 4, 5, 6}, C[4];
    double D[] = {1, 0, 0, 1, 1, 1}, E[] = {2, 3, 4, 5}, F[3];

    (void)state;
    memset(C, 0xff, sizeof C); /* NaN: C is only written */
    check_ok(spry_problem_spmv(&p, A, SPRY_F32));
    check_ok(spry_problem_reference(p, 2, x, NULL, -1, y));
    assert_true(y[0] == 2 * 201 - 5 && y[1] == 2 * 300 - 7);
    spry_problem_free(p);

    check_ok(spry_problem_spmm(&p, A, 2, SPRY_F64));
    check_ok(spry_problem_reference(p, 1, B, NULL, 0, C));
    assert_true(C[0] == 11 && C[1] == 14 && C[2] == 15 && C[3] == 18);
    spry_problem_set_layout(p, SPRY_COL_MAJOR);
    check_ok(spry_problem_reference(p, 1, B, NULL, 0, C));
    assert_true(C[0] == 7 && C[1] == 9 && C[2] == 16 && C[3] == 18);
    spry_problem_free(p);

    check_ok(spry_problem_sddmm(&p, A, 2, SPRY_F64));
    check_ok(spry_problem_reference(p, 1, E, D, 0, F));
    assert_true(F[0] == 2 && F[1] == 2 * 5 && F[2] == 3 * 9);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void keys_tell_problems_apart(void **state)
{
    spry_matrix *A = small(3), *same = small(4);
    spry_problem *p[6];

    (void)state;
    check_ok(spry_problem_spmv(&p[0], A, SPRY_F32));
    check_ok(spry_problem_spmv(&p[1], A, SPRY_F64));
    check_ok(spry_problem_spmm(&p[2], A, 8, SPRY_F32));
    check_ok(spry_problem_spmm(&p[3], A, 9, SPRY_F32));
    check_ok(spry_problem_sddmm(&p[4], A, 8, SPRY_F32));
    check_ok(spry_problem_spmm(&p[5], A, 8, SPRY_F32));
    spry_problem_set_layout(p[5], SPRY_COL_MAJOR);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(spry_problem_key(p[i]),
                                    spry_problem_key(p[j]));
    spry_problem_free(p[1]);
    check_ok(spry_problem_spmv(&p[1], same, SPRY_F32)); /* other values */
    assert_string_equal(spry_problem_key(p[0]), spry_problem_key(p[1]));
    for (int i = 0; i < 6; i++)
        spry_problem_free(p[i]);
    spry_matrix_free(A);
    spry_matrix_free(same);
}

static void senseless_sizes_are_refused(void **state)
{
    spry_matrix *A = small(3);
    spry_problem *p;

    (void)state;
    assert_int_equal(spry_problem_spmm(&p, A, -1, SPRY_F32), SPRY_USAGE);
    assert_null(p);
    assert_int_equal(spry_problem_spmm(&p, A, INT64_MAX / 2, SPRY_F32),
                     SPRY_USAGE);
    assert_int_equal(spry_problem_spmv(&p, NULL, SPRY_F32), SPRY_USAGE);
    assert_int_equal(spry_problem_spmv(&p, A, (spry_type)5), SPRY_USAGE);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_follows_its_definition),
        cmocka_unit_test(keys_tell_problems_apart),
        cmocka_unit_test(senseless_sizes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
