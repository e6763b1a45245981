/* test_tune_races.c - races of a tune: candidates that crash or cheat, a machine
 * at other work, a user who says stop. */
#include "tune_fixture.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "model/least.h"
#include "plan/sparse.h"

/* ---- hostile candidates ---- */

static spry_status hostile_make(spry_plan **out, const spry_problem *p,
                                const char *text, const spry_machine *m,
                                void *tools)
{
    spry_status s = sp_family_of(p)->make(out, p, text, m, tools);
    int32_t tile = spry_plan_schedule(*out)->tile;

    if (tile == 2)
        abort();
    if (s == SPRY_OK && tile == 4)
        ((int32_t *)sp_sparse_plan_of(*out)->packed->part[0].col)[3] ^= 1;
    if (tile == 8)
        _exit(0);
    if (tile == 12)
        pause();
    return s;
}

/* A tuner of the fixture's problem whose plans come from hostile_make. */
static sp_tuner hostile_tuner(const fixture *f, sp_family *family)
{
    sp_tuner t = {.p = f->p, .opt = f->opt, .best = -1};

    *family = *sp_family_of(f->p);
    family->make = hostile_make;
    t.family = family;
    t.deadline = sp_seconds() + 30;
    t.baselines = 1;
    check_ok(spry_machine_detect(&t.m));
    check_ok(family->ask(&t.oracle, f->p, 1, SP_TO_CHECK));
    check_ok(sp_shared_open(&t.shared, SP_RESULTS * sizeof(sp_result)));
    return t;
}

static void hostile_candidates_are_results(void **state)
{
    static const int32_t tiles[] = {0, 1, 2, 4, 8, 1};
    static const spry_verdict verdicts[] = {
        SPRY_VERDICT_OK,    SPRY_VERDICT_OK,    SPRY_VERDICT_CRASH,
        SPRY_VERDICT_WRONG, SPRY_VERDICT_CRASH, SPRY_VERDICT_OK};
    fixture *f = *state;
    sp_family family;
    sp_tuner t = hostile_tuner(f, &family);

    for (t.count = 0; t.count < 6; t.count++) {
        int32_t prefetch = t.count == 5 ? 4 : 0;

        sp_results(&t)[t.count].x = tiled(tiles[t.count], prefetch);
    }
    check_ok(sp_tune_heats(&t, 0));
    for (int i = 0; i < 6; i++) {
        spry_verdict v = sp_results(&t)[i].verdict;

        assert_true(sp_results(&t)[i].done);
        if (v == SPRY_VERDICT_DOUBTFUL) /* right, beside a baseline that was */
            v = SPRY_VERDICT_OK;        /* disturbed */
        assert_int_equal(v, verdicts[i]);
    }
    sp_shared_close(&t.shared);
    family.forget(t.oracle);
}

/* ---- a machine at other work, by a clock that only kernels move ---- */

static double fake_now;
static int other_work; /* runs of the parallel loop that it will cripple */
static int more_work;  /* it begins when the candidate does */

static double fake_clock(void)
{
    return fake_now;
}

enum { SERIAL, PARALLEL, CANDIDATE, KERNELS };
static sp_kernel *right[KERNELS];

/* The right results, and seconds by the clock, once per run. */
static int take(int which, const sp_args *a, double seconds)
{
    if (a->first == 0)
        fake_now += seconds;
    return right[which](a);
}

static int run_serial(const sp_args *a)
{
    return take(SERIAL, a, 2e-3);
}

static int run_parallel(const sp_args *a)
{
    if (a->first == 0 && other_work)
        other_work--, fake_now += 0.7;
    return take(PARALLEL, a, 1e-3);
}

static int run_candidate(const sp_args *a)
{
    if (a->first == 0 && more_work)
        other_work = more_work, more_work = 0;
    return take(CANDIDATE, a, 0.4e-3);
}

static spry_status timed_make(spry_plan **out, const spry_problem *p,
                              const char *text, const spry_machine *m,
                              void *tools)
{
    static sp_kernel *const timed[] = {run_serial, run_parallel, run_candidate};
    int which = strstr(text, "tile")        ? CANDIDATE
                : strstr(text, "threads=2") ? PARALLEL
                                            : SERIAL;
    spry_status s = sp_family_of(p)->make(out, p, text, m, tools);

    if (s == SPRY_OK) {
        right[which] = sp_sparse_plan_of(*out)->kernel;
        ((sp_sparse_plan *)*out)->kernel = timed[which];
    }
    return s;
}

static void take_two(void *ctx)
{
    (void)ctx;
    fake_now += 2e-3;
}

static void take_one(void *ctx)
{
    (void)ctx;
    fake_now += 1e-3;
}

static sp_proposal plain_on(int threads)
{
    spry_schedule x = spry_schedule_baseline(threads);
    sp_proposal out = {.threads = threads};

    spry_schedule_text(out.text, &x);
    return out;
}

/* Plain ways on so many threads each, and a candidate on one, that race while
 * `runs` runs of the parallel loop are crippled. The candidate's result. */
static sp_result race_beside_work(fixture *f, const int *threads, int plains,
                                  int runs)
{
    sp_family family;
    sp_tuner t = hostile_tuner(f, &family);
    sp_heats h = {.p = f->p,
                  .family = &family,
                  .m = &t.m,
                  .oracle = t.oracle,
                  .whole = 1,
                  .shared = &t.shared,
                  .baselines = plains,
                  .deadline = sp_seconds() + 60,
                  .wide = 3,
                  .o = {.seconds = 1e9, .pairs = 9, .clock = fake_clock},
                  .patience = 20};
    sp_result out;

    family.make = timed_make;
    t.m.threads = 2;
    for (int i = 0; i < plains; i++)
        sp_results(&t)[i].x = plain_on(threads[i]);
    sp_results(&t)[plains].x = tiled(4, 0);
    more_work = runs;
    check_ok(sp_heats_run(&h, 0, plains + 1));
    assert_true(sp_heats_baseline(sp_results(&t), plains)->x.threads == 2);
    out = sp_results(&t)[plains];
    assert_true(out.done);
    sp_shared_close(&t.shared);
    family.forget(t.oracle);
    return out;
}

/* The parallel loop was the fastest plain way, and then lost its cores. */
static void the_baseline_is_fastest_in_the_same_race(void **state)
{
    static const int both[] = {1, 2};
    sp_result r = race_beside_work(*state, both, 2, 1000000);

    assert_int_equal(r.verdict, SPRY_VERDICT_OK);
    assert_int_equal(r.baseline, 0);
    assert_true(fabs(r.racer.speedup - 5) < 0.01);
}

static void what_cannot_be_is_raced_again(void **state)
{
    static const int parallel[] = {2};
    sp_result r = race_beside_work(*state, parallel, 1, 8);

    assert_int_equal(r.verdict, SPRY_VERDICT_OK);
    assert_true(fabs(r.racer.speedup - 2.5) < 0.01);
}

static void what_cannot_be_is_not_stored(void **state)
{
    static const int parallel[] = {2};
    fixture *f = *state;
    sp_result r = race_beside_work(f, parallel, 1, 1000000);
    spry_machine m;
    spry_records *db;
    int64_t records, answers, machines;

    assert_int_equal(r.verdict, SPRY_VERDICT_DOUBTFUL);
    assert_non_null(strstr(r.why, "at most"));
    check_ok(spry_machine_detect(&m));
    check_ok(spry_records_open(&db, f->store));
    check_ok(sp_result_add(db, f->p, &m, &r));
    check_ok(spry_records_count(db, &records, &answers, &machines));
    assert_int_equal(records, 0);
    spry_records_close(db);
}

/* ---- cores that others use ---- */

static int64_t switches; /* grows with every look */

static sp_usage shared_usage(void)
{
    return (sp_usage){0, switches += 1000};
}

static sp_usage quiet_usage(void)
{
    return (sp_usage){0, 0};
}

/* A candidate that is twice as fast as its plain way, by a race of its
 * own. Did it win? */
static int wins(fixture *f, int threads, int barriers, sp_usage (*usage)(void))
{
    sp_family family;
    sp_tuner t = hostile_tuner(f, &family);
    sp_contestant c[2] = {{take_two, NULL}, {take_one, NULL}};
    sp_race_options o = {
        .seconds = 1e9, .pairs = 9, .clock = fake_clock, .usage = usage};
    spry_tuning story = {.changed = 0};
    sp_racer racer[2];

    check_ok(sp_race(racer, c, 2, &o));
    for (t.count = 0; t.count < 2; t.count++) {
        sp_result *r = &sp_results(&t)[t.count];

        r->x = t.count ? tiled(4, 0) : plain_on(1);
        r->racer = racer[t.count];
        r->done = 1;
    }
    sp_results(&t)[1].x.threads = threads;
    sp_results(&t)[1].x.barriers = barriers;
    t.stopped = 1; /* no final */
    check_ok(sp_tune_decide(&t, &story));
    assert_true(story.changed || strstr(t.note, "other processes"));
    sp_shared_close(&t.shared);
    family.forget(t.oracle);
    return story.changed;
}

static void shared_cores_prove_nothing_of_threads(void **state)
{
    assert_true(wins(*state, 1, 0, quiet_usage));
    assert_true(wins(*state, 2, 0, quiet_usage));
    assert_true(wins(*state, 1, 2, quiet_usage));
    assert_true(wins(*state, 1, 0, shared_usage));
    assert_false(wins(*state, 2, 0, shared_usage));
    assert_false(wins(*state, 1, 2, shared_usage));
}

/* ---- heats beside each other ---- */

static char first_leader[SPRY_SCHEDULE_TEXT];

static spry_status note_leader(sp_adviser *a, sp_proposals *l,
                               const sp_proposal *leader, int leaders)
{
    (void)a;
    (void)l;
    assert_int_equal(leaders, 3);
    strcpy(first_leader, leader[0].text);
    return SPRY_OK;
}

/* In the last heat the plain way took a third longer, so that who raced there
 * seems faster by that: who was, in seconds, leads. */
static void a_slow_plain_way_makes_no_leader(void **state)
{
    static const struct {
        double plain, seconds;
    } heat[] = {{3e-3, 3e-3}, {3e-3, 1e-3}, {3e-3, 1.3e-3}, {4e-3, 1.2e-3}};
    fixture *f = *state;
    sp_family family;
    sp_tuner t = hostile_tuner(f, &family);
    int added;

    family.around = note_leader;
    for (t.count = 0; t.count < 4; t.count++) {
        sp_result *r = &sp_results(&t)[t.count];

        r->x = t.count ? tiled(t.count, 0) : plain_on(1);
        r->fastest = r->racer.seconds = heat[t.count].seconds;
        r->racer.speedup = heat[t.count].plain / heat[t.count].seconds;
        r->done = 1;
    }
    t.list.count = t.count;
    check_ok(sp_tune_evolve(&t, &added));
    assert_int_equal(added, 0);
    assert_string_equal(first_leader, tiled(1, 0).text);
    sp_tune_remember(&t);
    assert_int_equal(t.best, 1);
    sp_shared_close(&t.shared);
    family.forget(t.oracle);
}

/* Who was stopped before a run was timed is nobody's leader. */
static void nothing_timed_is_the_slowest(void **state)
{
    sp_result r = {.fastest = 0}, timed = {.fastest = 1};

    (void)state;
    timed.racer.speedup = 0.5;
    assert_true(sp_result_pace(&timed) < sp_result_pace(&r));
}

/* Whatever is measured, no more than the machine's bounds leave room for. */
static void bounds_lie_below_what_is_measured(void **state)
{
    fixture *f = *state;
    const spry_tuning *t;
    spry_machine m;
    spry_plan *plan;
    double least;

    check_ok(spry_tune(&plan, f->p, &f->opt));
    t = spry_plan_tuning(plan);
    least = sp_model_least(sp_sparse_of(f->p), &t->machine);
    assert_true(least > 0 && least < 1.5 * t->seconds);
    check_ok(spry_machine_detect(&m)); /* nothing probed */
    assert_true(sp_model_least(sp_sparse_of(f->p), &m) > 0.05 * least);
    spry_plan_free(plan);
}

static int stop_after_a_while(const spry_progress *now, void *payload)
{
    (void)now;
    return ++*(int *)payload > 10;
}

/* Whoever is being measured when the user says stop has done nothing wrong,
 * and must not be remembered as a crash. */
static void a_stop_blames_nobody(void **state)
{
    fixture *f = *state;
    sp_family family;
    sp_tuner t = hostile_tuner(f, &family);
    int calls = 0;

    t.opt.progress = stop_after_a_while;
    t.opt.payload = &calls;
    t.count = 1;
    sp_results(&t)[0].x = tiled(12, 0);
    check_ok(sp_tune_heats(&t, 0));
    assert_true(t.stopped);
    assert_false(sp_results(&t)[0].done);
    sp_shared_close(&t.shared);
    family.forget(t.oracle);
}

static void races_compare_plans_of_one_problem(void **state)
{
    fixture *f = *state;
    spry_schedule x = spry_schedule_baseline(1);
    spry_problem *other;
    spry_plan *plan[2];
    spry_score score[2];

    check_ok(spry_plan_make(&plan[0], f->p, &x, NULL));
    x.tile = 4;
    check_ok(spry_plan_make(&plan[1], f->p, &x, NULL));
    check_ok(spry_race(score, (const spry_plan *const *)plan, 2, 7, 5));
    assert_true(score[0].seconds > 0 && score[1].seconds > 0);
    assert_true(score[1].low <= score[1].speedup);
    spry_plan_free(plan[1]);
    check_ok(spry_problem_spmm(&other, f->A, 8, SPRY_F32));
    check_ok(spry_plan_make(&plan[1], other, &x, NULL));
    assert_int_equal(spry_race(score, (const spry_plan *const *)plan, 2, 7, 5),
                     SPRY_USAGE);
    spry_plan_free(plan[0]);
    spry_plan_free(plan[1]);
    spry_problem_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hostile_candidates_are_results),
        TEST(the_baseline_is_fastest_in_the_same_race),
        TEST(what_cannot_be_is_raced_again),
        TEST(what_cannot_be_is_not_stored),
        TEST(shared_cores_prove_nothing_of_threads),
        TEST(a_slow_plain_way_makes_no_leader),
        TEST(nothing_timed_is_the_slowest),
        TEST(bounds_lie_below_what_is_measured),
        TEST(a_stop_blames_nobody),
        TEST(races_compare_plans_of_one_problem),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
