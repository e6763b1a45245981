/* test_story.c - the story of a tune is one document for every family, with
 * the fields that tests/data/story.txt names; tests/cli/story.sh holds the
 * command to the same file. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "spry.h"
#include "spry/tune.h"

#define FIELDS SPRY_TEST_DATA "/story.txt"

/* The line of the file that begins with `family`, without it. */
static void fields_of(char out[512], const char *family)
{
    FILE *f = fopen(FIELDS, "r");
    size_t n = strlen(family);
    int found = 0;

    assert_non_null(f);
    while (!found && fgets(out, 512, f))
        found = strncmp(out, family, n) == 0 && out[n] == ' ';
    fclose(f);
    assert_true(found);
    out[strcspn(out, "\n")] = 0;
    memmove(out, out + n + 1, strlen(out + n + 1) + 1);
}

/* An object's keys are those of the line, in its order. */
static void check_keys(const char *text, const char *family, const char *inside)
{
    char wanted[512], quoted[80], *save = NULL;
    const char *at = inside ? strstr(text, inside) : text;
    int depth = inside ? 4 : 2;

    assert_non_null(at);
    fields_of(wanted, family);
    for (char *key = strtok_r(wanted, " ", &save); key;
         key = strtok_r(NULL, " ", &save)) {
        snprintf(quoted, sizeof quoted, "\n%*s\"%s\": ", depth, "", key);
        at = strstr(at, quoted);
        if (!at)
            fail_msg("no field %s, or not there: %s", key, text);
        at++;
    }
    snprintf(quoted, sizeof quoted, "\n%*s\"", depth, "");
    at = strchr(at, '\n'); /* and no other behind the last */
    if (at && inside)
        assert_true(strncmp(at, quoted, strlen(quoted)) != 0);
}

static char *story_of(const spry_problem *p, const char *source)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    sp_json_doc doc;
    spry_plan *plan;
    char *text;

    o.effort = SPRY_PREDICT;
    o.store = ":memory:";
    check_ok(spry_tune(&plan, p, &o));
    check_ok(spry_plan_story(&text, plan, source));
    check_ok(sp_json_parse(&doc, text, strlen(text)));
    sp_json_free(&doc);
    spry_plan_free(plan);
    return text;
}

static void check_story(const spry_problem *p, const char *family,
                        const char *named)
{
    char *text = story_of(p, "where \"it\" lies");

    check_keys(text, "all", NULL);
    check_keys(text, family, "\"problem\": ");
    assert_non_null(strstr(text, named));
    assert_non_null(strstr(text, "where \\\"it\\\" lies"));
    assert_non_null(strstr(text, spry_problem_key(p)));
    free(text);
}

static void of_a_matrix(void **state)
{
    spry_matrix *A;
    spry_problem *p;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform rows=60 cols=50 nnz=300", 1));
    check_ok(spry_problem_spmm(&p, A, 8, SPRY_F32));
    check_story(p, "sparse", "\"op\": \"spmm\"");
    spry_problem_free(p);
    spry_matrix_free(A);
}

static void of_a_network(void **state)
{
    spry_network *n;
    spry_problem *p;

    (void)state;
    check_ok(
        spry_network_read(&n, "gen:random width=32 depth=3 density=0.3", NULL));
    check_ok(spry_problem_network(&p, n, 20));
    check_story(p, "network", "\"edges\": ");
    spry_problem_free(p);
    spry_network_free(n);
}

static void of_a_dense_operator(void **state)
{
    spry_operator op;
    spry_problem *p;

    (void)state;
    check_ok(spry_operator_parse(&op, "conv2d,h=8,w=8,c=4,k=8,r=3,pad=1"));
    check_ok(spry_problem_dense(&p, &op));
    check_story(p, "dense", "\"operations\": ");
    spry_problem_free(p);
}

/* What converting costs in plain runs, where a run is more than a guess. */
static void of_no_time(void **state)
{
    spry_tuning t = {.convert_seconds = 6, .baseline_seconds = 2};

    (void)state;
    assert_true(spry_tuning_convert_runs(&t) == 3);
    t.baseline_seconds = 1e-10;
    assert_true(isnan(spry_tuning_convert_runs(&t)));
    assert_true(isnan(spry_tuning_convert_runs(NULL)));
}

static void of_no_tune(void **state)
{
    spry_schedule x = spry_schedule_baseline(1);
    spry_matrix *A;
    spry_problem *p;
    spry_plan *plan;
    char *text;

    (void)state;
    check_ok(spry_matrix_generate(&A, "uniform rows=60 cols=50 nnz=300", 1));
    check_ok(spry_problem_spmv(&p, A, SPRY_F64));
    check_ok(spry_plan_make(&plan, p, &x, NULL));
    assert_int_equal(spry_plan_story(&text, plan, NULL), SPRY_USAGE);
    assert_null(text);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_matrix),         cmocka_unit_test(of_a_network),
        cmocka_unit_test(of_a_dense_operator), cmocka_unit_test(of_no_time),
        cmocka_unit_test(of_no_tune),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
