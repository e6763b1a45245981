/* test_rest.c - full blocks as blocks, what is left of the matrix as rows. */
#include "odd_matrices.h"

#include <string.h>

#include "machine/isa.h"
#include "pack/pack.h"
#include "plan/sparse.h"

enum { N = 21 };

#define MIXED "blocks rows=517 cols=523 r=4 c=4 nnz=6k fill=0.9 scatter=0.3"
static const char *const mixed = MIXED;

static const char *const spmv[] = {
    "bcsr r=2 c=2 rest=50",
    "bcsr r=4 c=4 rest=50 threads=3",
    "bcsr r=4 c=4 rest=75 index=16 threads=2",
    "bcsr r=2 c=4 rest=50",
    "bcsr r=8 c=8 rest=25 threads=2",
    "bcsr r=3 c=3 rest=25 threads=2",
};

static const char *const spmm[] = {
    "bcsr r=2 c=2 tile=4 rest=50",
    "bcsr r=4 c=4 tile=2 rest=50 threads=3",
    "bcsr r=4 c=4 tile=2 rest=75 prefetch=4 threads=2",
    "bcsr r=4 c=4 tile=2 rest=50 pass=16 threads=2",
    "bcsr r=4 c=4 tile=1 rest=50 pass=8 copy=1 threads=3",
    "bcsr r=8 c=8 tile=1 rest=25 index=16 threads=2",
    "bcsr r=4 c=4 tile=2 rest=50 fixed=1 threads=2",
};

static spry_machine machine(void)
{
    spry_machine m;

    check_ok(spry_machine_detect(&m));
    m.threads = 3;
    return m;
}

static spry_problem *problem_of(const spry_matrix *A, int columns,
                                spry_type type)
{
    spry_problem *p;

    check_ok(columns > 1 ? spry_problem_spmm(&p, A, columns, type)
                         : spry_problem_spmv(&p, A, type));
    return p;
}

/* 1 when it could be had. */
/* The first set of this architecture. */
static spry_isa narrowest(void)
{
    int i = SPRY_PORTABLE + 1;

    while (!sp_isas[i].runs_here())
        i++;
    return (spry_isa)i;
}

static int check_one(const spry_problem *p, const char *text, spry_isa isa)
{
    spry_plan *plan;
    spry_status s = make_plan(&plan, p, text, isa);

    if (s == SPRY_USAGE) /* nothing in blocks, or nothing left */
        return 0;
    check_ok(s);
    assert_int_equal(sp_sparse_plan_of(plan)->packed->parts, 2);
    check_ok(spry_plan_check(plan, 5));
    spry_plan_free(plan);
    return 1;
}

static int check_all(const spry_matrix *A, spry_type type, spry_isa isa)
{
    int had = 0, compiles = spry_jit_available() == SPRY_OK;
    spry_problem *vector = problem_of(A, 1, type);
    spry_problem *several = problem_of(A, N, type);

    for (size_t i = 0; i < sizeof spmv / sizeof spmv[0]; i++)
        had += check_one(vector, spmv[i], isa);
    for (size_t i = 0; i < sizeof spmm / sizeof spmm[0]; i++)
        if (compiles || i < 3)
            had += check_one(several, spmm[i], isa);
    spry_problem_free(vector);
    spry_problem_free(several);
    return had;
}

static void both_parts_add_up(void **state)
{
    spry_machine m = machine();
    spry_matrix *A;

    (void)state;
    check_ok(spry_matrix_generate(&A, mixed, 1));
    assert_true(check_all(A, SPRY_F32, m.isa) >= 7);
    assert_true(check_all(A, SPRY_F64, m.isa) >= 7);
    assert_true(check_all(A, SPRY_F64, narrowest()) >= 7);
    spry_matrix_free(A);
}

static void odd_matrices_agree(void **state)
{
    spry_machine m = machine();
    int had = 0;

    (void)state;
    for (int a = 0; a < MAKERS; a++) {
        spry_matrix *A = make_matrix(a);

        had += check_all(A, SPRY_F32, m.isa);
        spry_matrix_free(A);
    }
    assert_true(had >= 8); /* stairs, repeated, dense rows */
}

/* Every entry is in one of the parts, and threads have whole rows of both. */
static void parts_share_the_rows(void **state)
{
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_matrix_generate(&A, mixed, 1));
    p = problem_of(A, 1, SPRY_F64);
    check_ok(
        make_plan(&plan, p, "bcsr r=4 c=4 rest=50 threads=3", narrowest()));
    {
        const sp_part *blocks = &sp_sparse_plan_of(plan)->packed->part[0];
        const sp_part *rest = &sp_sparse_plan_of(plan)->packed->part[1];
        const int32_t *row = rest->row;
        int64_t held = 0;

        for (int64_t k = 0; k < blocks->values; k++)
            held += ((const double *)blocks->val)[k] != 0;
        assert_int_equal(held + rest->entries, A->nnz);
        assert_true(rest->entries > 0 && blocks->entries > 0);
        for (int t = 1; t < 3; t++) {
            int64_t first = blocks->cut[t] * 4, u = rest->cut[t];

            assert_in_range(first, 1, 516);
            assert_true(u == rest->units || (row ? row[u] : u) >= first);
            assert_true(u == 0 || (row ? row[u - 1] : u - 1) < first);
        }
    }
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* Bytes are known before packing. */
static void storage_is_exact(void **state)
{
    static const char *const spec[] = {
        MIXED, "blocks rows=300 r=8 c=8 nnz=9k fill=0.7 scatter=0.1",
        "blocks rows=70001 r=2 c=2 nnz=40k fill=0.8 scatter=0.3"};

    (void)state;
    for (size_t a = 0; a < sizeof spec / sizeof spec[0]; a++) {
        spry_machine m = machine();
        spry_matrix *A;
        spry_problem *p;
        int had = 0;

        check_ok(spry_matrix_generate(&A, spec[a], 1));
        p = problem_of(A, 1, SPRY_F32);
        for (size_t i = 0; i < sizeof spmv / sizeof spmv[0]; i++) {
            spry_prediction guess = {.size = sizeof guess};
            spry_schedule x;
            spry_plan *plan;
            spry_status s;

            check_ok(spry_schedule_parse(&x, spmv[i]));
            s = spry_predict(&guess, p, &x, &m);
            assert_int_equal(spry_plan_make(&plan, p, &x, &m), s);
            if (s == SPRY_OK)
                assert_true(guess.bytes == spry_plan_bytes(plan));
            had += s == SPRY_OK;
            spry_plan_free(plan);
        }
        assert_true(had > 0);
        spry_problem_free(p);
        spry_matrix_free(A);
    }
}

/* Zeros in blocks meet infinities; what is left does not. */
static void not_finite_operands(void **state)
{
    spry_machine m = machine();
    spry_matrix *A;
    spry_problem *p;
    double x[523], y[517], want[517];

    (void)state;
    check_ok(spry_matrix_generate(&A, mixed, 1));
    p = problem_of(A, 1, SPRY_F64);
    for (int i = 0; i < 523; i++)
        x[i] = i % 7;
    x[5] = HUGE_VAL;
    x[100] = (double)NAN;
    for (int beta = 0; beta < 2; beta++)
        for (size_t i = 0; i < sizeof spmv / sizeof spmv[0]; i++) {
            spry_plan *plan;

            if (make_plan(&plan, p, spmv[i], m.isa) != SPRY_OK)
                continue;
            for (int k = 0; k < 517; k++)
                y[k] = want[k] = k;
            check_ok(spry_problem_reference(p, 2, x, NULL, beta, want));
            check_ok(spry_run_scaled(plan, 2, x, NULL, beta, y));
            for (int k = 0; k < 517; k++)
                assert_true(isnan(want[k]) ? isnan(y[k])
                                           : y[k] == want[k] ||
                                                 fabs(y[k] - want[k]) < 1e-9);
            spry_plan_free(plan);
        }
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void what_does_not_go_together(void **state)
{
    static const char *const no[] = {
        "bcsr r=2 c=2 rest=33",
        "bcsr r=2 c=2 rest=100",
        "bcsr r=1 c=4 rest=50",
        "csr unroll=4 rest=50",
        "bcsr r=4 c=4 rest=50 threads=2 chunk=4",
        "bcsr r=2 c=2 rest=-25",
    };
    static const char *const full = "blocks rows=64 r=4 c=4 nnz=512";
    spry_machine m = machine();
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_matrix_generate(&A, full, 1));
    p = problem_of(A, 1, SPRY_F64);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        spry_schedule x;

        if (spry_schedule_parse(&x, no[i]) == SPRY_OK)
            assert_int_equal(spry_schedule_legal(&x, p, &m), SPRY_USAGE);
    }
    assert_int_equal(make_plan(&plan, p, "bcsr r=4 c=4 rest=50", m.isa),
                     SPRY_USAGE);
    assert_non_null(strstr(spry_message(), "every block"));
    spry_problem_free(p);
    spry_matrix_free(A);
    check_ok(spry_matrix_generate(&A, "uniform rows=500 nnz=900", 1));
    p = problem_of(A, 1, SPRY_F64);
    assert_int_equal(make_plan(&plan, p, "bcsr r=8 c=8 rest=75", m.isa),
                     SPRY_USAGE);
    assert_non_null(strstr(spry_message(), "no block"));
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_parts_add_up),
        cmocka_unit_test(odd_matrices_agree),
        cmocka_unit_test(parts_share_the_rows),
        cmocka_unit_test(storage_is_exact),
        cmocka_unit_test(not_finite_operands),
        cmocka_unit_test(what_does_not_go_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
