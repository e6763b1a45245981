/* test_tune.c - the whole path, and what may go wrong on it. */
#include "tune_fixture.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

/* Trials that become records: of doubtful ones, which a busy machine makes,
 * nothing is known. */
static int kept(const spry_tuning *t)
{
    int n = 0;

    for (int i = 0; i < t->trials; i++)
        n += t->trial[i].verdict != SPRY_VERDICT_DOUBTFUL;
    return n;
}

static void a_tune_is_verified_and_remembered(void **state)
{
    fixture *f = *state;
    spry_plan *plan, *again;
    const spry_tuning *t, *u;
    spry_records *db;
    int64_t records, answers, machines;

    check_ok(spry_tune(&plan, f->p, &f->opt));
    t = spry_plan_tuning(plan);
    assert_true(t->verified && !t->looked_up);
    assert_true(t->trials >= 1);
    assert_true(t->baseline_seconds > 0 && t->seconds > 0);
    assert_true(t->low <= t->speedup && t->speedup <= t->high);
    assert_true(!t->changed || t->low > 1.02);
    check_ok(spry_plan_check(plan, 7));

    check_ok(spry_records_open(&db, f->store));
    check_ok(spry_records_count(db, &records, &answers, &machines));
    assert_true(records >= kept(t) && answers == 1 && machines == 1);
    spry_records_close(db);

    check_ok(spry_tune(&again, f->p, &f->opt));
    u = spry_plan_tuning(again);
    assert_true(u->looked_up && u->verified && u->trials == 0);
    assert_true(spry_machine_grade(&u->machine) != '?');
    assert_string_equal(spry_plan_text(plan), spry_plan_text(again));
    assert_true(u->speedup == t->speedup);
    assert_int_equal(u->changed, t->changed);
    spry_plan_free(again);

    f->opt.again = 1;
    check_ok(spry_tune(&again, f->p, &f->opt));
    assert_false(spry_plan_tuning(again)->looked_up);
    spry_plan_free(again);
    spry_plan_free(plan);
}

static void few_calls_are_not_worth_it(void **state)
{
    fixture *f = *state;
    spry_plan *plan;

    f->opt.calls = 1;
    check_ok(spry_tune(&plan, f->p, &f->opt));
    assert_false(spry_plan_tuning(plan)->changed);
    assert_int_equal(spry_plan_tuning(plan)->trials, 0);
    assert_non_null(strstr(spry_plan_tuning(plan)->note, "calls"));
    spry_plan_free(plan);
}

static void efforts_without_measuring(void **state)
{
    fixture *f = *state;
    spry_plan *plan;

    f->opt.effort = SPRY_LOOKUP;
    check_ok(spry_tune(&plan, f->p, &f->opt));
    assert_false(spry_plan_tuning(plan)->changed);
    spry_plan_free(plan);
    f->opt.effort = SPRY_PREDICT;
    check_ok(spry_tune(&plan, f->p, &f->opt));
    assert_int_equal(spry_plan_tuning(plan)->trials, 0);
    assert_true(spry_plan_tuning(plan)->verified);
    check_ok(spry_plan_check(plan, 7));
    spry_plan_free(plan);
}

static int stop_at_once(const spry_progress *now, void *payload)
{
    ++*(int *)payload;
    return now->trials > 0;
}

static void a_stop_keeps_what_is_known(void **state)
{
    fixture *f = *state;
    spry_plan *plan;
    int calls = 0;

    f->opt.seconds = 60;
    f->opt.progress = stop_at_once;
    f->opt.payload = &calls;
    check_ok(spry_tune(&plan, f->p, &f->opt));
    assert_true(spry_plan_tuning(plan)->stopped);
    assert_true(calls > 0);
    check_ok(spry_plan_check(plan, 7));
    spry_plan_free(plan);
}

/* Once as many trials are done as are planned, the final may be under way. */
static int stop_late(const spry_progress *now, void *payload)
{
    int *calls = payload;

    *calls = now->trials == now->planned && now->planned > 4 ? *calls + 1 : 0;
    return *calls > 2;
}

/* Whenever it comes, a plan is handed out that is right. */
static void a_stop_may_come_in_the_final(void **state)
{
    fixture *f = *state;
    const spry_tuning *t;
    spry_plan *plan;
    int calls = 0;

    f->opt.progress = stop_late;
    f->opt.payload = &calls;
    f->opt.seconds = 3;
    check_ok(spry_tune(&plan, f->p, &f->opt));
    t = spry_plan_tuning(plan);
    assert_true(t->verified && (!t->changed || t->low > 1.02));
    check_ok(spry_plan_check(plan, 7));
    spry_plan_free(plan);
}

/* A result as a heat would have left it. */
static void set_result(sp_tuner *t, int i, int threads, double low)
{
    sp_result *r = &sp_results(t)[i];

    r->x = tiled(i < t->baselines ? 0 : 4, i);
    r->x.threads = threads;
    r->verdict = SPRY_VERDICT_OK;
    r->racer.compared = r->racer.pairs = 9;
    r->racer.seconds = 1e-4;
    r->racer.low = low;
    r->racer.speedup = r->racer.high = low + 0.1;
    r->done = 1;
}

/* A stop hands out what is surely faster, whoever else looked faster. */
static void a_stop_loses_no_winner(void **state)
{
    fixture *f = *state;
    spry_tuning story = {.changed = 0};
    sp_tuner t = {.p = f->p, .opt = f->opt, .baselines = 2, .stopped = 1};

    check_ok(sp_shared_open(&t.shared, SP_RESULTS * sizeof(sp_result)));
    set_result(&t, 0, 1, 1);
    set_result(&t, 1, 2, 1.5); /* a plain way, faster than the first one */
    set_result(&t, 2, 1, 1.1);
    set_result(&t, 3, 2, 1.2); /* too risky: short, on more threads */
    set_result(&t, 4, 1, 1.3);
    sp_results(&t)[4].racer.compared = 3; /* too few to be sure */
    t.count = 5;
    check_ok(sp_tune_decide(&t, &story));
    assert_true(story.changed && story.low == 1.1);
    assert_string_equal(story.best, sp_results(&t)[2].x.text);
    sp_results(&t)[2].racer.low = 1.01; /* nobody is left */
    check_ok(sp_tune_decide(&t, &story));
    assert_true(!story.changed && story.speedup == 1);
    assert_string_equal(story.best, sp_results(&t)[1].x.text);
    sp_shared_close(&t.shared);
}

/* Behind all deadlines the plain ways, and one more, are still measured. */
static void a_first_heat_there_is(void **state)
{
    fixture *f = *state;
    sp_tuner t = {.p = f->p,
                  .family = sp_family_of(f->p),
                  .opt = f->opt,
                  .best = -1,
                  .baselines = 2,
                  .deadline = sp_seconds() - 1};

    check_ok(spry_machine_detect(&t.m));
    check_ok(t.family->ask(&t.oracle, f->p, 1, SP_TO_CHECK));
    check_ok(sp_shared_open(&t.shared, SP_RESULTS * sizeof(sp_result)));
    for (; t.count < 5; t.count++)
        sp_results(&t)[t.count].x = tiled(t.count, 0);
    check_ok(sp_tune_heats(&t, 0));
    for (int i = 0; i < t.count; i++)
        assert_int_equal(sp_results(&t)[i].done, i < 3);
    t.family->forget(t.oracle);
    sp_shared_close(&t.shared);
}

/* Time ended and nothing was proven: who has no more of it is told so. */
static void what_time_did_not_prove_is_an_answer(void **state)
{
    fixture *f = *state;
    spry_answer a = {.problem = spry_problem_key(f->p),
                     .baseline = "csr",
                     .schedule = "csr",
                     .baseline_seconds = 1e-4,
                     .seconds = 1e-4,
                     .speedup = 1,
                     .tuning_seconds = 5,
                     .when = 1};
    const spry_tuning *t;
    spry_records *db;
    spry_machine m;
    spry_plan *plan;
    int calls = 0;

    check_ok(spry_machine_detect(&m));
    a.machine = m.fingerprint;
    sp_answer_unproven(&a);
    check_ok(spry_records_open(&db, f->store));
    check_ok(spry_records_answer(db, &a));
    spry_records_close(db);
    f->opt.seconds = 4;
    check_ok(spry_tune(&plan, f->p, &f->opt));
    t = spry_plan_tuning(plan);
    assert_true(t->looked_up && !t->changed && t->low == 1 && t->high == 1);
    assert_non_null(strstr(t->note, "proven in 5 s"));
    spry_plan_free(plan);
    f->opt.seconds = 60;
    f->opt.progress = stop_at_once;
    f->opt.payload = &calls;
    check_ok(spry_tune(&plan, f->p, &f->opt));
    assert_false(spry_plan_tuning(plan)->looked_up);
    spry_plan_free(plan);
    f->opt.effort = SPRY_PREDICT; /* who measures nothing stays there */
    check_ok(spry_tune(&plan, f->p, &f->opt));
    t = spry_plan_tuning(plan);
    assert_true(t->looked_up && !t->changed);
    assert_string_equal(t->best, "csr");
    spry_plan_free(plan);
}

static int64_t answers_of(spry_records *db)
{
    int64_t records, answers, machines;

    check_ok(spry_records_count(db, &records, &answers, &machines));
    return answers;
}

static void a_tune_that_is_late_says_so_in_the_store(void **state)
{
    fixture *f = *state;
    spry_tuning story = {.best = "csr", .baseline = "csr", .speedup = 1};
    sp_tuner t = {.p = f->p, .opt = f->opt, .late = 1};
    spry_plan *plan;
    spry_answer a;
    int found;

    story.low = story.high = 1;
    check_ok(spry_plan_from(&plan, f->p, "csr", NULL));
    check_ok(spry_machine_detect(&t.m));
    check_ok(spry_records_open(&t.db, f->store));
    t.opt.again = 1;
    sp_tune_conclude(&t, &story, plan);
    assert_int_equal(answers_of(t.db), 0);
    t.opt.again = 0;
    sp_tune_conclude(&t, &story, plan);
    assert_int_equal(answers_of(t.db), 1);
    check_ok(spry_records_find(t.db, &a, &found, spry_problem_key(f->p),
                               t.m.fingerprint, 0, SPRY_PREDICT));
    assert_false(found); /* by those who want to know how to compute it */
    spry_records_close(t.db);
    spry_plan_free(plan);
}

/* However long the search, the final needs its places. */
static void the_final_always_has_room(void **state)
{
    fixture *f = *state;
    sp_tuner t = {.p = f->p,
                  .family = sp_family_of(f->p),
                  .opt = f->opt,
                  .best = -1,
                  .list = {.most = SP_RESULTS - SP_FINALISTS}};
    int added;

    check_ok(spry_machine_detect(&t.m));
    check_ok(sp_shared_open(&t.shared, SP_RESULTS * sizeof(sp_result)));
    t.opt.effort = SPRY_PATIENT;
    t.list.list = sp_alloc(t.list.most, sizeof *t.list.list);
    check_ok(sp_tune_consult(&t));
    for (; t.count < SP_RESULTS - SP_FINALISTS - 1; t.count++) {
        sp_result *r = &sp_results(&t)[t.count];

        r->x = t.count ? tiled(4, 20 + t.count) : tiled(4, 0);
        t.list.list[t.count] = r->x;
        r->racer.speedup = SP_RESULTS - t.count;
        r->fastest = 1;
        r->done = 1;
    }
    check_ok(sp_tune_evolve(&t, &added));
    assert_int_equal(added, 1);
    check_ok(sp_tune_evolve(&t, &added));
    assert_int_equal(added, 0);
    t.family->dismiss(t.adviser);
    sp_free(t.list.list);
    sp_shared_close(&t.shared);
}

/* The user's own is only noted. */
static void a_named_store_must_be_one(void **state)
{
    fixture *f = *state;
    const char *home = getenv("SPRY_HOME");
    char kept[4096];
    spry_plan *plan;

    snprintf(kept, sizeof kept, "%s", home ? home : "");
    f->opt.store = "/proc/nowhere/records.db";
    f->opt.seconds = 0;
    assert_int_equal(spry_tune(&plan, f->p, &f->opt), SPRY_SYSTEM);
    assert_null(plan);
    check_ok(sp_file_write("junk.db", "hello, this is my thesis", 24));
    f->opt.store = "junk.db";
    assert_int_equal(spry_tune(&plan, f->p, &f->opt), SPRY_STORE);
    assert_non_null(strstr(spry_message(), "move it aside"));
    unlink("junk.db");
    f->opt.store = NULL;
    setenv("SPRY_HOME", "/proc/nowhere", 1);
    check_ok(spry_tune(&plan, f->p, &f->opt));
    assert_non_null(strstr(spry_plan_tuning(plan)->note, "remembered"));
    spry_plan_free(plan);
    if (home)
        setenv("SPRY_HOME", kept, 1);
    else
        unsetenv("SPRY_HOME");
}

static void problems_without_work_have_plans_too(void **state)
{
    fixture *f = *state;
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;

    check_ok(spry_matrix_triples(&A, 3, 4, 0, NULL, NULL, NULL, SPRY_F64));
    check_ok(spry_problem_spmm(&p, A, 2, SPRY_F64));
    check_ok(spry_tune(&plan, p, &f->opt));
    assert_false(spry_plan_tuning(plan)->changed);
    spry_plan_free(plan);
    spry_problem_free(p);
    check_ok(spry_problem_spmm(&p, f->A, 0, SPRY_F64));
    check_ok(spry_tune(&plan, p, &f->opt));
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void options_are_checked(void **state)
{
    fixture *f = *state;
    spry_plan *plan;

    f->opt.seconds = -1;
    assert_int_equal(spry_tune(&plan, f->p, &f->opt), SPRY_USAGE);
    assert_null(plan);
    f->opt.seconds = (double)NAN;
    assert_int_equal(spry_tune(&plan, f->p, &f->opt), SPRY_USAGE);
    f->opt.seconds = 1;
    f->opt.threads = 1 << 20;
    assert_int_equal(spry_tune(&plan, f->p, &f->opt), SPRY_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_tune_is_verified_and_remembered),
        TEST(few_calls_are_not_worth_it),
        TEST(efforts_without_measuring),
        TEST(a_stop_keeps_what_is_known),
        TEST(a_stop_may_come_in_the_final),
        TEST(a_stop_loses_no_winner),
        TEST(a_first_heat_there_is),
        TEST(what_time_did_not_prove_is_an_answer),
        TEST(a_tune_that_is_late_says_so_in_the_store),
        TEST(the_final_always_has_room),
        TEST(a_named_store_must_be_one),
        TEST(problems_without_work_have_plans_too),
        TEST(options_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
