/* test_mttkrp.c - every way to compute mttkrp agrees with the reference. */
#include "check.h"

#include "base/base.h"
#include "plan/plan.h"
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
    "csr", "csr threads=2", "csr index=64", "csr threads=3 chunk=64",
    "csf", "csf threads=2", "csf index=64", "csf threads=3 chunk=64",
};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

static void check_one(const sp_oracle *o, const spry_problem *p,
                      const char *text, const char *tensor)
{
    spry_schedule x;
    spry_plan *plan;
    spry_status s;

    check_ok(spry_schedule_parse(&x, text));
    s = spry_plan_make(&plan, p, &x, NULL);
    if (s == SPRY_USAGE) /* does not fit the problem */
        return;
    check_ok(s);
    if (sp_oracle_check(o, plan) != SPRY_OK)
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
    check_ok(sp_oracle_make(&o, p, 3));
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
            for (int type = 4; type <= 8; type += 4)
                check_tensor(odd[i], widths[j], (spry_type)type);
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
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    check_ok(spry_plan_check(plan, 1));
    ((int32_t *)plan->packed->part->mid)[123457] ^= 1;
    assert_int_equal(spry_plan_check(plan, 1), SPRY_WRONG);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_tensor_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(sampled_results_agree),
        cmocka_unit_test(wrong_results_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
