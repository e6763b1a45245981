/* A thousand workers and one queue, by counting: every job once, dead rows
 * that a vacuum removes, and all leases that end at once taken again. */
#include "fleet_fixture.h"

#include <math.h>
#include <time.h>

#include "crowd.h"

static const double LONG = 600; /* seconds that nothing here takes */

/* Ends of jobs, as they are committed, whatever the queue says. */
static void watch_ends(void)
{
    run("DROP SCHEMA IF EXISTS watch CASCADE; CREATE SCHEMA watch;"
        "CREATE TABLE watch.ended(job bigint);"
        "CREATE FUNCTION watch.note() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO watch.ended VALUES (new.id); RETURN NULL;"
        " END $$;"
        "CREATE TRIGGER ended AFTER UPDATE ON spry.queue FOR EACH ROW"
        " WHEN (new.state = 2) EXECUTE FUNCTION watch.note()");
}

static crowd_tally run_crowd(const crowd_plan *plan)
{
    crowd_tally t = crowd_run(plan);

    if (t.status != SPRY_OK)
        fail_msg("a connection failed: %s", t.why);
    return t;
}

static void check_all_once(int jobs)
{
    assert_true(number("SELECT count(*) FROM watch.ended") == jobs);
    assert_true(number("SELECT count(DISTINCT job) FROM watch.ended") == jobs);
    assert_true(number("SELECT count(*) FROM spry.outcome WHERE done") == jobs);
    assert_true(number("SELECT count(*) FROM spry.queue WHERE state < 2") == 0);
}

static void all_jobs_are_done_once(void **state)
{
    int jobs = unless_slow(3000, 1100);
    crowd_plan plan = {.uri = uri, .jobs = jobs, .seconds = LONG};
    crowd_tally t;

    (void)state;
    need_queue();
    watch_ends();
    fill_queue(jobs);
    t = run_crowd(&plan);
    assert_int_equal(t.done, jobs);
    assert_int_equal(t.taken, jobs);
    assert_int_equal(t.lost, 0);
    assert_int_equal(t.asked, t.taken + t.none);
    check_all_once(jobs);
    assert_true(number("SELECT max(tries) FROM spry.queue") == 1);
    assert_true(number("SELECT count(DISTINCT token) FROM spry.queue") == jobs);
}

/* Dead rows of the queue that a vacuum leaves; what the server knows of them
 * comes with a delay. */
static double dead_after_vacuum(double most)
{
    struct timespec t = {0, 50000000};
    double dead = HUGE_VAL;

    for (int i = 0; dead > most && i < 200; i++) {
        run("VACUUM spry.queue");
        dead = number("SELECT n_dead_tup FROM pg_stat_user_tables WHERE"
                      " relname = 'queue'");
        if (dead > most)
            nanosleep(&t, NULL);
    }
    return dead;
}

/* A load writes each row five times, of less than 100 bytes each, to pages that
 * are half empty: so much room is enough for any number of loads, if what is
 * dead goes with a vacuum. */
static void dead_rows_are_bounded(void **state)
{
    enum { LOADS = 8 };
    int jobs = unless_slow(600, 200);
    double most = jobs / 10.0, room = 2 * 5 * 100.0 * jobs;
    crowd_plan plan = {.uri = uri, .jobs = jobs, .seconds = LONG};

    (void)state;
    need_queue();
    fill_queue(jobs);
    for (int i = 0; i < LOADS; i++) {
        assert_int_equal(run_crowd(&plan).done, jobs);
        assert_true(dead_after_vacuum(most) <= most);
        run("DELETE FROM spry.outcome");
        run("UPDATE spry.queue SET state = 0, tries = 0");
        assert_true(dead_after_vacuum(most) <= most);
    }
    assert_true(number("SELECT pg_relation_size('spry.queue')") <= room);
}

/* All have a lease, none is heard of again, and as many others ask. */
static void a_storm_of_leases_is_taken_again(void **state)
{
    crowd_plan plan = {.uri = uri, .seconds = LONG, .silent = 1};
    crowd_tally t;

    (void)state;
    need_queue();
    watch_ends();
    fill_queue(CROWD);
    t = run_crowd(&plan);
    assert_int_equal(t.taken, CROWD);
    assert_true(number("SELECT count(*) FROM spry.queue WHERE state = 1") ==
                CROWD);
    run("UPDATE spry.queue SET until = clock_timestamp()");
    plan.silent = 0;
    plan.jobs = CROWD;
    t = run_crowd(&plan);
    assert_int_equal(t.done, CROWD);
    assert_int_equal(t.lost, 0);
    check_all_once(CROWD);
    assert_true(number("SELECT count(*) FROM spry.queue WHERE tries = 2") ==
                CROWD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_jobs_are_done_once),
        cmocka_unit_test(dead_rows_are_bounded),
        cmocka_unit_test(a_storm_of_leases_is_taken_again),
    };

    return cmocka_run_group_tests(tests, start_server, stop_server);
}
