/* test_steps.c - slices with columns of 8 bits and a base per step. */
#include "odd_matrices.h"

#include <string.h>

#include "matrix/steps.h"
#include "plan/sparse.h"

static const char *const texts[] = {
    "sell index=8",
    "sell slice=2 index=8 threads=2",
    "sell slice=4 index=8 threads=3 chunk=1",
    "sell slice=2 index=8 palette=256 threads=2",
    "sell slice=2 index=8 gather=1",
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* Values that a palette holds; zeros and infinities are among them. */
static spry_matrix *make_few(int which)
{
    static const double value[] = {2, -0.25, 0, HUGE_VAL, -3, 0.5, 7};
    spry_matrix *A = make_matrix(which);

    for (int64_t k = 0; k < A->nnz; k++)
        ((double *)(uintptr_t)A->val)[k] = value[k * k % 7];
    return A;
}

/* A slice has as many rows as lanes; wide ones may be mostly fillers. */
static spry_status expected(const spry_matrix *A, const char *text,
                            spry_type type, spry_isa isa)
{
    spry_schedule x;
    int64_t total = 0;
    int lanes;

    check_ok(spry_schedule_parse(&x, text));
    lanes =
        sp_schedule_slice(&x, SPRY_SPMV, spry_isa_bytes(isa) / (int32_t)type);
    for (int64_t i = 0; i < A->rows; i += lanes)
        total += lanes * sp_steps_count(A, i, lanes);
    return sp_schedule_steps(total, A->nnz);
}

static int check_matrix(const spry_matrix *A, spry_type type, spry_isa isa)
{
    spry_problem *p;
    int made = 0;

    check_ok(spry_problem_spmv(&p, A, type));
    for (int t = 0; t < TEXTS; t++) {
        spry_plan *plan;

        if (strstr(texts[t], "gather") && !sp_isa_of(isa)->gathers)
            continue;
        assert_int_equal(make_plan(&plan, p, texts[t], isa),
                         expected(A, texts[t], type, isa));
        if (!plan)
            continue;
        check_ok(spry_plan_check(plan, 7));
        spry_plan_free(plan);
        made++;
    }
    spry_problem_free(p);
    return made;
}

static void all_kernels_agree(void **state)
{
    int sets = 0, made = 0;

    (void)state;
    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    for (int a = 0; a < MAKERS; a++) {
        spry_matrix *A = make_few(a);

        for (int isa = 0; isa < sp_isa_count; isa++)
            for (int t = 4; sp_isas[isa].runs_here() && t <= 8; t += 4) {
                made += check_matrix(A, (spry_type)t, (spry_isa)isa);
                sets++;
            }
        spry_matrix_free(A);
    }
    assert_true(made > 3 * sets); /* of five, or four without gathers */
}

/* Every entry is taken once, in order, within reach of its step's base. */
static void steps_take_every_entry(void **state)
{
    spry_matrix *A;
    sp_steps s;
    int64_t next[8], base, last = -1;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform rows=11 cols=9000 nnz=300", 1));
    for (int first = 0; first < 16; first += 8) {
        for (int l = 0; l < 8; l++)
            next[l] = first + l < 11 ? A->start[first + l] : 0;
        sp_steps_begin(&s, A, first, 8);
        for (last = -1; (base = sp_steps_next(&s, A)) >= 0; last = base) {
            assert_true(base >= last);
            for (int l = 0; l < 8; l++)
                if (s.took[l] >= 0) {
                    assert_int_equal(s.took[l], next[l]++);
                    assert_in_range(sp_col(A, s.took[l]) - base, 0, 255);
                }
        }
        for (int l = 0; l < 8; l++)
            assert_int_equal(next[l],
                             first + l < 11 ? A->start[first + l + 1] : 0);
    }
    spry_matrix_free(A);
}

/* Rows that go apart are refused, before packing and by it; neighbours that
 * stay together need hardly more than a byte per column. */
static void far_columns_are_refused(void **state)
{
    static const struct {
        const char *spec;
        spry_status status;
    } c[] = {{"uniform rows=20k nnz=200k", SPRY_USAGE},
             {"stencil27 nx=24", SPRY_OK},
             {"banded rows=20k band=60", SPRY_OK}};

    (void)state;
    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        spry_prediction guess = {.size = sizeof guess};
        spry_schedule x;
        spry_machine m;
        spry_matrix *A;
        spry_problem *p;
        spry_plan *plan;

        check_ok(spry_machine_detect(&m));
        check_ok(spry_matrix_generate(&A, c[i].spec, 1));
        check_ok(spry_problem_spmv(&p, A, SPRY_F32));
        check_ok(spry_schedule_parse(&x, "sell index=8"));
        assert_int_equal(spry_predict(&guess, p, &x, &m), c[i].status);
        assert_int_equal(spry_plan_make(&plan, p, &x, &m), c[i].status);
        if (plan) {
            double size = (double)A->nnz;

            check_ok(spry_plan_check(plan, 3));
            assert_true(spry_plan_bytes(plan) < 7 * size);
            assert_true(fabs(guess.bytes - spry_plan_bytes(plan)) <
                        0.1 * guess.bytes);
        }
        spry_plan_free(plan);
        spry_problem_free(p);
        spry_matrix_free(A);
    }
}

/* Fillers point at columns their row does not have. */
static void fillers_meet_no_infinity(void **state)
{
    spry_matrix *A = make_few(11);
    spry_problem *p;
    spry_machine m;
    double x[64], y[60], want[60];

    (void)state;
    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (int i = 0; i < 64; i++)
        x[i] = i;
    x[0] = HUGE_VAL;
    x[33] = (double)NAN;
    for (int beta = 0; beta < 2; beta++)
        for (int t = 0; t < TEXTS - 1; t++) {
            spry_plan *plan;

            for (int i = 0; i < 60; i++)
                y[i] = want[i] = i;
            check_ok(spry_problem_reference(p, 2, x, NULL, beta, want));
            check_ok(make_plan(&plan, p, texts[t], m.isa));
            check_ok(spry_run_scaled(plan, 2, x, NULL, beta, y));
            for (int i = 0; i < 60; i++)
                assert_true(isnan(want[i]) ? isnan(y[i]) : y[i] == want[i]);
            spry_plan_free(plan);
        }
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void what_does_not_go_together(void **state)
{
    static const char *const no[] = {
        "sell index=8 sigma=64",          "sell index=8 panel=16",
        "sell index=8 prefetch=4",        "sell index=8 palette=1",
        "csr unroll=4 index=8",           "bcsr r=2 c=2 index=8",
        "super loops=ik dense=i index=8",
    };
    spry_matrix *A = make_matrix(9);
    spry_problem *p;
    spry_machine m;

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        spry_schedule x;

        check_ok(spry_schedule_parse_for(&x, no[i], SPRY_SPMV));
        assert_int_equal(spry_schedule_legal(&x, p, &m), SPRY_USAGE);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kernels_agree),
        cmocka_unit_test(steps_take_every_entry),
        cmocka_unit_test(far_columns_are_refused),
        cmocka_unit_test(fillers_meet_no_infinity),
        cmocka_unit_test(what_does_not_go_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
