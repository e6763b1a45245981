/* test_features.c - features mean today what they meant when their version
 * was given: tests/data/features.txt has what they were then.
 *
 * A model is fitted to features and refused by a spry of another version; one
 * whose features changed without it would be used and choose badly. So who
 * changes one counts SP_FEATURES_VERSION up, runs this test with
 * SPRY_WRITE=1 in the environment, and trains the shipped models again. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/features.h"

#define GOLDEN SPRY_TEST_DATA "/features.txt"

static const char *const matrices[] = {
    "gen:powerlaw,rows=900,nnz=7000,exponent=2.2#3",
    "gen:blocks,rows=640,nnz=9000,r=4,c=8,fill=0.9#1", "gen:stencil5,nx=30#1"};

static const char *const machines[] = {
    "name A\nsockets 1\ncores 2\nthreads 2\nline 64\nisa avx2\n"
    "cache_bytes 32768 524288 33554432\ncache_shared_by 1 1 2\n"
    "memory 25274793984\nprobed 1\nat 1 2\nread 2e10 3e10\n"
    "triad 1.5e10 2.5e10\ncache_read 2e11 1e11 5e10\n"
    "latency 1.2e-9 4e-9 1.5e-8 1e-7\ngather 5e-10\nfma_f32 1e11\n"
    "fma_f64 5e10\nfork 1e-6\nnoise 0.02\n",
    "name B\nsockets 2\ncores 52\nthreads 104\nline 64\nisa avx512\n"
    "cache_bytes 32768 1048576 37486592\ncache_shared_by 1 1 26\nprobed 0\n"};

static const char *const schedules[] = {
    "csr",
    "csr tile=4 index=16 stream=1 threads=2 chunk=512",
    "csr tile=2 prefetch=12 fixed=1 threads=2",
    "bcsr r=4 c=8 tile=2",
    "sell slice=8 sigma=64 unroll=2",
    "fixed-csr threads=2"};

enum {
    MATRICES = sizeof matrices / sizeof *matrices,
    MACHINES = sizeof machines / sizeof *machines,
    SCHEDULES = sizeof schedules / sizeof *schedules,
    MOST = 8192
};

static float value[MOST];
static int values;

static void keep(const float *x, int count)
{
    assert_true(values + count <= MOST);
    memcpy(value + values, x, (size_t)count * sizeof *x);
    values += count;
}

static void take_point(const sp_sparse *p, const spry_machine *m,
                       const char *text)
{
    float out[SP_SCHEDULE > SP_JOINT ? SP_SCHEDULE : SP_JOINT] = {0};
    sp_joint_of j = {p, m, 1e-4};
    spry_schedule x;

    /* As it stands; only fixed-csr asks for the operation. */
    if (spry_schedule_parse(&x, text) != SPRY_OK &&
        spry_schedule_parse_for(&x, text, p->op) != SPRY_OK)
        fail_msg("%s: %s", text, spry_message());
    sp_features_schedule(out, &x, p->op);
    keep(out, SP_SCHEDULE);
    memset(out, 0, sizeof out);
    sp_features_joint(out, &j, &x);
    keep(out, SP_JOINT);
}

static void take_matrix(const char *source)
{
    float pattern[SP_PATTERN], machine[SP_MACHINE];
    spry_matrix *A;
    spry_problem *p;
    spry_machine m;

    check_ok(spry_matrix_read(&A, source));
    check_ok(spry_problem_spmm(&p, A, 48, SPRY_F32));
    check_ok(sp_features_pattern(pattern, sp_sparse_of(p)));
    keep(pattern, SP_PATTERN);
    for (int i = 0; i < MACHINES; i++) {
        check_ok(spry_machine_parse(&m, machines[i], "machine"));
        sp_features_machine(machine, &m);
        keep(machine, SP_MACHINE);
        for (int k = 0; k < SCHEDULES; k++)
            take_point(sp_sparse_of(p), &m, schedules[k]);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void write_golden(void)
{
    FILE *f = fopen(GOLDEN, "w");

    assert_non_null(f);
    fprintf(f, "version %d\n", SP_FEATURES_VERSION);
    for (int i = 0; i < values; i++)
        if (isfinite(value[i]))
            fprintf(f, "%.5g\n", (double)value[i]);
        else
            fprintf(f, "-\n");
    fclose(f);
}

/* Logarithms and divisions may differ in their last digits elsewhere. */
static int is_near(float now, const char *then)
{
    double was = strtod(then, NULL);

    if (*then == '-' && then[1] == '\n')
        return !isfinite(now);
    return fabs((double)now - was) <= 2e-3 * (1 + fabs(was));
}

static void features_mean_what_their_version_says(void **state)
{
    char line[64];
    int version = 0, i = 0;
    FILE *f;

    (void)state;
    values = 0;
    for (int k = 0; k < MATRICES; k++)
        take_matrix(matrices[k]);
    if (getenv("SPRY_WRITE"))
        write_golden();
    f = fopen(GOLDEN, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(sscanf(line, "version %d", &version), 1);
    if (version != SP_FEATURES_VERSION)
        fail_msg("features.txt is of version %d: SPRY_WRITE=1 writes it anew",
                 version);
    for (; fgets(line, sizeof line, f); i++)
        if (i >= values || !is_near(value[i], line))
            fail_msg("feature %d of %d is %g, was %s: count "
                     "SP_FEATURES_VERSION up and train the models again",
                     i, values, i < values ? (double)value[i] : 0, line);
    fclose(f);
    assert_int_equal(i, values);
}

/* In the order of elastic.c. */
enum { CYCLE, GATHER, FORK, ISSUE, CHUNK = 8 };

static void elasticities_of(float out[SP_ELASTICITIES], const spry_problem *p,
                            const char *text)
{
    spry_schedule x;
    spry_machine m;

    check_ok(spry_machine_parse(&m, machines[0], "machine"));
    check_ok(spry_schedule_parse(&x, text));
    sp_elasticities(out, sp_sparse_of(p), &x, &m);
}

/* A time grows with what it consists of and with nothing else: threads that
 * are not started take no time, chunks that are not dealt out neither. */
static void elasticities_are_of_what_a_schedule_does(void **state)
{
    float one[SP_ELASTICITIES], two[SP_ELASTICITIES], none[SP_ELASTICITIES];
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *A;
    spry_problem *p;

    (void)state;
    check_ok(spry_matrix_read(&A, matrices[0]));
    check_ok(spry_problem_spmm(&p, A, 48, SPRY_F32));
    elasticities_of(one, p, "csr tile=2");
    elasticities_of(two, p, "csr tile=2 threads=2 chunk=64");
    assert_true(one[CYCLE] > 0.1F && one[CYCLE] <= 1.001F);
    assert_true(one[ISSUE] <= 0);
    assert_true(one[FORK] == 0 && one[CHUNK] == 0 && one[GATHER] == 0);
    assert_true(two[FORK] > 0 && two[CHUNK] > 0);
    assert_true(two[CYCLE] < one[CYCLE]);
    sp_elasticities(none, NULL, &x, NULL);
    for (int k = 0; k < SP_ELASTICITIES; k++)
        assert_true(none[k] == 0);
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_mean_what_their_version_says),
        cmocka_unit_test(elasticities_are_of_what_a_schedule_does)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
