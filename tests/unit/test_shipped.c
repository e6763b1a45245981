/* test_shipped.c - every model file that comes with spry opens and is of use,
 * and every kind of model is fitted once, to very little. */
#include "check.h"
#include "folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dense/learned.h"
#include "model/cost.h"
#include "spry.h"

#define MODELS SPRY_TEST_DATA "/../../models/"

/* ---- shipped ---- */

static spry_status make_problem(spry_problem **out, const spry_matrix *A,
                                spry_op op)
{
    switch (op) {
    case SPRY_SPMV: return spry_problem_spmv(out, A, SPRY_F32);
    case SPRY_SDDMM: return spry_problem_sddmm(out, A, 64, SPRY_F32);
    case SPRY_SPMM:
    case SPRY_MTTKRP: break;
    }
    return spry_problem_spmm(out, A, 64, SPRY_F32);
}

/* Scores are numbers, and not all the same. */
static void use_model(const char *path, spry_op op)
{
    static const char *const schedules[] = {"csr", "csr threads=2",
                                            "csr tile=2 threads=2",
                                            "bcsr r=4 c=4 threads=2"};
    double score, least = HUGE_VAL, most = -HUGE_VAL;
    spry_model_facts facts = {.size = sizeof facts};
    sp_subject subject;
    spry_machine m;
    spry_matrix *A;
    spry_problem *p;
    sp_view *v;
    sp_cost *c;

    check_ok(spry_model_info(&facts, path));
    assert_true(facts.op == op && facts.records > 0 && facts.numbers > 0);
    check_ok(sp_cost_load(&c, path));
    check_ok(spry_machine_detect(&m));
    check_ok(spry_matrix_read(&A, "gen:blocks,rows=900,nnz=9000#1"));
    check_ok(make_problem(&p, A, op));
    check_ok(sp_subject_of(&subject, sp_sparse_of(p), &m));
    check_ok(sp_cost_look(&v, c, &subject));
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        spry_schedule x;

        if (spry_schedule_parse_for(&x, schedules[i], op) != SPRY_OK)
            continue;
        check_ok(sp_view_score(&score, v, &x, 1));
        assert_false(isnan(score));
        if (!isfinite(score))
            continue; /* it cannot be had */
        least = fmin(least, score);
        most = fmax(most, score);
    }
    assert_true(most > least);
    sp_view_free(v);
    sp_cost_free(c);
    spry_problem_free(p);
    spry_matrix_free(A);
}

/* The model of its class says how long every way of an operator takes. */
static void ask_operator(const char *text)
{
    spry_machine m;
    spry_operator op;
    spry_problem *p;
    sp_dense_way *way;
    double *seconds;
    int count;

    check_ok(spry_machine_detect(&m));
    check_ok(spry_operator_parse(&op, text));
    check_ok(spry_problem_dense(&p, &op));
    check_ok(sp_dense_ways(&way, &count, sp_dense_of(p), &m));
    seconds = sp_alloc(count, sizeof *seconds);
    assert_string_equal(
        sp_dense_expect(seconds, sp_dense_of(p), way, count, &m),
        "trees and networks");
    for (int k = 0; k < count; k++)
        assert_true(isfinite(seconds[k]) && seconds[k] > 0);
    sp_free(seconds);
    sp_free(way);
    spry_problem_free(p);
}

/* The same for models of dense operators. */
static void use_operators(const char *path, const char *name)
{
    static const char *const texts[] = {"op:conv2d,h=20,w=20,c=32,k=48,r=3",
                                        ("op:conv2d,h=20,w=20,c=32,k=32,r=3,"
                                         "groups=32"),
                                        "op:matmul,m=40,n=48,k=50"};
    spry_model_facts facts = {.size = sizeof facts};

    check_ok(spry_model_info(&facts, path));
    assert_string_equal(facts.operators, name);
    assert_true(facts.records > 0 && facts.numbers > 0);
    setenv("SPRY_MODELS", MODELS, 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        spry_operator op;

        check_ok(spry_operator_parse(&op, texts[i]));
        if (strcmp(sp_dense_class_name(sp_dense_class_of(&op)), name) == 0)
            ask_operator(texts[i]);
    }
    unsetenv("SPRY_MODELS");
    sp_dense_forget();
}

static void shipped_operators_are_of_use(void **state)
{
    static const char *const names[] = {"conv2d", "depthwise", "matmul"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        char path[4096];

        snprintf(path, sizeof path, MODELS "cost-%s.spry", names[i]);
        use_operators(path, names[i]);
    }
    assert_int_equal(sp_alloc_live(), 0);
}

static void put_model(const char *dir)
{
    char command[3 * TEST_FOLDER + 300];

    snprintf(command, sizeof command,
             "cp %scost-matmul.spry %s/new && mv %s/new %s/cost-matmul.spry",
             MODELS, dir, dir, dir);
    assert_int_equal(system(command), 0);
}

/* A file that is replaced takes the model it held with it. */
static void replaced_operators_are_forgotten(void **state)
{
    char dir[TEST_FOLDER];
    int64_t one;

    (void)state;
    assert_non_null(make_folder(dir));
    setenv("SPRY_MODELS", dir, 1);
    put_model(dir);
    ask_operator("op:matmul,m=40,n=48,k=50");
    one = sp_alloc_live();
    assert_true(one > 0);
    for (int i = 0; i < 2; i++) {
        put_model(dir);
        ask_operator("op:matmul,m=40,n=48,k=50");
        assert_int_equal(sp_alloc_live(), one);
    }
    unsetenv("SPRY_MODELS");
    sp_dense_forget();
    assert_int_equal(sp_alloc_live(), 0);
    assert_true(remove_folder(dir));
}

static void shipped_models_are_of_use(void **state)
{
    int found = 0;

    (void)state;
    for (int op = 0; op < SPRY_OPS; op++) {
        char path[4096];

        snprintf(path, sizeof path, MODELS "cost-%s.spry",
                 spry_op_name((spry_op)op));
        if (access(path, F_OK) != 0)
            continue;
        use_model(path, (spry_op)op);
        found++;
    }
    assert_true(found >= 3);
    assert_int_equal(sp_alloc_live(), 0);
}

/* ---- every kind ---- */

static void add_record(spry_records *db, const char *problem,
                       const spry_machine *m, const char *text, double s)
{
    spry_record r = {.problem = problem,
                     .about = "",
                     .schedule = text,
                     .machine = m->fingerprint,
                     .compiler = "built-in",
                     .noise = 'A',
                     .seconds = s,
                     .speedup = 1e-3 / s,
                     .low = 0.99e-3 / s,
                     .high = 1.01e-3 / s,
                     .when = 1,
                     .samples = 1,
                     .sample = &s};

    check_ok(spry_records_add(db, &r));
}

/* Formats and nests, wider tiles and blocks the faster. */
static void add_problem(spry_records *db, const spry_machine *m, int i)
{
    char source[96], text[96];
    spry_matrix *A;
    spry_problem *p;
    spry_origin o = {
        .source = source, .group = "?", .op = "spmm", .type = "f32", .n = 64};

    snprintf(source, sizeof source, "gen:banded,rows=200,band=%d#1", 3 + i);
    check_ok(spry_matrix_read(&A, source));
    check_ok(spry_problem_spmm(&p, A, 64, SPRY_F32));
    o.problem = spry_problem_key(p);
    o.rows = A->rows;
    o.cols = A->cols;
    o.nnz = A->nnz;
    check_ok(spry_records_put_origin(db, &o));
    for (int k = 1; k <= 6; k++) {
        snprintf(text, sizeof text, "csr tile=%d", k);
        add_record(db, o.problem, m, text, 1e-3 / k);
        snprintf(text, sizeof text, "super i=%d loops=i1ki0j dense=i1i0j",
                 1 << k);
        add_record(db, o.problem, m, text, 2e-3 / k);
    }
    spry_problem_free(p);
    spry_matrix_free(A);
}

static uint64_t hash_file(const char *path)
{
    sp_hash h = sp_hash_begin();
    sp_file f;

    check_ok(sp_file_read(&f, path, 1 << 28));
    sp_hash_add(&h, f.data, f.len);
    sp_file_free(&f);
    return h.a;
}

static void every_kind_is_fitted(void **state)
{
    spry_train_options o = SPRY_TRAIN_DEFAULTS;
    char path[] = "/tmp/spry-kinds-XXXXXX";
    spry_records *db;
    spry_machine m;
    spry_trained t = {.size = sizeof t};
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    close(file);
    check_ok(spry_records_open(&db, ":memory:"));
    check_ok(spry_machine_detect(&m));
    check_ok(spry_records_put_machine(db, &m));
    for (int i = 0; i < 8; i++)
        add_problem(db, &m, i);
    o.rounds = 3;
    o.threads = 1;
    for (int i = 0; spry_model_kind(i); i++) {
        spry_model_facts f = {.size = sizeof f};
        spry_status s;
        uint64_t first;

        o.kind = spry_model_kind(i);
        s = spry_train(&t, db, path, &o);
        if (s == SPRY_SYSTEM && !spry_train_trees())
            continue; /* trees need XGBoost */
        if (s != SPRY_OK)
            fail_msg("%s: %s", o.kind, spry_message());
        check_ok(spry_model_info(&f, path));
        assert_string_equal(f.kind, o.kind);
        assert_int_equal(f.groups, 8);
        assert_int_equal(strlen(f.data), 32);
        first = hash_file(path);
        check_ok(spry_train(&t, db, path, &o));
        assert_true(first == hash_file(path)); /* one store, one file */
    }
    unlink(path);
    spry_records_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_models_are_of_use),
        cmocka_unit_test(shipped_operators_are_of_use),
        cmocka_unit_test(replaced_operators_are_forgotten),
        cmocka_unit_test(every_kind_is_fitted)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
