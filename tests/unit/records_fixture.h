/* records_fixture.h - a fresh directory per test, and rows made from numbers.
 */
#ifndef SPRY_RECORDS_FIXTURE_H
#define SPRY_RECORDS_FIXTURE_H

#include "check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "spry/records.h"

/* ---- a place per test ---- */

static char dir[256];

static inline int make_dir(void **state)
{
    const char *tmp = getenv("TMPDIR");

    (void)state;
    snprintf(dir, sizeof dir, "%s/spry-records-XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command); /* NOLINT: a directory this test has made */
}

static inline const char *in_dir(const char *name)
{
    static char path[4][400];
    static int turn;

    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static inline spry_records *open_store(const char *name)
{
    spry_records *db;

    check_ok(spry_records_open(&db, in_dir(name)));
    return db;
}

/* ---- records made from a number ---- */

static const double samples[] = {1.0 / 3, 0.1, 5e-324, 1e300, 0};

static inline spry_record make_record(int n, char problem[64])
{
    snprintf(problem, 64, "spmm-%d-\xc3\xa9\"\\\n", n);
    return (spry_record){
        .problem = problem,
        .about = "spmm 128 f32 100x100 nnz 5",
        .schedule = "bcsr r=4 c=8",
        .machine = "00112233aabbccdd",
        .compiler = "gcc 12",
        .verdict = (spry_verdict)(n % 5),
        .noise = "ABCD?"[n % 5],
        .seconds = 1e-3 / (n + 1),
        .speedup = 1.5,
        .low = 1.0 / 7,
        .high = 1e22,
        .pack_seconds = 0.25,
        .bytes = 123456789,
        .when = 1700000000 + n,
        .samples = n % 6,
        .sample = samples,
    };
}

static inline void add(spry_records *db, int n)
{
    char problem[64];
    spry_record r = make_record(n, problem);

    check_ok(spry_records_add(db, &r));
}

static inline spry_answer make_answer(double calls, int effort, int64_t when)
{
    return (spry_answer){
        .problem = "p",
        .machine = "m",
        .baseline = "csr",
        .schedule = "bcsr r=2 c=2",
        .baseline_seconds = 0.3,
        .seconds = 0.1,
        .speedup = 3,
        .low = 2.9,
        .high = 1.0 / 0.3,
        .pack_seconds = 0.01,
        .tuning_seconds = 7,
        .calls = calls,
        .effort = effort,
        .when = when,
    };
}

static inline spry_machine make_machine(void)
{
    spry_machine m;

    check_ok(spry_machine_detect(&m));
    return m;
}

static inline int64_t count(spry_records *db)
{
    int64_t records, answers, machines;

    check_ok(spry_records_count(db, &records, &answers, &machines));
    return records;
}

/* ---- files, as they are on the disk ---- */

static inline sp_file slurp(const char *name)
{
    sp_file f;

    check_ok(sp_file_read(&f, in_dir(name), 1 << 24));
    return f;
}

static inline int same_files(const char *a, const char *b)
{
    sp_file x = slurp(a), y = slurp(b);
    int same = x.len == y.len && memcmp(x.data, y.data, x.len) == 0;

    sp_file_free(&x);
    sp_file_free(&y);
    return same;
}

static inline void write_bytes(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(in_dir(name), "w");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Behind the library's back. */
static inline void run_sql(const char *name, const char *sql)
{
    sqlite3 *raw;

    assert_int_equal(sqlite3_open(in_dir(name), &raw), SQLITE_OK);
    assert_int_equal(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
}

/* ---- several at once ---- */

static inline void fill(spry_records *db, int n)
{
    check_ok(spry_records_batch(db));
    for (int i = n - 1; i >= 0; i--)
        add(db, i);
    check_ok(spry_records_commit(db));
}

static inline int tick(const spry_record *r, void *payload)
{
    int *left = payload;

    (void)r;
    return --*left == 0;
}

static inline int ticks(spry_records *db, const char *problem,
                        const char *machine)
{
    int left = 1000;

    check_ok(spry_records_each(db, problem, machine, tick, &left));
    return 1000 - left;
}

static inline void put_answer(spry_records *db, double calls, int effort,
                              int64_t when)
{
    spry_answer a = make_answer(calls, effort, when);

    check_ok(spry_records_answer(db, &a));
}

/* The time of the answer found, 0 when there is none. */
static inline int64_t find(spry_records *db, double calls, int effort)
{
    spry_answer a;
    int found;

    check_ok(spry_records_find(db, &a, &found, "p", "m", calls, effort));
    return found ? a.when : 0;
}

static inline void fill_all(spry_records *db)
{
    spry_machine m = make_machine();

    fill(db, 12);
    put_answer(db, 0, 2, 1);
    put_answer(db, 17.5, 3, 2);
    check_ok(spry_records_put_machine(db, &m));
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

#endif
