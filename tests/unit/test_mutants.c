/* test_mutants.c - kernels with a fault do not pass verification.
 *
 * A seeded sample of what bench/mutants.c does at length; only faults that
 * show in every run, so that the test's outcome is always the same. */
#include "odd_matrices.h"

#include "../../bench/faults/breed.h"
#include "../../bench/faults/net_breed.h"

enum { SAMPLE = 12 };

typedef struct {
    int killed, survived, no_effect;
} fates;

static void judge(fates *f, const spry_problem *p, const char *schedule,
                  sp_rng *r)
{
    bench_mutant m[SAMPLE];
    spry_schedule x;
    spry_plan *plan;
    sp_oracle *o;
    int n;

    check_ok(spry_schedule_parse(&x, schedule));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    check_ok(sp_oracle_make(&o, sp_sparse_of(p), 5));
    n = bench_choose(m, SAMPLE, 1, 0, sp_sparse_plan_of(plan), r);
    assert_true(n > 5);
    check_ok(bench_judge(m, n, sp_sparse_plan_of(plan), o));
    for (int i = 0; i < n; i++) {
        f->killed += m[i].fate <= BENCH_HANG;
        f->no_effect += m[i].fate == BENCH_NO_EFFECT;
        if (m[i].fate == BENCH_SURVIVED) {
            print_message("survived: %s in %s\n", m[i].fault->name, plan->text);
            f->survived++;
        }
    }
    sp_oracle_free(o);
    spry_plan_free(plan);
}

static void faults_are_noticed(void **state)
{
    static const char *const spmv[] = {"csr unroll=4 threads=3", "sell slice=2",
                                       "bcsr r=4 c=2"};
    static const char *const spmm[] = {"csr tile=2 unroll=2", "csr threads=2",
                                       "sell tile=2 slice=2"};
    spry_matrix *A = make_matrix(6);
    spry_problem *p;
    sp_rng r = sp_rng_seed(4);
    fates f = {0};

    (void)state;
    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    sp_jit_limit(240); /* wide vectors, a busy machine */
    check_ok(spry_problem_spmv(&p, A, SPRY_F32));
    for (int i = 0; i < 3; i++)
        judge(&f, p, spmv[i], &r);
    spry_problem_free(p);
    check_ok(spry_problem_spmm(&p, A, 13, SPRY_F64));
    for (int i = 0; i < 3; i++)
        judge(&f, p, spmm[i], &r);
    spry_problem_free(p);
    check_ok(spry_problem_sddmm(&p, A, 21, SPRY_F32));
    judge(&f, p, "csr tile=1 unroll=4", &r);
    spry_problem_free(p);
    spry_matrix_free(A);
    assert_true(f.killed >= 30);
    assert_int_equal(f.survived, 0);
}

/* A few of the loops that run networks. */
static void faults_in_networks_are_noticed(void **state)
{
    enum { FEW = 3, ALL = 64 };
    bench_mutant m[ALL];
    sp_rng r = sp_rng_seed(9);
    int n = bench_net_choose(m, ALL, 1, &r), killed = 0;

    (void)state;
    if (spry_jit_available() != SPRY_OK)
        skip_because("there is no compiler");
    assert_true(n > FEW);
    for (int i = 0; i < FEW; i++) {
        bench_mutant *one = &m[i * n / FEW];

        check_ok(bench_net_judge(one));
        assert_int_not_equal(one->fate, BENCH_SURVIVED);
        killed += one->fate <= BENCH_HANG;
    }
    assert_true(killed >= 1);
}

/* The tester itself: where a fault goes, and that a whole kernel passes. */
static void a_fault_has_its_places(void **state)
{
    static const char text[] = "for (; k < end; k++)\n    s += 1;\nk < end;";
    sp_buf out = {0};
    const bench_fault *f = bench_faults; /* bound one too far */

    (void)state;
    assert_int_equal(bench_fault_places(text, f), 2);
    assert_true(bench_fault_apply(&out, text, f, 2) < 0);
    assert_true(bench_fault_apply(&out, text, f, 1) > 30);
    assert_string_equal(out.data,
                        "for (; k < end; k++)\n    s += 1;\nk <= end;");
    sp_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_noticed),
        cmocka_unit_test(faults_in_networks_are_noticed),
        cmocka_unit_test(a_fault_has_its_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
