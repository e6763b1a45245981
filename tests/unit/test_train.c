/* test_train.c - records become a model, and grades that can be believed. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "model/trees.h"
#include "problem/sparse.h"
#include "spry.h"
#include "train/internal.h"

enum { MATRICES = 14, COPIES = 2, EACH = 12 };

static const char path[] = "test_train.spry";

/* ---- a store whose times follow a rule ---- */

static spry_schedule point(int i)
{
    spry_schedule x = spry_schedule_baseline(1);

    x.tile = 1 << i % 3;
    x.prefetch = i / 3 % 2 ? 8 : 0;
    x.unroll = 1 << i / 6;
    return x;
}

/* Large tiles are good, prefetching is bad; unrolling depends on the matrix. */
static double seconds_of(const spry_schedule *x, const spry_matrix *A)
{
    double t = 1e-8 * (double)A->nnz;

    t *= 1 + 1.0 / x->tile;
    t *= x->prefetch ? 1.5 : 1;
    return t * (x->unroll > 1 && A->nnz < 6000 ? 1.3 : 1);
}

static void add_problem(spry_records *db, const spry_machine *m,
                        const char *source, const char *group)
{
    spry_matrix *A;
    spry_problem *p;
    spry_origin o = {
        .source = source, .group = group, .op = "spmm", .type = "f32", .n = 64};

    check_ok(spry_matrix_read(&A, source));
    check_ok(spry_problem_spmm(&p, A, 64, SPRY_F32));
    o.problem = spry_problem_key(p);
    o.rows = A->rows;
    o.cols = A->cols;
    o.nnz = A->nnz;
    check_ok(spry_records_put_origin(db, &o));
    for (int i = 0; i < EACH; i++) {
        spry_schedule x = point(i);
        char text[SPRY_SCHEDULE_TEXT];
        double s = seconds_of(&x, A), plain = 2.5e-8 * (double)A->nnz;
        spry_record r = {.problem = o.problem,
                         .about = "a test",
                         .schedule = spry_schedule_text(text, &x),
                         .machine = m->fingerprint,
                         .compiler = "built-in",
                         .noise = 'A',
                         .seconds = s,
                         .speedup = plain / s,
                         .low = plain / s * 0.99,
                         .high = plain / s * 1.01,
                         .when = 1,
                         .samples = 1,
                         .sample = &s};

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
    check_ok(spry_records_batch(db));
    for (int i = 0; i < MATRICES; i++)
        for (int copy = 0; copy < COPIES; copy++) {
            char source[96], group[32];
            int rows = 300 + 70 * i + copy;

            snprintf(source, sizeof source, "gen:banded,rows=%d,band=%d#%d",
                     rows, 3 + i, i);
            snprintf(group, sizeof group, "matrix %d", i);
            add_problem(db, &m, source, group);
        }
    check_ok(spry_records_commit(db));
    return db;
}

/* ---- groups ---- */

static void add_named(spry_records *db, const char *key, const char *group)
{
    double seconds = 1;
    spry_origin o = {.problem = key,
                     .source = "",
                     .group = group,
                     .op = "spmm",
                     .type = "f32",
                     .n = 64};
    spry_record r = {.problem = key,
                     .about = "",
                     .schedule = "csr",
                     .machine = "m",
                     .compiler = "",
                     .noise = 'A',
                     .seconds = 1,
                     .samples = 1,
                     .sample = &seconds};

    check_ok(spry_records_put_origin(db, &o));
    check_ok(spry_records_add(db, &r));
}

/* One pattern under two names makes them, and all of theirs, one group. */
static void names_of_one_pattern_are_one_group(void **state)
{
    spry_records *db;
    sp_data d;

    (void)state;
    check_ok(spry_records_open(&db, ":memory:"));
    add_named(db, "spmm-32-f32-aaaa", "one");
    add_named(db, "spmm-64-f32-aaaa", "two");
    add_named(db, "spmm-64-f32-bbbb", "two");
    add_named(db, "spmm-64-f32-cccc", "three");
    check_ok(sp_data_open(&d, db, SPRY_SPMM, NULL, 1));
    assert_int_equal(d.e.subjects, 4);
    assert_int_equal(sp_data_different(d.group, d.e.subjects), 2);
    sp_data_close(&d);
    spry_records_close(db);
    assert_int_equal(sp_alloc_live(), 0);
}

/* ---- splits ---- */

static int same_matrix(const sp_subject *a, const sp_subject *b)
{
    /* copies differ by one row */
    return llabs(a->task.rows - b->task.rows) <= 1;
}

static void groups_stay_together(void **state)
{
    spry_records *db = make_store();
    sp_examples part[SP_PARTS];
    int held[MATRICES * COPIES] = {0}, turns;
    sp_data d;

    (void)state;
    check_ok(sp_data_open(&d, db, SPRY_SPMM, NULL, 1));
    assert_int_equal(d.e.subjects, MATRICES * COPIES);
    assert_int_equal(d.e.rows, MATRICES * COPIES * EACH);
    assert_int_equal(sp_data_different(d.group, d.e.subjects), MATRICES);
    for (int64_t s = 0; s < d.e.subjects; s++)
        assert_non_null(d.e.subject[s].p);
    turns = sp_data_turns(&d, SPRY_BY_PROBLEM);
    for (int turn = 0; turn < turns; turn++) {
        int64_t subjects = 0;

        check_ok(sp_data_split(part, &d, SPRY_BY_PROBLEM, 3, turn));
        for (int a = 0; a < SP_PARTS; a++) {
            subjects += part[a].subjects;
            assert_true(part[a].subjects >= COPIES);
            for (int b = 0; b < a; b++)
                for (int64_t i = 0; i < part[a].subjects; i++)
                    for (int64_t k = 0; k < part[b].subjects; k++)
                        assert_false(same_matrix(&part[a].subject[i],
                                                 &part[b].subject[k]));
        }
        assert_int_equal(subjects, MATRICES * COPIES);
        for (int64_t i = 0; i < part[SP_HELD].subjects; i++)
            for (int64_t s = 0; s < d.e.subjects; s++)
                held[s] += d.e.subject[s].p == part[SP_HELD].subject[i].p;
        for (int a = 0; a < SP_PARTS; a++)
            sp_examples_free(&part[a]);
    }
    for (int s = 0; s < MATRICES * COPIES; s++)
        assert_int_equal(held[s], 1);
    sp_data_close(&d);
    spry_records_close(db);
    assert_int_equal(sp_alloc_live(), 0);
}

/* Rows and columns in another order leave the mark as it is; one entry
 * elsewhere, or another value, does not. */
static void permutations_have_one_mark(void **state)
{
    enum { N = 40 };
    int64_t row[3 * N], col[3 * N], to[N], from;
    double val[3 * N];
    spry_matrix *A, *B;
    sp_rng r = sp_rng_seed(5);

    (void)state;
    for (int64_t k = 0; k < 3 * N; k++) {
        row[k] = k % N;
        col[k] = (k * k / 3 + k) % N;
        val[k] = (double)(k % 7) + 1;
    }
    check_ok(spry_matrix_triples(&A, N, N, 3 * N, row, col, val, SPRY_F64));
    for (int64_t i = 0; i < N; i++)
        to[i] = i;
    for (int64_t i = N - 1; i > 0; i--) {
        int64_t swap = to[i];

        from = (int64_t)sp_rng_below(&r, (uint64_t)i + 1);
        to[i] = to[from];
        to[from] = swap;
    }
    for (int k = 0; k < 3 * N; k++) {
        row[k] = to[row[k]];
        col[k] = to[(col[k] + 7) % N];
    }
    check_ok(spry_matrix_triples(&B, N, N, 3 * N, row, col, val, SPRY_F64));
    assert_true(sp_twin_of(A) == sp_twin_of(B));
    spry_matrix_free(B);
    val[0] = 9;
    check_ok(spry_matrix_triples(&B, N, N, 3 * N, row, col, val, SPRY_F64));
    assert_true(sp_twin_of(A) != sp_twin_of(B));
    spry_matrix_free(B);
    spry_matrix_free(A);
}

/* ---- grades ---- */

static void grades_are_what_they_say(void **state)
{
    spry_records *db = make_store();
    double *score;
    sp_grading *g;
    spry_grades grades;
    sp_data d;

    (void)state;
    check_ok(sp_data_open(&d, db, SPRY_SPMM, NULL, 1));
    score = sp_alloc(d.e.rows, sizeof *score);
    for (int64_t i = 0; i < d.e.rows; i++)
        score[i] = d.e.row[i].log_seconds;
    check_ok(sp_grading_new(&g, SPRY_SPMM));
    check_ok(sp_grading_add(g, &d.e, score, 1));
    check_ok(sp_grading_end(&grades, g, "oracle", 1));
    sp_grading_free(g);
    assert_int_equal(grades.problems, MATRICES * COPIES);
    assert_true(grades.top1 == 1 && grades.top5 == 1 && grades.rmse == 0);
    assert_true(grades.pairwise > 0.8); /* equal times are half right */
    assert_true(grades.regret1 == 0 && fabs(grades.speedup1 - 2) < 1e-6);
    for (int64_t i = 0; i < d.e.rows; i++)
        score[i] = -d.e.row[i].log_seconds;
    check_ok(sp_grading_new(&g, SPRY_SPMM));
    check_ok(sp_grading_add(g, &d.e, score, 1));
    check_ok(sp_grading_end(&grades, g, "contrary", 0));
    sp_grading_free(g);
    assert_true(grades.pairwise < 0.2 && grades.spearman < -0.9);
    assert_true(grades.slower > 0.9 && isnan(grades.rmse));
    assert_true(grades.top1 < 0.5 && grades.regret20 == 0);
    sp_free(score);
    sp_data_close(&d);
    spry_records_close(db);
    assert_int_equal(sp_alloc_live(), 0);
}

/* ---- the whole way ---- */

static int count_rounds(const spry_round *c, void *payload)
{
    int *rounds = payload;

    assert_string_equal(c->kind, "mlp");
    ++*rounds;
    return 0;
}

static void a_model_is_trained(void **state)
{
    spry_records *db = make_store();
    spry_train_options o = SPRY_TRAIN_DEFAULTS;
    const char *models[] = {"analytic", path, "random"};
    spry_grades g[3];
    spry_model_facts f = {.size = sizeof f};
    spry_trained t = {.size = sizeof t};
    int rounds = 0;

    (void)state;
    o.kind = "mlp";
    o.rounds = 30;
    o.threads = 1;
    check_ok(spry_train(&t, db, path, &o));
    assert_int_equal(t.machines, 1);
    assert_true(t.grades.problems >= COPIES);
    assert_true(t.grades.pairwise > 0.75);
    check_ok(spry_records_each_round(db, count_rounds, &rounds));
    assert_int_equal(rounds, t.rounds);
    check_ok(spry_model_info(&f, path));
    assert_string_equal(f.kind, "mlp");
    assert_int_equal(f.records, t.records);
    assert_true(f.grades.pairwise == t.grades.pairwise);
    assert_true(f.op == SPRY_SPMM && *f.date && *f.machine);
    o.whole = 1;
    check_ok(spry_evaluate(g, models, 3, db, &o));
    assert_int_equal(g[0].problems, MATRICES * COPIES);
    assert_true(g[1].pairwise > g[2].pairwise + 0.2);
    assert_true(fabs(g[2].pairwise - 0.5) < 0.1);
    unlink(path);
    spry_records_close(db);
    assert_int_equal(sp_alloc_live(), 0);
}

static void what_cannot_be_is_said(void **state)
{
    spry_records *db;
    spry_train_options o = SPRY_TRAIN_DEFAULTS;
    spry_model_facts f = {.size = sizeof f};
    spry_trained t = {.size = sizeof t};

    (void)state;
    check_ok(spry_records_open(&db, ":memory:"));
    assert_int_equal(spry_train(&t, db, path, &o), SPRY_USAGE);
    o.kind = "oracle";
    assert_int_equal(spry_train(&t, db, path, &o), SPRY_USAGE);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(spry_model_info(&f, "nowhere.spry"), SPRY_INPUT);
    spry_records_close(db);
}

/* Every allocation refused once: a sentence, nothing left. */
static void memory_may_be_short(void **state)
{
    spry_records *db = make_store();
    spry_train_options o = SPRY_TRAIN_DEFAULTS;
    spry_trained t = {.size = sizeof t};
    spry_status s = SPRY_SYSTEM;
    int64_t before;

    (void)state;
    o.kind = "analytic";
    o.threads = 1;
    check_ok(spry_train(&t, db, path, &o)); /* the store takes what it needs */
    before = sp_alloc_live();
    for (int64_t n = 1; s != SPRY_OK && n < 100000; n += 1 + n / 8) {
        sp_alloc_refuse(n, 0);
        s = spry_train(&t, db, path, &o);
        sp_alloc_refuse(0, 0);
        assert_true(s == SPRY_OK || s == SPRY_SYSTEM || s == SPRY_USAGE);
        assert_int_equal(sp_alloc_live(), before);
    }
    assert_int_equal(s, SPRY_OK);
    unlink(path);
    spry_records_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_one_pattern_are_one_group),
        cmocka_unit_test(groups_stay_together),
        cmocka_unit_test(permutations_have_one_mark),
        cmocka_unit_test(grades_are_what_they_say),
        cmocka_unit_test(a_model_is_trained),
        cmocka_unit_test(what_cannot_be_is_said),
        cmocka_unit_test(memory_may_be_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
