/* The queue of a fleet: leases, keys, versions, pieces of matrices. */
#include "fleet_fixture.h"

#include <time.h>
#include <unistd.h>

#include "spry/records.h"

static const char MACHINE[] = "0123456789abcdef";

static sp_enrolled enroll(void)
{
    sp_enrolled who;

    check_ok(sp_queue_enroll(server, &who, "test", MACHINE));
    return who;
}

static sp_lease take(const sp_enrolled *who)
{
    sp_lease l;

    check_ok(sp_queue_take(server, &l, who, MACHINE));
    return l;
}

static int beat(const sp_enrolled *who, const sp_lease *l)
{
    int ours;

    check_ok(sp_queue_beat(server, who, l, &ours));
    return ours;
}

static int finish(const sp_enrolled *who, const sp_lease *l)
{
    int ours;

    check_ok(sp_queue_finish(server, who, l, NULL, 1, &ours, NULL));
    return ours;
}

/* ---- versions ---- */

static void a_newer_server_is_left_alone(void **state)
{
    static const char *const newer[] = {"UPDATE spry.store SET version = 99",
                                        "UPDATE spry.setting SET version = 99"};
    static const char *const is_so[] = {"SELECT version FROM spry.store",
                                        "SELECT version FROM spry.setting"};
    spry_fleet *f = NULL;
    int roles;

    (void)state;
    for (int i = 0; i < 2; i++) {
        need_queue();
        run(newer[i]);
        assert_int_equal(spry_fleet_init(uri, NULL, &roles), SPRY_STORE);
        assert_non_null(strstr(spry_message(), "newer"));
        assert_int_equal(spry_fleet_open(&f, uri), SPRY_STORE);
        assert_non_null(strstr(spry_message(), "newer"));
        assert_true(number(is_so[i]) == 99);
    }
}

static void an_older_queue_is_brought_up_to_date(void **state)
{
    spry_fleet *f = NULL;
    int roles;

    (void)state;
    need_queue();
    run("DROP FUNCTION spry.take; CREATE FUNCTION spry.take(who bigint,"
        " fingerprint text) RETURNS bigint LANGUAGE sql AS 'SELECT 1';"
        "UPDATE spry.setting SET version = 1");
    assert_int_equal(spry_fleet_open(&f, uri), SPRY_STORE);
    assert_non_null(strstr(spry_message(), "fleet init"));
    check_ok(spry_fleet_init(uri, NULL, &roles));
    assert_true(number("SELECT count(*) FROM pg_proc WHERE proname = 'take'") ==
                1);
    check_ok(spry_fleet_open(&f, uri));
    spry_fleet_close(f);
}

static void an_update_keeps_what_is_set(void **state)
{
    spry_fleet_options o = SPRY_FLEET_DEFAULTS;
    int roles;

    (void)state;
    need_queue();
    run("DELETE FROM spry.setting");
    check_ok(spry_fleet_init(uri, NULL, &roles));
    assert_true(number("SELECT lease FROM spry.setting") == 60);
    assert_true(number("SELECT tries FROM spry.setting") == 5);
    o.tries = 9;
    check_ok(spry_fleet_init(uri, &o, &roles));
    o = (spry_fleet_options){sizeof o, 7, 0};
    check_ok(spry_fleet_init(uri, &o, &roles));
    check_ok(spry_fleet_init(uri, NULL, &roles));
    assert_true(number("SELECT lease FROM spry.setting") == 7);
    assert_true(number("SELECT tries FROM spry.setting") == 9);
}

/* ---- leases ---- */

/* A machine that is sick does not use up all tries of a job. */
static void a_doubtful_job_goes_to_others(void **state)
{
    sp_enrolled sick, well;
    sp_lease l, none;

    (void)state;
    need_queue();
    fill_queue(1);
    sick = enroll();
    well = enroll();
    l = take(&sick);
    run("CREATE TABLE public.began AS SELECT clock_timestamp() AS at");
    check_ok(sp_queue_fail(server, &sick, &l, "no room", SP_BLAME_PERHAPS));
    assert_true(number("SELECT count(*) FROM spry.queue, public.began WHERE"
                       " until >= at + interval '10 s' AND state = 0") == 1);
    run("DROP TABLE public.began;"
        "UPDATE spry.queue SET until = clock_timestamp() + interval '1 hour'");
    none = take(&sick);
    assert_int_equal(none.id, 0);
    assert_int_equal(none.open, 1);
    l = take(&well);
    assert_int_not_equal(l.id, 0);
    check_ok(sp_queue_fail(server, &well, &l, "no room", SP_BLAME_PERHAPS));
    run("UPDATE spry.queue SET until = clock_timestamp()");
    assert_int_not_equal(take(&well).id, 0); /* later, itself again */
    assert_true(number("SELECT tries FROM spry.queue") == 3);
}

static void a_job_given_back_is_nobodys(void **state)
{
    sp_enrolled who;
    sp_lease l;

    (void)state;
    need_queue();
    fill_queue(1);
    who = enroll();
    l = take(&who);
    check_ok(sp_queue_fail(server, &who, &l, "", SP_BLAME_NOBODY));
    assert_true(number("SELECT tries FROM spry.queue WHERE state = 0") == 0);
    assert_false(beat(&who, &l));
    assert_false(finish(&who, &l));
    assert_int_equal(take(&who).id, l.id); /* at once */
}

/* The server was away for longer than a lease: what is being measured counts
 * if nobody took the job since. */
static void a_lease_that_nobody_took_goes_on(void **state)
{
    sp_enrolled who, other;
    sp_lease l, later;

    (void)state;
    need_queue();
    fill_queue(1);
    who = enroll();
    other = enroll();
    l = take(&who);
    run("UPDATE spry.queue SET until = 'epoch'");
    sweep_now();
    run("SELECT spry.sweep()");
    assert_true(number("SELECT state FROM spry.queue") == 0);
    assert_true(beat(&who, &l));
    assert_true(number("SELECT state FROM spry.queue") == 1);
    assert_int_equal(take(&other).id, 0);
    run("UPDATE spry.queue SET until = 'epoch'");
    sweep_now();
    later = take(&other);
    assert_int_equal(later.id, l.id);
    assert_true(later.token > l.token);
    assert_false(beat(&who, &l));
    assert_false(finish(&who, &l));
    assert_true(finish(&other, &later));
}

/* Those that measure do not ask, so those that wait need not wait for them. */
static void only_the_idle_share_the_questions(void **state)
{
    sp_enrolled who;

    (void)state;
    need_queue();
    fill_queue(1000);
    run("INSERT INTO spry.worker(name, machine, version) SELECT '', '', ''"
        " FROM generate_series(1, 1000)");
    run("UPDATE spry.queue SET state = 1, until = 'infinity', worker ="
        " (SELECT min(w.id) FROM spry.worker w) +"
        " id - (SELECT min(q.id) FROM spry.queue q)");
    who = enroll();
    sweep_now();
    assert_true(take(&who).pause < 0.31);
    run("UPDATE spry.queue SET worker = 0");
    sweep_now();
    assert_true(take(&who).pause > 4.9);
    /* Leases that ended, and were not swept yet: there is work soon. */
    run("UPDATE spry.queue SET until = 'epoch'");
    run("UPDATE spry.setting SET swept = 'infinity'");
    assert_true(take(&who).pause < 0.31);
}

/* ---- who asks ---- */

static void refuse_all(const sp_enrolled *who, const sp_lease *l)
{
    sp_lease other;
    int ours;
    spry_status s[] = {
        sp_queue_take(server, &other, who, MACHINE),
        sp_queue_beat(server, who, l, &ours),
        sp_queue_finish(server, who, l, NULL, 1, &ours, NULL),
        sp_queue_fail(server, who, l, "", SP_BLAME_JOB),
    };

    for (int i = 0; i < 4; i++)
        assert_int_equal(s[i], SPRY_STORE);
    assert_non_null(strstr(spry_message(), "no worker has"));
}

static void numbers_can_be_guessed_and_keys_cannot(void **state)
{
    sp_enrolled who, guess, other;
    sp_lease l;

    (void)state;
    need_queue();
    fill_queue(1);
    who = enroll();
    other = enroll();
    l = take(&who);
    guess = other;
    guess.id = who.id;
    refuse_all(&guess, &l);
    *guess.key = 0;
    refuse_all(&guess, &l);
    assert_true(number("SELECT count(*) FROM spry.late") == 0);
    assert_false(beat(&other, &l)); /* a key of its own is not enough */
    assert_false(finish(&other, &l));
    assert_true(beat(&who, &l));
    assert_true(finish(&who, &l));
}

/* ---- transactions in each other's way ---- */

static void one_that_was_taken_back_is_asked_again(void **state)
{
    static const char *const reason[] = {"40P01", "40001"};
    sp_enrolled who;

    (void)state;
    need_queue();
    who = enroll();
    run("DROP SCHEMA IF EXISTS way CASCADE; CREATE SCHEMA way;"
        "CREATE SEQUENCE way.turn");
    for (int i = 0; i < 2; i++) {
        char sql[512];
        sp_lease l;

        snprintf(sql, sizeof sql,
                 "CREATE OR REPLACE FUNCTION way.stand() RETURNS trigger"
                 " LANGUAGE plpgsql AS $$ BEGIN IF nextval('way.turn') %% 2 = 1"
                 " THEN RAISE EXCEPTION 'in the way' USING ERRCODE = '%s';"
                 " END IF; RETURN new; END $$",
                 reason[i]);
        run(sql);
        run("CREATE OR REPLACE TRIGGER stand BEFORE INSERT ON spry.outcome"
            " FOR EACH ROW EXECUTE FUNCTION way.stand()");
        fill_queue(1);
        l = take(&who);
        assert_true(finish(&who, &l));
    }
    assert_true(number("SELECT last_value FROM way.turn") == 4);
}

/* ---- matrices ---- */

static int count_pieces(void *payload)
{
    int *left = payload;

    return --*left != 0;
}

static void offer_bytes(char hash[SPRY_FLEET_HASH], size_t n, int seed)
{
    unsigned char *bytes = malloc(n);
    sp_cell arg[2];

    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 1000 + (size_t)seed);
    sp_content_hash(hash, bytes, n);
    arg[0] = sp_cell_text(hash);
    arg[1] = sp_cell_bytes((const char *)bytes, n);
    check_ok(sp_postgres_ask(server,
                             "INSERT INTO spry.matrix(hash, name, ending,"
                             " bytes) VALUES ($1, 'x', '.mtx', $2)",
                             arg, 2, NULL, NULL, NULL));
    free(bytes);
}

static void matrices_come_in_pieces_and_once(void **state)
{
    char hash[SPRY_FLEET_HASH], other[SPRY_FLEET_HASH], path[4096];
    sp_matrix_files *files;
    int left = 100;

    (void)state;
    need_queue();
    offer_bytes(hash, 2500000, 1);
    offer_bytes(other, 1048576, 2);
    check_ok(sp_matrix_files_open(&files, NULL));
    check_ok(
        sp_matrix_files_find(path, files, server, hash, count_pieces, &left));
    assert_int_equal(left, 97);
    check_ok(
        sp_matrix_files_find(path, files, server, hash, count_pieces, &left));
    assert_int_equal(left, 97); /* it is here */
    check_ok(
        sp_matrix_files_find(path, files, server, other, count_pieces, &left));
    assert_int_equal(left, 96);
    left = 2;
    assert_int_equal(
        sp_matrix_files_find(path, files, server, hash, count_pieces, &left),
        SPRY_STOPPED);
    assert_int_equal(left, 0);
    run("DELETE FROM spry.matrix");
    left = 100;
    assert_int_equal(
        sp_matrix_files_find(path, files, server, hash, count_pieces, &left),
        SPRY_INPUT);
    check_ok(
        sp_matrix_files_find(path, files, server, other, count_pieces, &left));
    sp_matrix_files_close(files);
}

/* ---- rows ---- */

static void too_many_rows_at_once_are_refused(void **state)
{
    spry_status s;

    (void)state;
    need_queue();
    s = sp_postgres_run(server, "SELECT spry.upload(jsonb_build_object('x',"
                                " repeat('a', 70000000)))");
    assert_int_equal(s, SPRY_STORE);
    assert_non_null(strstr(spry_message(), "64 MB"));
}

/* ---- claims ---- */

/* This machine's clock may be wrong by hours; this is what the library asks. */
static time_t clock_error;

time_t time(time_t *out)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec + clock_error;
    return t.tv_sec + clock_error;
}

static void claims_go_by_the_clock_of_the_server(void **state)
{
    spry_records *db;
    int got = 0;

    (void)state;
    need_queue();
    check_ok(spry_records_open(&db, uri));
    clock_error = 100000;
    check_ok(spry_records_claim(db, "w", 3600, &got));
    assert_true(got);
    assert_true(number("SELECT count(*) FROM spry.claim WHERE until <="
                       " extract(epoch FROM clock_timestamp()) + 3600") == 1);
    run("UPDATE spry.claim SET owner = 'elsewhere 1'");
    check_ok(spry_records_claim(db, "w", 3600, &got));
    assert_false(got); /* not over because we think so */
    run("UPDATE spry.claim SET until = 1");
    check_ok(spry_records_claim(db, "w", 3600, &got));
    assert_true(got);
    clock_error = 0;
    spry_records_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newer_server_is_left_alone),
        cmocka_unit_test(an_older_queue_is_brought_up_to_date),
        cmocka_unit_test(an_update_keeps_what_is_set),
        cmocka_unit_test(a_doubtful_job_goes_to_others),
        cmocka_unit_test(a_job_given_back_is_nobodys),
        cmocka_unit_test(a_lease_that_nobody_took_goes_on),
        cmocka_unit_test(only_the_idle_share_the_questions),
        cmocka_unit_test(numbers_can_be_guessed_and_keys_cannot),
        cmocka_unit_test(one_that_was_taken_back_is_asked_again),
        cmocka_unit_test(matrices_come_in_pieces_and_once),
        cmocka_unit_test(too_many_rows_at_once_are_refused),
        cmocka_unit_test(claims_go_by_the_clock_of_the_server),
    };

    return cmocka_run_group_tests(tests, start_server, stop_server);
}
