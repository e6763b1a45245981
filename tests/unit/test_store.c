/* test_store.c - damage, crowds, kill -9, no disk, no memory. */
#include "records_fixture.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* ---- damage ---- */

/* Opening must fail and leave the bytes alone. */
static void refuses(const char *name, const char *word)
{
    sp_file before = slurp(name), after;
    spry_records *db;

    assert_int_equal(spry_records_open(&db, in_dir(name)), SPRY_STORE);
    assert_null(db);
    assert_non_null(strstr(spry_message(), word));
    after = slurp(name);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.data, after.data, before.len);
    sp_file_free(&before);
    sp_file_free(&after);
}

static void foreign_files_are_left_alone(void **state)
{
    (void)state;
    write_bytes("text.db", "hello, this is my thesis", 24);
    refuses("text.db", "left as it is");
    run_sql("other.db", "CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    refuses("other.db", "another program");
}

static void a_newer_schema_is_refused(void **state)
{
    (void)state;
    spry_records_close(open_store("a.db"));
    run_sql("a.db", "PRAGMA user_version = 99");
    refuses("a.db", "newer spry");
}

static void a_truncated_store_never_passes(void **state)
{
    spry_records *db = open_store("a.db");
    sp_file f;

    (void)state;
    fill(db, 100);
    spry_records_close(db);
    f = slurp("a.db");
    for (size_t n = 1; n < f.len; n += n < 600 ? 97 : 4001) {
        int64_t bad;

        write_bytes("cut.db", f.data, n);
        if (spry_records_open(&db, in_dir("cut.db")) != SPRY_OK)
            continue;
        assert_int_equal(spry_records_check(db, &bad), SPRY_STORE);
        assert_true(bad > 0);
        spry_records_close(db);
    }
    sp_file_free(&f);
}

static void an_empty_file_is_a_new_store(void **state)
{
    spry_records *db;

    (void)state;
    write_bytes("a.db", "", 0);
    db = open_store("a.db");
    add(db, 1);
    assert_int_equal(count(db), 1);
    spry_records_close(db);
}

static void check_finds_a_changed_row(void **state)
{
    spry_records *db = open_store("a.db");
    int64_t bad;

    (void)state;
    fill_all(db);
    check_ok(spry_records_check(db, &bad));
    assert_int_equal(bad, 0);
    spry_records_close(db);
    run_sql("a.db",
            "UPDATE record SET seconds = seconds * 2 WHERE problem LIKE "
            "'spmm-5-%'; UPDATE record SET verdict = 'later' WHERE problem "
            "LIKE 'spmm-7-%'; UPDATE answer SET effort = 'x' WHERE at = 1;"
            "UPDATE machine SET fingerprint = 'feedfeedfeedfeed'");
    db = open_store("a.db");
    assert_int_equal(spry_records_check(db, &bad), SPRY_STORE);
    assert_int_equal(bad, 4);
    assert_int_equal(ticks(db, NULL, NULL), 10);
    assert_non_null(strstr(spry_message(), "2 damaged rows"));
    assert_int_equal(find(db, 0, 0), 0);
    assert_int_equal(count(db), 12); /* skipped, not deleted */
    spry_records_close(db);
}

/* Turn over one byte of some row's text on the disk itself. */
static void check_finds_a_flipped_byte(void **state)
{
    spry_records *db = open_store("a.db");
    sp_file f;
    int64_t bad;
    char *at = NULL;

    (void)state;
    fill(db, 5);
    spry_records_close(db);
    f = slurp("a.db");
    for (size_t i = 0; i + 8 < f.len && !at; i++)
        if (memcmp(f.data + i, "bcsr r=4", 8) == 0)
            at = f.data + i;
    assert_non_null(at);
    at[7] ^= 1;
    write_bytes("b.db", f.data, f.len);
    sp_file_free(&f);
    db = open_store("b.db");
    assert_int_equal(spry_records_check(db, &bad), SPRY_STORE);
    assert_int_equal(bad, 1);
    spry_records_close(db);
}

static void gc_drops_old_failures_only(void **state)
{
    spry_records *db = open_store("a.db");
    char problem[64];
    spry_record young = make_record(1, problem);
    int64_t dropped;

    (void)state;
    fill(db, 10); /* two of them ok */
    young.when = (int64_t)time(NULL);
    check_ok(spry_records_add(db, &young));
    spry_records_close(db);
    run_sql("a.db", "UPDATE record SET verdict = 'of the future' WHERE problem"
                    " LIKE 'spmm-2-%'");
    db = open_store("a.db");
    check_ok(spry_records_gc(db, 1, &dropped));
    assert_int_equal(dropped, 7);
    assert_int_equal(count(db), 4);
    assert_int_equal(spry_records_gc(db, -1, &dropped), SPRY_USAGE);
    spry_records_close(db);
}

/* ---- places ---- */

static void the_place_is_named_when_there_is_none(void **state)
{
    spry_records *db;
    char *before = getenv("SPRY_HOME");
    char saved[4096];

    (void)state;
    snprintf(saved, sizeof saved, "%s", before ? before : "");
    write_bytes("file", "x", 1);
    setenv("SPRY_HOME", in_dir("file"), 1);
    assert_int_equal(spry_records_open(&db, NULL), SPRY_SYSTEM);
    assert_null(db);
    assert_non_null(strstr(spry_message(), "SPRY_HOME"));
    setenv("SPRY_HOME", in_dir("new/home"), 1);
    check_ok(spry_records_open(&db, NULL));
    assert_string_equal(spry_records_path(db),
                        in_dir("new/home/data/records.db"));
    spry_records_close(db);
    assert_int_equal(spry_records_open(&db, in_dir("none/a.db")), SPRY_SYSTEM);
    if (before)
        setenv("SPRY_HOME", saved, 1);
    else
        unsetenv("SPRY_HOME");
}

/* In a child, which may give up being root. */
static int read_only_child(void)
{
    spry_records *db;
    spry_answer a;
    char problem[64];
    spry_record r = make_record(9, problem);
    int found = 0;

    if (geteuid() == 0 && setuid(65534) != 0)
        return 1;
    if (spry_records_open(&db, in_dir("ro/a.db")) != SPRY_OK)
        return 2;
    if (spry_records_find(db, &a, &found, "p", "m", 0, 0) != SPRY_OK || !found)
        return 3;
    if (spry_records_add(db, &r) != SPRY_SYSTEM ||
        !strstr(spry_message(), "may only be read"))
        return 4;
    spry_records_close(db);
    return 0;
}

static void a_read_only_store_answers(void **state)
{
    spry_records *db;
    int code;
    pid_t child;

    (void)state;
    assert_int_equal(mkdir(in_dir("ro"), 0755), 0);
    db = open_store("ro/a.db");
    put_answer(db, 0, 2, 5);
    spry_records_close(db);
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(chmod(in_dir("ro/a.db"), 0444), 0);
    assert_int_equal(chmod(in_dir("ro"), 0555), 0);
    child = fork();
    if (child == 0)
        _exit(read_only_child());
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(chmod(in_dir("ro"), 0755), 0);
    assert_int_equal(code, 0);
}

/* ---- many processes ---- */

/* Add n records from `first` on, telling each committed one to fd. */
static void add_and_tell(const char *path, int first, int n, int fd)
{
    spry_records *db;

    if (spry_records_open(&db, path) != SPRY_OK)
        _exit(1);
    for (int i = first; i < first + n; i++) {
        char problem[64];
        spry_record r = make_record(i, problem);

        if (spry_records_add(db, &r) != SPRY_OK)
            _exit(2);
        if (fd >= 0 && write(fd, &i, sizeof i) != sizeof i)
            _exit(3);
    }
    spry_records_close(db);
    _exit(0);
}

static void two_writers_lose_nothing(void **state)
{
    pid_t child[2];
    spry_records *db;

    (void)state;
    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        if (child[i] == 0)
            add_and_tell(in_dir("a.db"), 500 * i, 500, -1);
    }
    for (int i = 0; i < 2; i++) {
        int code;

        assert_int_equal(waitpid(child[i], &code, 0), child[i]);
        assert_int_equal(code, 0);
    }
    db = open_store("a.db");
    assert_int_equal(count(db), 1000);
    check_ok(spry_records_check(db, NULL));
    spry_records_close(db);
}

/* Read what the child told until it is dead; the number of the last. */
static int last_told(int fd, int last)
{
    int i;

    while (read(fd, &i, sizeof i) == sizeof i)
        last = i;
    return last;
}

/* Kill a child that adds from `first` on, a random moment after its start or
 * after its first record. */
static int one_kill(const char *path, int first, int after_first, sp_rng *r)
{
    struct timespec moment = {0, (long)sp_rng_below(r, 20000000)};
    int fd[2], told = first - 1, code;
    pid_t child;

    assert_int_equal(pipe(fd), 0);
    child = fork();
    if (child == 0)
        add_and_tell(path, first, 100000, fd[1]);
    close(fd[1]);
    if (after_first)
        assert_int_equal(read(fd[0], &told, sizeof told), sizeof told);
    nanosleep(&moment, NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFSIGNALED(code));
    told = last_told(fd[0], told);
    close(fd[0]);
    return told + 1;
}

static void killed_writers_lose_nothing_told(void **state)
{
    sp_rng r = sp_rng_seed(3);
    int next = 0;

    (void)state;
    for (int round = 0; round < 20; round++) {
        spry_records *db;
        int64_t have;

        next = one_kill(in_dir("a.db"), next, round % 2, &r);
        db = open_store("a.db");
        check_ok(spry_records_check(db, NULL));
        have = count(db); /* the one being told may be there as well */
        assert_true(have == next || have == next + 1);
        spry_records_close(db);
    }
}

/* ---- memory ---- */

static spry_status everything(void)
{
    spry_records *db;
    char problem[64];
    spry_record r = make_record(5, problem);
    spry_answer a = make_answer(0, 2, 5);
    int found, left = 9;
    spry_status s = spry_records_open(&db, in_dir("a.db"));

    if (s == SPRY_OK)
        s = spry_records_add(db, &r);
    if (s == SPRY_OK)
        s = spry_records_answer(db, &a);
    if (s == SPRY_OK)
        s = spry_records_find(db, &a, &found, "p", "m", 0, 0);
    if (s == SPRY_OK)
        s = spry_records_each(db, NULL, NULL, tick, &left);
    if (s == SPRY_OK)
        s = spry_records_export(db, in_dir("a.jsonl"));
    if (s == SPRY_OK)
        s = spry_records_import(db, in_dir("a.jsonl"), NULL, NULL);
    if (s == SPRY_OK)
        s = spry_records_merge(db, in_dir("b.db"), NULL);
    if (s == SPRY_OK)
        s = spry_records_check(db, NULL);
    spry_records_close(db);
    return s;
}

static void refused_memory_is_an_error(void **state)
{
    int64_t live = sp_alloc_live();
    spry_status s = SPRY_SYSTEM;
    spry_records *db = open_store("b.db");
    int n = 0;

    (void)state;
    fill(db, 6);
    spry_records_close(db);
    while (s != SPRY_OK) {
        sp_alloc_refuse(++n, 0);
        s = everything();
        if (s != SPRY_OK)
            assert_int_equal(s, SPRY_SYSTEM);
        assert_int_equal(sp_alloc_live(), live);
    }
    sp_alloc_refuse(0, 0);
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(foreign_files_are_left_alone),
        IN_DIR(a_newer_schema_is_refused),
        IN_DIR(a_truncated_store_never_passes),
        IN_DIR(an_empty_file_is_a_new_store),
        IN_DIR(check_finds_a_changed_row),
        IN_DIR(check_finds_a_flipped_byte),
        IN_DIR(gc_drops_old_failures_only),
        IN_DIR(the_place_is_named_when_there_is_none),
        IN_DIR(a_read_only_store_answers),
        IN_DIR(two_writers_lose_nothing),
        IN_DIR(killed_writers_lose_nothing_told),
        IN_DIR(refused_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
