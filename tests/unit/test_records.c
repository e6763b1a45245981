/* test_records.c - what is put into the store comes out of it. */
#include "records_fixture.h"

#include "records/server.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- what goes in comes out ---- */

static int compare(const spry_record *r, void *payload)
{
    int *n = payload;
    char problem[64];
    spry_record want = make_record((*n)++, problem);

    assert_int_equal(strlen(r->id), 32);
    assert_string_equal(r->problem, want.problem);
    assert_string_equal(r->about, want.about);
    assert_string_equal(r->schedule, want.schedule);
    assert_string_equal(r->machine, want.machine);
    assert_string_equal(r->compiler, want.compiler);
    assert_int_equal(r->verdict, want.verdict);
    assert_int_equal(r->noise, want.noise);
    assert_true(r->seconds == want.seconds && r->speedup == want.speedup);
    assert_true(r->low == want.low && r->high == want.high);
    assert_true(r->pack_seconds == want.pack_seconds);
    assert_true(r->bytes == want.bytes && r->when == want.when);
    assert_int_equal(r->samples, want.samples < 6 ? want.samples : 0);
    if (r->samples)
        assert_memory_equal(r->sample, want.sample,
                            sizeof(double) * (size_t)r->samples);
    return 0;
}

static void every_field_comes_back(void **state)
{
    spry_records *db = open_store("a.db");
    int seen = 0;

    (void)state;
    fill(db, 6);
    spry_records_close(db);
    db = open_store("a.db");
    check_ok(spry_records_each(db, NULL, NULL, compare, &seen));
    assert_int_equal(seen, 6);
    spry_records_close(db);
}

static void filters_and_early_end(void **state)
{
    spry_records *db = open_store("a.db");
    int left = 2;

    (void)state;
    fill(db, 20);
    assert_int_equal(ticks(db, NULL, NULL), 20);
    assert_int_equal(ticks(db, "spmm-1", NULL), 11);
    assert_int_equal(ticks(db, "spmm-1", "00112233aabbccdd"), 11);
    assert_int_equal(ticks(db, "spmm-1", "other"), 0);
    assert_int_equal(ticks(db, "sddmm", NULL), 0);
    check_ok(spry_records_each(db, NULL, NULL, tick, &left));
    assert_int_equal(left, 0);
    spry_records_close(db);
}

static void adding_again_changes_nothing(void **state)
{
    spry_records *db = open_store("a.db");

    (void)state;
    add(db, 1);
    add(db, 1);
    assert_int_equal(count(db), 1);
    add(db, 2);
    assert_int_equal(count(db), 2);
    spry_records_close(db);
}

static void what_cannot_be_kept_is_refused(void **state)
{
    spry_records *db = open_store("a.db");
    char problem[64];
    spry_record r;

    (void)state;
    r = make_record(1, problem);
    r.seconds = -1;
    assert_int_equal(spry_records_add(db, &r), SPRY_USAGE);
    assert_non_null(strstr(spry_message(), "seconds"));
    r.seconds = 1.0 / (r.seconds + 1); /* infinite */
    assert_int_equal(spry_records_add(db, &r), SPRY_USAGE);
    r = make_record(1, problem);
    r.problem = NULL;
    assert_int_equal(spry_records_add(db, &r), SPRY_USAGE);
    r = make_record(1, problem);
    r.about = "\xff";
    assert_int_equal(spry_records_add(db, &r), SPRY_USAGE);
    r = make_record(1, problem);
    r.verdict = (spry_verdict)17;
    assert_int_equal(spry_records_add(db, &r), SPRY_USAGE);
    assert_int_equal(count(db), 0);
    assert_int_equal(spry_records_commit(db), SPRY_USAGE);
    spry_records_close(db);
    assert_int_equal(spry_records_open(&db, ""), SPRY_USAGE);
    assert_null(db);
}

static void a_batch_is_all_or_nothing(void **state)
{
    spry_records *db = open_store("a.db");

    (void)state;
    add(db, 0);
    check_ok(spry_records_batch(db));
    assert_int_equal(spry_records_batch(db), SPRY_USAGE);
    add(db, 1);
    assert_int_equal(spry_records_gc(db, 1, NULL), SPRY_USAGE);
    spry_records_close(db); /* never committed */
    db = open_store("a.db");
    assert_int_equal(count(db), 1);
    spry_records_close(db);
}

/* ---- answers and machines ---- */

static void the_newest_fitting_answer_is_found(void **state)
{
    spry_records *db = open_store("a.db");

    (void)state;
    assert_int_equal(find(db, 0, 0), 0);
    put_answer(db, 0, 2, 300);
    put_answer(db, 0, 3, 200);
    put_answer(db, 100, 2, 400);
    assert_int_equal(find(db, 0, 2), 300);
    assert_int_equal(find(db, 0, 3), 200);
    assert_int_equal(find(db, 0, 4), 0);
    assert_int_equal(find(db, 64, 2), 400);
    assert_int_equal(find(db, 127, 1), 400);
    assert_int_equal(find(db, 128, 1), 0);
    assert_int_equal(find(db, 63, 1), 0);
    assert_int_equal(find(db, 0.5, 1), 0);
    spry_records_close(db);
}

static void an_answer_comes_back_whole(void **state)
{
    spry_records *db = open_store("a.db");
    spry_answer want = make_answer(1e9, 3, 77), a;
    int found;

    (void)state;
    check_ok(spry_records_answer(db, &want));
    check_ok(spry_records_find(db, &a, &found, "p", "m", 1e9, 0));
    assert_true(found);
    assert_string_equal(a.problem, "p");
    assert_string_equal(a.machine, "m");
    assert_string_equal(a.baseline, want.baseline);
    assert_string_equal(a.schedule, want.schedule);
    assert_true(a.baseline_seconds == want.baseline_seconds);
    assert_true(a.seconds == want.seconds && a.speedup == want.speedup);
    assert_true(a.low == want.low && a.high == want.high);
    assert_true(a.pack_seconds == want.pack_seconds);
    assert_true(a.tuning_seconds == want.tuning_seconds);
    assert_true(a.calls == want.calls && a.effort == want.effort);
    spry_records_close(db);
}

static void machines_are_kept_by_fingerprint(void **state)
{
    spry_records *db = open_store("a.db");
    spry_machine m = make_machine(), got;
    int found;

    (void)state;
    check_ok(spry_records_get_machine(db, &got, &found, m.fingerprint));
    assert_false(found);
    m.probed = 1;
    m.fork = 1.5e-6;
    check_ok(spry_records_put_machine(db, &m));
    m.fork = 2.5e-6;
    check_ok(spry_records_put_machine(db, &m));
    m.probed = 0;
    check_ok(spry_records_put_machine(db, &m));
    check_ok(spry_records_get_machine(db, &got, &found, m.fingerprint));
    assert_true(found);
    assert_string_equal(got.fingerprint, m.fingerprint);
    assert_string_equal(got.name, m.name);
    assert_true(got.probed && got.fork == 2.5e-6);
    spry_records_close(db);
}

/* What a record was measured under stays, whatever is measured later. */
static int see_probe(const spry_record *r, void *payload)
{
    char(*probe)[40] = payload;

    snprintf(probe[r->when - 1], sizeof *probe, "%s", r->probe);
    return 0;
}

static void records_keep_their_probe(void **state)
{
    spry_records *db = open_store("a.db"), *copy = open_store("b.db");
    spry_machine m = make_machine(), got;
    char probe[3][40] = {{0}};
    spry_record r = {.problem = "p",
                     .schedule = "csr",
                     .machine = m.fingerprint,
                     .noise = 'A'};
    int64_t added;
    int found;

    (void)state;
    m.probed = 1;
    for (int i = 0; i < 3; i++) {
        m.fork = (1 + i / 2) * 1e-6; /* the same card twice */
        check_ok(spry_records_put_machine(db, &m));
        r.when = i + 1;
        check_ok(spry_records_add(db, &r));
    }
    check_ok(spry_records_merge(copy, in_dir("a.db"), &added));
    check_ok(spry_records_each(copy, NULL, NULL, see_probe, probe));
    assert_int_equal(strlen(probe[0]), 32);
    assert_string_equal(probe[0], probe[1]);
    assert_string_not_equal(probe[0], probe[2]);
    check_ok(
        spry_records_get_probe(copy, &got, &found, probe[0], m.fingerprint));
    assert_true(found && got.fork == 1e-6);
    check_ok(spry_records_get_probe(copy, &got, &found, "", m.fingerprint));
    assert_true(found && got.fork == 2e-6);
    spry_records_close(copy);
    spry_records_close(db);
}

/* ---- lines and union ---- */

static void lines_round_trip_exactly(void **state)
{
    spry_records *a = open_store("a.db"), *b = open_store("b.db");
    spry_round round = {.run = "r",
                        .kind = "spry",
                        .op = "spmv",
                        .round = 1,
                        .loss = 0.5,
                        .seconds = 1,
                        .when = 1};
    int64_t added, bad;

    (void)state;
    fill_all(a);
    check_ok(spry_records_put_round(a, &round));
    check_ok(spry_records_export(a, in_dir("a.jsonl")));
    check_ok(spry_records_import(b, in_dir("a.jsonl"), &added, &bad));
    assert_int_equal(added, 16);
    assert_int_equal(bad, 0);
    check_ok(spry_records_export(b, in_dir("b.jsonl")));
    assert_true(same_files("a.jsonl", "b.jsonl"));
    check_ok(spry_records_import(b, in_dir("a.jsonl"), &added, &bad));
    assert_int_equal(added, 0);
    spry_records_close(a);
    spry_records_close(b);
}

static void export_writes_into_a_pipe(void **state)
{
    spry_records *db = open_store("a.db");
    char first[8] = "";
    int fd;

    (void)state;
    add(db, 1);
    assert_int_equal(mkfifo(in_dir("pipe"), 0600), 0);
    fd = open(in_dir("pipe"), O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    check_ok(spry_records_export(db, in_dir("pipe")));
    assert_int_equal(read(fd, first, 7), 7);
    assert_string_equal(first, "{\"kind\"");
    close(fd);
    spry_records_close(db);
}

/* One good line between eight bad ones. */
static void damaged_lines_are_skipped_and_named(void **state)
{
    spry_records *a = open_store("a.db"), *b = open_store("b.db");
    sp_buf lines = {0};
    sp_file good;
    char *seconds;
    int64_t added, bad;

    (void)state;
    add(a, 3);
    check_ok(spry_records_export(a, in_dir("good.jsonl")));
    good = slurp("good.jsonl");
    sp_buf_add(&lines, "\n{\"kind\":\n{\"kind\":\"dream\"}\n[1]\n\x01\xff\n"
                       "{\"kind\":\"record\",\"problem\":\"p\"}\n"
                       "{\"kind\":\"machine\",\"text\":\"nonsense\"}\n");
    sp_buf_bytes(&lines, good.data, good.len);
    sp_buf_bytes(&lines, good.data, good.len / 2);
    sp_buf_add(&lines, "\n");
    sp_buf_bytes(&lines, good.data, good.len);
    seconds = lines.data + lines.len - good.len;
    memcpy(strstr(seconds, "speedup\":1.5"), "speedup\":9.5", 12);
    write_bytes("bad.jsonl", lines.data, lines.len);
    check_ok(spry_records_import(b, in_dir("bad.jsonl"), &added, &bad));
    assert_int_equal(added, 1);
    assert_int_equal(bad, 8);
    assert_non_null(strstr(spry_message(), "bad.jsonl:2:"));
    sp_file_free(&good);
    sp_buf_free(&lines);
    spry_records_close(a);
    spry_records_close(b);
}

static void union_is_idempotent_and_commutative(void **state)
{
    spry_records *a = open_store("a.db"), *b = open_store("b.db");
    int64_t added;

    (void)state;
    fill(a, 7);
    put_answer(a, 0, 2, 5);
    fill(b, 12);
    put_answer(b, 4, 1, 6);
    add(a, 40);
    spry_records_close(b);
    check_ok(spry_records_merge(a, in_dir("b.db"), &added));
    assert_int_equal(added, 6);
    check_ok(spry_records_merge(a, in_dir("b.db"), &added));
    assert_int_equal(added, 0);
    check_ok(spry_records_merge(a, in_dir("a.db"), &added));
    assert_int_equal(added, 0);
    check_ok(spry_records_export(a, in_dir("ab.jsonl")));
    spry_records_close(a);

    a = open_store("c.db");
    b = open_store("b.db");
    fill(a, 7);
    put_answer(a, 0, 2, 5);
    add(a, 40);
    spry_records_close(a);
    check_ok(spry_records_merge(b, in_dir("c.db"), &added));
    assert_int_equal(added, 2);
    check_ok(spry_records_export(b, in_dir("ba.jsonl")));
    assert_true(same_files("ab.jsonl", "ba.jsonl"));
    spry_records_close(b);
}

static void a_damaged_store_is_not_merged(void **state)
{
    spry_records *db = open_store("a.db"), *b = open_store("b.db");
    sp_file f;
    int64_t added;

    (void)state;
    fill(b, 200);
    spry_records_close(b);
    f = slurp("b.db");
    assert_true(f.len > 40000);
    write_bytes("cut.db", f.data, f.len / 2);
    sp_file_free(&f);
    add(db, 500);
    assert_int_equal(spry_records_merge(db, in_dir("cut.db"), &added),
                     SPRY_STORE);
    write_bytes("text.db", "no store at all, but long enough", 32);
    assert_int_equal(spry_records_merge(db, in_dir("text.db"), &added),
                     SPRY_STORE);
    assert_int_equal(spry_records_merge(db, in_dir("none.db"), &added),
                     SPRY_SYSTEM);
    write_bytes("empty.db", "", 0);
    check_ok(spry_records_merge(db, in_dir("empty.db"), &added));
    assert_int_equal(count(db), 1);
    spry_records_close(db);
}

/* ---- rows for a server ---- */

typedef struct {
    int parts, rows;
    size_t longest;
} parts_seen;

static spry_status see_part(const char *json, void *payload)
{
    parts_seen *seen = payload;

    assert_int_equal(json[0], '{');
    assert_int_equal(json[strlen(json) - 1], '}');
    seen->parts++;
    for (const char *at = json; (at = strstr(at, "\"id\":")); at++)
        seen->rows++;
    seen->longest = strlen(json) > seen->longest ? strlen(json) : seen->longest;
    return SPRY_OK;
}

static void rows_for_a_server_come_in_parts(void **state)
{
    static const size_t most[] = {1, 3000, (size_t)-1};
    spry_records *db = open_store("a.db");
    sp_buf all = {0};
    int64_t rows = 0;

    (void)state;
    fill(db, 20);
    check_ok(sp_server_rows(&all, db, &rows));
    assert_true(rows >= 20);
    for (int i = 0; i < 3; i++) {
        parts_seen seen = {0};

        check_ok(sp_server_rows_in_parts(db, most[i], see_part, &seen));
        assert_int_equal(seen.rows, rows);
        if (i == 0)
            assert_int_equal(seen.parts, rows);
        if (i == 1)
            assert_in_range(seen.longest, 3000, all.len - 1);
        if (i == 2)
            assert_int_equal(seen.longest, all.len);
    }
    sp_buf_free(&all);
    spry_records_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(every_field_comes_back),
        IN_DIR(filters_and_early_end),
        IN_DIR(adding_again_changes_nothing),
        IN_DIR(what_cannot_be_kept_is_refused),
        IN_DIR(a_batch_is_all_or_nothing),
        IN_DIR(the_newest_fitting_answer_is_found),
        IN_DIR(an_answer_comes_back_whole),
        IN_DIR(machines_are_kept_by_fingerprint),
        IN_DIR(records_keep_their_probe),
        IN_DIR(lines_round_trip_exactly),
        IN_DIR(export_writes_into_a_pipe),
        IN_DIR(damaged_lines_are_skipped_and_named),
        IN_DIR(union_is_idempotent_and_commutative),
        IN_DIR(a_damaged_store_is_not_merged),
        IN_DIR(rows_for_a_server_come_in_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
