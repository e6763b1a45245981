/* test_sample.c - fewer records: how many, which, and what is left of them. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "train/sample.h"

enum { MATRICES = 8, EACH = 24 };

/* What it would take if tiles mattered and every third were hopeless. */
static void add_problem(spry_records *db, const spry_machine *m, int i)
{
    char source[96];
    spry_matrix *A;
    spry_problem *p;
    spry_origin o = {
        .source = source, .group = "?", .op = "spmm", .type = "f32", .n = 64};

    snprintf(source, sizeof source, "gen:banded,rows=300,band=%d#1", 3 + i);
    check_ok(spry_matrix_read(&A, source));
    check_ok(spry_problem_spmm(&p, A, 64, SPRY_F32));
    o.problem = spry_problem_key(p);
    o.rows = A->rows;
    o.cols = A->cols;
    o.nnz = A->nnz;
    check_ok(spry_records_put_origin(db, &o));
    for (int k = 0; k < (i == 0 ? 4 : EACH); k++) {
        spry_schedule x = spry_schedule_baseline(1);
        char text[SPRY_SCHEDULE_TEXT];
        double s = 1e-4 * (1 + (k % 4) + (k % 3 == 0 ? 6 : 0));
        int failed = k == EACH - 1;
        spry_record r = {.problem = o.problem,
                         .about = "",
                         .machine = m->fingerprint,
                         .compiler = "built-in",
                         .noise = 'A',
                         .verdict =
                             failed ? SPRY_VERDICT_CRASH : SPRY_VERDICT_OK,
                         .seconds = failed ? 0 : s,
                         .speedup = failed ? 0 : 3e-4 / s,
                         .when = 1,
                         .samples = !failed,
                         .sample = &s};

        x.tile = 1 + k % 4;
        x.unroll = 1 << k / 12;
        x.prefetch = 4 * (k % 12 / 4);
        r.schedule = spry_schedule_text(text, &x);
        check_ok(spry_records_add(db, &r));
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

static spry_records *make_store(void)
{
    spry_records *db;
    spry_machine m;

    check_ok(spry_records_open(&db, ":memory:"));
    check_ok(spry_machine_detect(&m));
    check_ok(spry_records_put_machine(db, &m));
    for (int i = 0; i < MATRICES; i++)
        add_problem(db, &m, i);
    return db;
}

static int count_row(const spry_record *r, void *payload)
{
    (void)r;
    ++*(int64_t *)payload;
    return 0;
}

/* Every way keeps its share, drops what is invalid and rare first, and the
 * same seed the same rows. */
static void ways_keep_their_share(void **state)
{
    spry_records *db = make_store();

    (void)state;
    for (int w = 0; spry_sample_way(w); w++) {
        spry_sample_options o = SPRY_SAMPLE_DEFAULTS;
        spry_sampled n = {.size = sizeof n}, again = {.size = sizeof again};
        spry_records *to;
        int64_t rows = 0;

        o.way = spry_sample_way(w);
        o.share = 0.4;
        o.threads = 1;
        assert_non_null(spry_sample_about(w));
        check_ok(spry_records_open(&to, ":memory:"));
        check_ok(spry_records_sample(&n, db, to, &o));
        check_ok(spry_records_each(to, NULL, NULL, count_row, &rows));
        assert_int_equal(n.records, 4 + (MATRICES - 1) * EACH);
        assert_int_equal(rows, n.kept);
        assert_true(fabs((double)n.kept - 0.4 * (double)n.records) <=
                    0.05 * (double)n.records);
        if (strcmp(o.way, "random") != 0) {
            assert_int_equal(n.invalid, MATRICES - 1);
            assert_int_equal(n.rare, 4);
        }
        assert_int_equal(n.invalid + n.rare + n.spared + n.kept, n.records);
        check_ok(spry_records_sample(&again, db, to, &o));
        rows = 0;
        check_ok(spry_records_each(to, NULL, NULL, count_row, &rows));
        assert_int_equal(rows, n.kept); /* none that was not there */
        spry_records_close(to);
    }
    spry_records_close(db);
    assert_int_equal(sp_alloc_live(), 0);
}

static void the_certificate_counts_every_problem(void **state)
{
    spry_certificate line[] = {{.way = "random", .share = 1},
                               {.way = "spread", .share = 0.5}};
    spry_sample_options o = SPRY_SAMPLE_DEFAULTS;
    spry_feature_weight w[4];
    spry_records *db = make_store();
    int count;

    (void)state;
    o.kind = "analytic";
    o.threads = 1;
    check_ok(spry_sample_certify(line, 2, db, &o));
    for (int i = 0; i < 2; i++)
        assert_int_equal(line[i].grades.problems, MATRICES - 1);
    assert_true(line[0].kept == line[0].records);
    assert_true((double)line[1].kept < 0.6 * (double)line[1].records);
    check_ok(spry_sample_importance(w, 4, &count, db, &o));
    assert_int_equal(count, 4);
    assert_true(w[0].importance >= w[1].importance && w[0].importance > 0.1 &&
                w[0].importance <= 1.0001);
    spry_records_close(db);
}

static void what_cannot_be_is_said(void **state)
{
    spry_sample_options o = SPRY_SAMPLE_DEFAULTS;
    spry_records *db = make_store(), *to;
    spry_certificate line = {.way = "spread", .share = 1};
    spry_sampled n = {.size = sizeof n};

    (void)state;
    check_ok(spry_records_open(&to, ":memory:"));
    assert_int_equal(spry_records_sample(NULL, db, to, NULL), SPRY_USAGE);
    o.way = "luck";
    assert_int_equal(spry_records_sample(&n, db, to, &o), SPRY_USAGE);
    o.way = "spread";
    o.share = 0;
    assert_int_equal(spry_records_sample(&n, db, to, &o), SPRY_USAGE);
    o.share = 0.3;
    o.op = SPRY_SDDMM;
    assert_int_equal(spry_records_sample(&n, db, to, &o), SPRY_USAGE);
    o.op = SPRY_SPMM;
    o.kind = "oracle";
    assert_int_equal(spry_sample_certify(&line, 1, db, &o), SPRY_USAGE);
    assert_null(spry_sample_way(-1));
    assert_null(spry_sample_about(99));
    spry_records_close(to);
    spry_records_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_keep_their_share),
        cmocka_unit_test(the_certificate_counts_every_problem),
        cmocka_unit_test(what_cannot_be_is_said)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
