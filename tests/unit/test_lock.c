/* Lock files and the site's store: the same schedules, the same kernels, and
 * nothing written. */
#include "records_fixture.h"

#include <sys/stat.h>

#include "spry.h"
#include "tune/internal.h"

enum { PROBLEMS = 100 };

static spry_matrix *matrix_of(int i)
{
    char spec[80];
    spry_matrix *A;

    snprintf(spec, sizeof spec, "uniform,rows=%d,nnz=%d", 60 + i, 400 + 3 * i);
    check_ok(spry_matrix_generate(&A, spec, (uint64_t)i + 1));
    return A;
}

static spry_problem *problem_of(const spry_matrix *A, int i)
{
    spry_problem *p;

    check_ok(spry_problem_make(&p, i % 2 ? SPRY_SPMM : SPRY_SPMV, A,
                               i % 2 ? 8 : 1, i % 3 ? SPRY_F64 : SPRY_F32));
    return p;
}

/* Not the baseline, and another one for each. */
static const char *schedule_of(int i)
{
    static const char *const text[] = {
        "csr threads=1", "csr threads=1 index=16", "bcsr r=2 c=2 threads=1",
        "sell c=8 sigma=64 threads=1"};

    return text[i % (i % 2 ? 3 : 4)];
}

/* Text as a plan has it; 0: not legal here. */
static int make_plan(spry_plan **plan, const spry_problem *p, int i)
{
    if (spry_plan_from(plan, p, schedule_of(i), NULL) == SPRY_OK)
        return 1;
    check_ok(spry_plan_from(plan, p, "csr threads=1", NULL));
    return 1;
}

static void put(spry_records *db, int i, const char *kernel)
{
    spry_matrix *A = matrix_of(i);
    spry_problem *p = problem_of(A, i);
    spry_machine m;
    spry_plan *plan;
    char mark[SP_KERNEL_MARK];
    spry_answer a = make_answer(0, SPRY_MEASURE, 1000 + i);

    check_ok(spry_machine_detect(&m));
    assert_true(make_plan(&plan, p, i));
    sp_kernel_mark(mark, plan);
    a.problem = spry_problem_key(p);
    a.machine = m.fingerprint;
    a.schedule = spry_plan_text(plan);
    a.kernel = kernel ? kernel : mark;
    check_ok(spry_records_answer(db, &a));
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static spry_status tune(spry_plan **plan, const spry_problem *p,
                        const char *lock, spry_effort effort)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;

    o.lock = lock;
    o.effort = effort;
    return spry_tune(plan, p, &o);
}

/* 1: the plan of problem i is the one that was frozen. */
static int picks(int i, const char *lock)
{
    spry_matrix *A = matrix_of(i);
    spry_problem *p = problem_of(A, i);
    spry_plan *want, *got;
    int same;

    assert_true(make_plan(&want, p, i));
    check_ok(tune(&got, p, lock, SPRY_MEASURE));
    same = strcmp(spry_plan_text(want), spry_plan_text(got)) == 0 &&
           strcmp(spry_plan_kernel(want), spry_plan_kernel(got)) == 0;
    assert_int_equal(spry_plan_tuning(got)->looked_up, 1);
    assert_int_equal(spry_plan_tuning(got)->trials, 0);
    assert_int_equal(spry_plan_tuning(got)->verified, 1);
    spry_plan_free(got);
    spry_plan_free(want);
    spry_problem_free(p);
    spry_matrix_free(A);
    return same;
}

static void every_frozen_answer_is_picked(void **state)
{
    spry_records *db = open_store("a.db");
    int64_t answers;
    int picked = 0;

    (void)state;
    for (int i = 0; i < PROBLEMS; i++)
        put(db, i, NULL);
    put(db, 0, NULL); /* again: the newest counts, once */
    check_ok(spry_records_freeze(db, in_dir("a.lock"), &answers));
    assert_int_equal(answers, PROBLEMS);
    spry_records_close(db);
    for (int i = 0; i < PROBLEMS; i++)
        picked += picks(i, in_dir("a.lock"));
    assert_int_equal(picked, PROBLEMS);
    assert_int_not_equal(access(in_dir("home/data/records.db"), F_OK), 0);
}

static void an_unknown_problem_is_refused(void **state)
{
    spry_records *db = open_store("a.db");
    spry_matrix *A = matrix_of(7);
    spry_problem *p = problem_of(A, 7);
    spry_plan *plan;

    (void)state;
    put(db, 1, NULL);
    check_ok(spry_records_freeze(db, in_dir("a.lock"), NULL));
    spry_records_close(db);
    assert_int_equal(tune(&plan, p, in_dir("a.lock"), SPRY_MEASURE),
                     SPRY_STORE);
    assert_null(plan);
    assert_non_null(strstr(spry_message(), "has no answer for"));
    check_ok(tune(&plan, p, in_dir("a.lock"), SPRY_LOOKUP));
    assert_int_equal(spry_plan_tuning(plan)->changed, 0);
    assert_non_null(strstr(spry_plan_tuning(plan)->note, "has no answer for"));
    spry_plan_free(plan);
    assert_int_equal(tune(&plan, p, in_dir("none.lock"), SPRY_MEASURE),
                     SPRY_INPUT);
    setenv("SPRY_LOCK", in_dir("a.lock"), 1);
    assert_int_equal(tune(&plan, p, NULL, SPRY_PREDICT), SPRY_STORE);
    check_ok(tune(&plan, p, "", SPRY_LOOKUP)); /* no lock */
    assert_null(strstr(spry_plan_tuning(plan)->note, "has no answer for"));
    spry_plan_free(plan);
    unsetenv("SPRY_LOCK");
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void another_kernel_is_refused(void **state)
{
    spry_records *db = open_store("a.db");
    spry_matrix *A = matrix_of(1);
    spry_problem *p = problem_of(A, 1);
    spry_plan *plan;

    (void)state;
    put(db, 1, "00000000000000000000000000000000 gcc 1");
    check_ok(spry_records_freeze(db, in_dir("a.lock"), NULL));
    spry_records_close(db);
    assert_int_equal(tune(&plan, p, in_dir("a.lock"), SPRY_LOOKUP), SPRY_STORE);
    assert_null(plan);
    assert_non_null(strstr(spry_message(), "gcc 1"));
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void a_changed_file_is_refused(void **state)
{
    spry_records *db = open_store("a.db");
    spry_matrix *A = matrix_of(1);
    spry_problem *p = problem_of(A, 1);
    spry_plan *plan;
    sp_file f;

    (void)state;
    put(db, 1, NULL);
    check_ok(spry_records_freeze(db, in_dir("a.lock"), NULL));
    spry_records_close(db);
    check_ok(sp_file_read(&f, in_dir("a.lock"), 1 << 20));
    for (size_t n = 0; n < f.len; n += 41) {
        f.data[n] ^= 1;
        check_ok(sp_file_write(in_dir("b.lock"), f.data, f.len));
        f.data[n] ^= 1;
        if (tune(&plan, p, in_dir("b.lock"), SPRY_LOOKUP) == SPRY_OK)
            spry_plan_free(plan); /* a version's letter, say: no harm */
        else
            assert_non_null(strstr(spry_message(), "b.lock"));
        check_ok(sp_file_write(in_dir("b.lock"), f.data, n));
        assert_int_equal(tune(&plan, p, in_dir("b.lock"), SPRY_LOOKUP),
                         SPRY_INPUT);
    }
    sp_file_free(&f);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void the_site_answers_second_and_is_not_written(void **state)
{
    spry_records *db = open_store("site.db");
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_matrix *A = matrix_of(2);
    spry_problem *p = problem_of(A, 2);
    struct stat before, after;
    spry_plan *plan;
    char own[400];

    (void)state;
    put(db, 2, NULL);
    spry_records_close(db);
    assert_int_equal(stat(in_dir("site.db"), &before), 0);
    setenv("SPRY_SITE_STORE", in_dir("site.db"), 1);
    o.effort = SPRY_LOOKUP;
    snprintf(own, sizeof own, "%s", in_dir("own.db"));
    o.store = own;
    check_ok(spry_tune(&plan, p, &o));
    assert_int_equal(spry_plan_tuning(plan)->looked_up, 1);
    spry_plan_free(plan);
    assert_int_equal(stat(in_dir("site.db"), &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    assert_int_not_equal(access(in_dir("site.db-wal"), F_OK), 0);
    assert_int_not_equal(access(in_dir("site.db-shm"), F_OK), 0);

    setenv("SPRY_SITE_STORE", in_dir("nothing.db"), 1);
    check_ok(spry_tune(&plan, p, &o));
    assert_int_equal(spry_plan_tuning(plan)->looked_up, 0);
    assert_non_null(strstr(spry_plan_tuning(plan)->note, "site"));
    spry_plan_free(plan);
    assert_int_not_equal(access(in_dir("nothing.db"), F_OK), 0);
    write_bytes("empty.db", "", 0);
    setenv("SPRY_SITE_STORE", in_dir("empty.db"), 1);
    check_ok(spry_tune(&plan, p, &o));
    assert_non_null(strstr(spry_plan_tuning(plan)->note, "empty.db: empty"));
    spry_plan_free(plan);
    unsetenv("SPRY_SITE_STORE");
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void stores_are_private(void **state)
{
    mode_t old = umask(0);
    struct stat st;

    (void)state;
    spry_records_close(open_store("open.db"));
    umask(0277);
    spry_records_close(open_store("closed.db"));
    umask(old);
    assert_int_equal(stat(in_dir("open.db"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(in_dir("closed.db"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static int begin(void **state)
{
    if (make_dir(state) != 0)
        return -1;
    return setenv("SPRY_HOME", in_dir("home"), 1);
}

#define AT_HOME(test) cmocka_unit_test_setup_teardown(test, begin, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT_HOME(every_frozen_answer_is_picked),
        AT_HOME(an_unknown_problem_is_refused),
        AT_HOME(another_kernel_is_refused),
        AT_HOME(a_changed_file_is_refused),
        AT_HOME(the_site_answers_second_and_is_not_written),
        AT_HOME(stores_are_private),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
