/* test_mttkrp.c - every way to compute mttkrp agrees with the reference. */
#include "check.h"

#include "base/base.h"
#include "plan/sparse.h"
#include "spry.h"

/* Odd tensors: empty slices, modes of one, one long fiber, nothing at all. */
static const char *const odd[] = {
    "uniform i=40 k=30 l=50 nnz=900",
    "uniform i=100 k=9 l=9 nnz=60",
    "uniform i=1 k=40 l=30 nnz=300",
    "uniform i=40 k=1 l=30 nnz=300",
    "uniform i=40 k=30 l=1 nnz=300",
    "uniform i=1 k=1 l=1 nnz=1",
    "uniform i=7 k=6 l=5 nnz=0",
    "uniform i=6 k=5 l=4 nnz=120",
    "zipf i=60 k=50 l=70 nnz=3k",
    "clusters i=64 k=50 l=40 side=4 nnz=3k",
    "fibers i=20 k=200 l=90 length=30 nnz=3k",
};
enum { ODD = sizeof odd / sizeof *odd };

static const int64_t widths[] = {1, 7, 16, 33};
enum { WIDTHS = sizeof widths / sizeof *widths };

static const char *const schedules[] = {
    "csr",
    "csr threads=2",
    "csr index=64",
    "csr threads=3 chunk=64",
    "csf",
    "csf threads=2",
    "csf index=64",
    "csf threads=3 chunk=64",
    "csr tile=1",
    "csr tile=2 index=16 prefetch=8",
    "csr tile=4 threads=2 chunk=64",
    "csr tile=4 panel=8",
    "csr tile=8 prefetch=16 panel=16 threads=3",
    "csr tile=2 pass=16",
    "csf tile=1",
    "csf tile=2 unroll=2 index=16",
    "csf tile=4 unroll=2 prefetch=8 threads=2",
    "csf tile=4 panel=8 threads=2",
    "csf tile=8 prefetch=4",
    "csf tile=2 fixed=1",
    "csf tile=2 pass=16 prefetch=4",
    "csf tile=2 modes=ilk",
    "csf tile=4 modes=ilk index=16 prefetch=8 panel=8 threads=3",
    "csf tile=2 modes=kli",
    "csf tile=4 modes=kli prefetch=8 threads=2",
    "csf tile=2 modes=kli index=16 panel=4 threads=3",
    "csf tile=2 modes=lki prefetch=4",
    "csf tile=4 modes=lki panel=16 threads=2",
    "csf tile=4 modes=lki threads=2 pass=16",
};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

static spry_machine machine;

static int know_machine(void **state)
{
    (void)state;
    return spry_machine_detect(&machine) != SPRY_OK;
}

/* Widths that would need a compiler are left to test_kernels. */
static int built_in(const spry_schedule *x, const spry_problem *p)
{
    int64_t n = spry_problem_cols(p);

    return !x->fixed || n == 16;
}

static void check_one(const sp_oracle *o, const spry_problem *p,
                      const char *text, const char *tensor)
{
    spry_schedule x;
    spry_plan *plan;
    spry_status s;

    check_ok(spry_schedule_parse(&x, text));
    if (!built_in(&x, p))
        return;
    s = spry_plan_make(&plan, p, &x, &machine);
    if (s == SPRY_USAGE) /* does not fit the problem */
        return;
    check_ok(s);
    if (sp_oracle_check(o, sp_sparse_plan_of(plan)) != SPRY_OK)
        fail_msg("%s of %s: %s", spry_problem_key(p), tensor, spry_message());
    spry_plan_free(plan);
}

static void check_tensor(const char *spec, int64_t n, spry_type type)
{
    spry_tensor *t;
    spry_problem *p;
    sp_oracle *o;

    check_ok(spry_tensor_generate(&t, spec, 1));
    check_ok(spry_problem_mttkrp(&p, t, n, type));
    check_ok(sp_oracle_make(&o, sp_sparse_of(p), 3));
    for (int i = 0; i < SCHEDULES; i++)
        check_one(o, p, schedules[i], spec);
    sp_oracle_free(o);
    spry_problem_free(p);
    spry_tensor_free(t);
}

static void kernels_agree(void **state)
{
    (void)state;
    for (int i = 0; i < ODD; i++)
        for (int j = 0; j < WIDTHS; j++)
            check_tensor(odd[i], widths[j], (i + j) % 2 ? SPRY_F32 : SPRY_F64);
}

/* Modes, panels and threads that cannot be. */
static void impossible_ones_are_refused(void **state)
{
    static const char *const text[] = {
        "csf tile=4 modes=kli chunk=64 threads=2",
        "csf tile=2 unroll=2 modes=lki",
        "csf modes=ilk",
        "csf prefetch=8",
        "csf tile=8 unroll=2",
        "csf tile=2 panel=8 pass=8",
        "csf tile=2 panel=50",
        "csr tile=2 stream=1",
        "csr tile=2 order=length",
        "bcsr r=2 c=2 tile=2",
    };
    spry_tensor *t;
    spry_problem *p;

    (void)state;
    check_ok(spry_tensor_generate(&t, "uniform i=40 k=30 l=50 nnz=900", 1));
    check_ok(spry_problem_mttkrp(&p, t, 16, SPRY_F32));
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        spry_schedule x;
        spry_plan *plan;

        check_ok(spry_schedule_parse(&x, text[i]));
        if (spry_plan_make(&plan, p, &x, &machine) != SPRY_USAGE)
            fail_msg("%s is accepted", text[i]);
    }
    spry_problem_free(p);
    spry_tensor_free(t);
}

static double predicted(const spry_problem *p, const char *text)
{
    spry_schedule x;
    spry_prediction prediction = {.size = sizeof prediction};

    check_ok(spry_schedule_parse(&x, text));
    check_ok(spry_predict(&prediction, p, &x, &machine));
    assert_true(prediction.seconds > 0 && prediction.seconds < 1e3);
    return prediction.seconds;
}

/* What everyone knows, the model knows. */
static void model_knows_fibers(void **state)
{
    spry_tensor *t;
    spry_problem *p;

    (void)state;
    check_ok(spry_tensor_generate(&t, "fibers i=2k k=2k l=2k nnz=100k", 1));
    check_ok(spry_problem_mttkrp(&p, t, 32, SPRY_F32));
    assert_true(predicted(p, "csf tile=4") < predicted(p, "csr tile=4"));
    assert_true(predicted(p, "csf tile=4") < predicted(p, "csf"));
    assert_true(predicted(p, "csf tile=4") <
                predicted(p, "csf tile=4 modes=ilk"));
    spry_problem_free(p);
    spry_tensor_free(t);
    check_ok(spry_tensor_generate(&t, "uniform i=99k k=99k l=99k nnz=300k", 1));
    check_ok(spry_problem_mttkrp(&p, t, 32, SPRY_F32));
    assert_true(predicted(p, "csr tile=4") < predicted(p, "csr"));
    assert_true(predicted(p, "csr tile=4 prefetch=16") <
                predicted(p, "csr tile=4"));
    spry_problem_free(p);
    spry_tensor_free(t);
}

/* From a problem to a plan that is right, nothing remembered. */
static void tuning_ends_in_a_plan(void **state)
{
    spry_tune_options opt = SPRY_TUNE_DEFAULTS;
    spry_tensor *t;
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    opt.seconds = 0.5;
    opt.store = ":memory:";
    check_ok(spry_tensor_generate(&t, "fibers i=300 k=200 l=400 nnz=20k", 1));
    check_ok(spry_problem_mttkrp(&p, t, 24, SPRY_F32));
    check_ok(spry_tune(&plan, p, &opt));
    check_ok(spry_plan_check(plan, 9));
    assert_true(spry_plan_tuning(plan)->verified);
    assert_int_equal(spry_run(plan, NULL, NULL), SPRY_USAGE);
    spry_plan_free(plan);
    opt.effort = SPRY_PREDICT;
    check_ok(spry_tune(&plan, p, &opt));
    check_ok(spry_plan_check(plan, 9));
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_tensor_free(t);
}

/* Large enough that only a sample of rows is compared one by one. */
static void sampled_results_agree(void **state)
{
    (void)state;
    check_tensor("uniform i=3k k=100 l=100 nnz=200k", 32, SPRY_F32);
    check_tensor("fibers i=3k k=100 l=100 nnz=200k", 32, SPRY_F64);
}

/* A kernel that leaves one entry of an unsampled row out is found. */
static void wrong_results_are_found(void **state)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_tensor *t;
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_tensor_generate(&t, "uniform i=3k k=100 l=100 nnz=200k", 1));
    check_ok(spry_problem_mttkrp(&p, t, 32, SPRY_F32));
    check_ok(spry_plan_make(&plan, p, &x, &machine));
    check_ok(spry_plan_check(plan, 1));
    ((int32_t *)sp_sparse_plan_of(plan)->packed->part->mid)[123457] ^= 1;
    assert_int_equal(spry_plan_check(plan, 1), SPRY_WRONG);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_tensor_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(impossible_ones_are_refused),
        cmocka_unit_test(model_knows_fibers),
        cmocka_unit_test(tuning_ends_in_a_plan),
        cmocka_unit_test(sampled_results_agree),
        cmocka_unit_test(wrong_results_are_found),
    };

    return cmocka_run_group_tests(tests, know_machine, NULL);
}
