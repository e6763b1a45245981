/* test_arguments.c - bad arguments that need something real beside them: the
 * calls that tests/misuse makes up from the headers know no values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "spry.h"

static spry_matrix *matrix(void)
{
    spry_matrix *m;

    check_ok(spry_matrix_read(&m, "gen:stencil5,nx=6"));
    return m;
}

/* The call must be refused, in words. */
static void refused(spry_status s, const char *words)
{
    assert_int_equal(s, SPRY_USAGE);
    assert_non_null(strstr(spry_message(), words));
}

static void operands_are_there_and_apart(void **state)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *m = matrix();
    double memory[3 * 36 * 4] = {0}, *B = memory, *C = memory + 36 * 4;
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_problem_spmm(&p, m, 4, SPRY_F64));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    refused(spry_run(plan, NULL, C), "B is NULL");
    refused(spry_run(plan, B, NULL), "C is NULL");
    refused(spry_run(plan, B, B), "lies over");
    refused(spry_run(plan, B, B + 36 * 4 - 1), "lies over");
    refused(spry_run(plan, B + 36 * 4 - 1, B), "lies over");
    refused(spry_problem_reference(p, 1, B, NULL, 0, B), "lies over");
    check_ok(spry_run(plan, B, C));
    check_ok(spry_run(plan, C, B));
    spry_plan_free(plan);
    spry_problem_free(p);
    check_ok(spry_problem_sddmm(&p, m, 4, SPRY_F64));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    refused(spry_run(plan, B, C), "spry_run_scaled");
    refused(spry_run_scaled(plan, 1, B, NULL, 0, C), "D is NULL");
    refused(spry_run_scaled(plan, 1, B, C, 0, C + 5), "lies over");
    spry_plan_free(plan);
    spry_problem_free(p);
    check_ok(spry_problem_spmm(&p, m, 0, SPRY_F64));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    check_ok(spry_run(plan, NULL, NULL)); /* there is nothing to read */
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(m);
}

static void networks_do_not_write_over_their_inputs(void **state)
{
    spry_network *n;
    spry_problem *p;
    spry_plan *plan;
    float x[3 * 7] = {0};

    (void)state;
    check_ok(spry_network_read(&n, "gen:random,width=7,density=1", NULL));
    check_ok(spry_problem_network(&p, n, 1));
    check_ok(spry_plan_from(&plan, p, "rows", NULL));
    refused(spry_run(plan, x, x), "lie");
    refused(spry_run_inputs(plan, x, x + 7, 2), "lie over");
    check_ok(spry_run_inputs(plan, x, x + 7, 1));
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_network_free(n);
}

static void indices_of_entries_are_there(void **state)
{
    int32_t none[] = {0, 0}, one[] = {0, 1};
    spry_matrix *m;

    (void)state;
    check_ok(spry_matrix_csr(&m, 1, 1, none, NULL, NULL, SPRY_I32, SPRY_F32,
                             SPRY_COPY));
    spry_matrix_free(m);
    refused(spry_matrix_csr(&m, 1, 1, one, NULL, NULL, SPRY_I32, SPRY_F32,
                            SPRY_COPY),
            "indices are NULL");
    check_ok(spry_matrix_triples(&m, 1, 1, 0, NULL, NULL, NULL, SPRY_F32));
    spry_matrix_free(m);
}

static void tuning_options_make_sense(void **state)
{
    spry_tune_options bad[6];
    spry_matrix *m = matrix();
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_problem_spmv(&p, m, SPRY_F64));
    for (int i = 0; i < 6; i++) {
        bad[i] = (spry_tune_options)SPRY_TUNE_DEFAULTS;
        bad[i].store = ":memory:";
    }
    bad[0].effort = (spry_effort)17;
    bad[1].seconds = -1;
    bad[2].seconds = (double)NAN;
    bad[3].threads = -2;
    bad[4].calls = -1;
    bad[5].size = 3;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(spry_tune(&plan, p, &bad[i]), SPRY_USAGE);
        assert_null(plan);
        assert_true(*spry_message());
    }
    spry_problem_free(p);
    spry_matrix_free(m);
}

/* A program that was built when the struct ended earlier. */
static void older_options_are_shorter(void **state)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_matrix *m = matrix();
    spry_problem *p;
    spry_plan *plan;

    (void)state;
    check_ok(spry_problem_spmv(&p, m, SPRY_F64));
    o.store = ":memory:";
    o.effort = SPRY_LOOKUP;
    o.source = o.search = "behind the end";
    o.size = offsetof(spry_tune_options, source);
    check_ok(spry_tune(&plan, p, &o));
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(m);
}

static void training_options_make_sense(void **state)
{
    spry_train_options bad[4];
    const char *none[] = {NULL};
    spry_trained out = {.size = sizeof out};
    spry_grades grades;
    spry_records *db;

    (void)state;
    check_ok(spry_records_open(&db, ":memory:"));
    for (int i = 0; i < 4; i++)
        bad[i] = (spry_train_options)SPRY_TRAIN_DEFAULTS;
    bad[0].kind = NULL;
    bad[1].op = (spry_op)12;
    bad[2].split = (spry_split)12;
    bad[3].seconds = -1;
    for (int i = 0; i < 4; i++)
        refused(spry_train(&out, db, "/dev/null", &bad[i]), "");
    refused(spry_evaluate(&grades, none, 1, db, NULL), "model 0 is NULL");
    spry_records_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_there_and_apart),
        cmocka_unit_test(networks_do_not_write_over_their_inputs),
        cmocka_unit_test(indices_of_entries_are_there),
        cmocka_unit_test(tuning_options_make_sense),
        cmocka_unit_test(older_options_are_shorter),
        cmocka_unit_test(training_options_make_sense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
