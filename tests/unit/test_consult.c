/* test_consult.c - who ranks for the tuner: a learned model, or the analytic
 * one when there is none that can be used. */
#define _DEFAULT_SOURCE /* setenv, mkdtemp */
#include "check.h"
#include "folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/guess.h"
#include "spry.h"

enum { ROWS = 24 };

typedef struct {
    char dir[TEST_FOLDER], file[TEST_FOLDER + 32];
    spry_matrix *A;
    spry_problem *p;
    spry_machine m;
    spry_tune_options opt;
} world;

/* A model that has seen this one problem, and that prefetch=8 is best. */
static void write_model(const world *w)
{
    sp_subject subject;
    sp_example row[ROWS];
    int64_t start[2] = {0, ROWS};
    sp_examples e = {1, ROWS, &subject, row, start};
    sp_fitting l = {.train = &e, .seed = 1, .threads = 1, .rounds = 60};
    sp_cost *c;

    memset(row, 0, sizeof row);
    check_ok(sp_subject_of(&subject, sp_sparse_of(w->p), &w->m));
    for (int i = 0; i < ROWS; i++) {
        static const int32_t tile[] = {1, 2, 4}, ahead[] = {0, 4, 8, 16};

        row[i].x = spry_schedule_baseline(1 + i % 2);
        row[i].x.tile = tile[i % 3];
        row[i].x.prefetch = ahead[i / 6];
        row[i].log_seconds = -9 - 2 * (row[i].x.prefetch == 8);
        row[i].log_speedup = -9 - row[i].log_seconds;
    }
    check_ok(sp_cost_fit(&c, sp_cost_kind_find("mlp"), SPRY_SPMM, &l));
    check_ok(sp_cost_save(c, NULL, w->file));
    sp_cost_free(c);
}

static int set_up(void **state)
{
    static const spry_tune_options defaults = SPRY_TUNE_DEFAULTS;
    world *w = calloc(1, sizeof *w);

    assert_non_null(make_folder(w->dir));
    snprintf(w->file, sizeof w->file, "%s/cost-spmm.spry", w->dir);
    check_ok(
        spry_matrix_generate(&w->A, "uniform rows=500 cols=400 nnz=9000", 1));
    check_ok(spry_problem_spmm(&w->p, w->A, 32, SPRY_F32));
    check_ok(spry_machine_detect(&w->m));
    w->opt = defaults;
    w->opt.store = ":memory:";
    w->opt.machine = &w->m;
    setenv("SPRY_MODELS", w->dir, 1);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;

    unsetenv("SPRY_MODELS");
    unlink(w->file);
    rmdir(w->dir);
    spry_problem_free(w->p);
    spry_matrix_free(w->A);
    free(w);
    return 0;
}

static spry_tuning story_of(const world *w, spry_effort effort)
{
    spry_tune_options o = w->opt;
    spry_tuning story;
    spry_plan *plan;

    o.effort = effort;
    o.seconds = 0;
    check_ok(spry_tune(&plan, w->p, &o));
    story = *spry_plan_tuning(plan);
    check_ok(spry_plan_check(plan, 3));
    spry_plan_free(plan);
    return story;
}

static void a_learned_model_ranks(void **state)
{
    const world *w = *state;
    spry_schedule x[2] = {spry_schedule_baseline(1), spry_schedule_baseline(1)};
    double seconds[2], best;
    char who[SPRY_WHO];
    spry_tuning story;
    spry_schedule chosen;

    write_model(w);
    x[0].tile = x[1].tile = 2;
    x[1].prefetch = 8;
    check_ok(spry_guess(seconds, who, w->p, x, 2, &w->m));
    assert_string_equal(who, "mlp");
    assert_true(seconds[1] < 0.8 * seconds[0]);
    story = story_of(w, SPRY_PREDICT);
    assert_string_equal(story.model, "mlp");
    assert_true(story.changed && story.trials == 0 && story.verified);
    check_ok(spry_schedule_parse(&chosen, story.best));
    check_ok(spry_guess(&best, who, w->p, &chosen, 1, &w->m));
    assert_true(best <= seconds[1]); /* x[1] could be had */
    story = story_of(w, SPRY_MEASURE);
    assert_string_equal(story.model, "mlp");
    assert_true(story.trials > 0 && story.verified);
    assert_true(!story.changed || story.low > 1.02);
    story = story_of(w, SPRY_LOOKUP); /* nobody is asked */
    assert_string_equal(story.model, "");
}

static void without_one_the_analytic_model_does(void **state)
{
    const world *w = *state;
    spry_schedule x = spry_schedule_baseline(1);
    spry_prediction prediction = {.size = sizeof prediction};
    double seconds;
    char who[SPRY_WHO];

    check_ok(spry_guess(&seconds, who, w->p, &x, 1, &w->m));
    check_ok(spry_predict(&prediction, w->p, &x, &w->m));
    assert_string_equal(who, "analytic");
    assert_true(seconds == prediction.seconds);
    assert_string_equal(story_of(w, SPRY_PREDICT).model, "analytic");
    assert_string_equal(story_of(w, SPRY_PREDICT).note, "");
}

/* A damaged file costs the model, not the tune. */
static void what_cannot_be_used_is_noted(void **state)
{
    const world *w = *state;
    spry_tuning story;

    check_ok(sp_file_write(w->file, "no model", 8));
    story = story_of(w, SPRY_PREDICT);
    assert_string_equal(story.model, "analytic");
    assert_non_null(strstr(story.note, "not used"));
    story = story_of(w, SPRY_MEASURE);
    assert_non_null(strstr(story.note, "not used"));
    assert_true(story.verified);
}

/* ---- searches by name ---- */

enum { MOST = 40 };

static int propose(spry_candidate out[MOST], const world *w,
                   const spry_problem *p, const char *search)
{
    spry_tune_options o = w->opt;
    int count = -1;

    o.search = search;
    o.seconds = 60;
    o.effort = SPRY_PATIENT;
    check_ok(spry_propose(out, &count, MOST, p, &o));
    return count;
}

static void every_search_proposes_what_can_be_had(void **state)
{
    static const char *const name[] = {"exhaustive", "descent", "graph",
                                       "evolve",     "random",  NULL};
    const world *w = *state;
    spry_candidate found[MOST];

    for (int i = 0; i == 0 || name[i - 1]; i++) {
        int count = propose(found, w, w->p, name[i]);

        assert_in_range(count, 3, MOST);
        for (int k = 0; k < count; k++) {
            spry_schedule x;

            check_ok(spry_schedule_parse(&x, found[k].schedule));
            check_ok(spry_schedule_legal(&x, w->p, &w->m));
            assert_true(isfinite(found[k].seconds));
            assert_true(k == 0 || found[k - 1].seconds <= found[k].seconds);
        }
    }
}

static void a_search_nobody_knows_is_refused(void **state)
{
    const world *w = *state;
    spry_tune_options o = w->opt;
    spry_candidate found;
    spry_plan *plan;
    int count;

    o.search = "luck";
    assert_int_equal(spry_propose(&found, &count, 1, w->p, &o), SPRY_USAGE);
    assert_non_null(strstr(spry_message(), "no search 'luck'; there are"));
    assert_int_equal(spry_tune(&plan, w->p, &o), SPRY_USAGE);
    assert_null(plan);
}

static void same(const spry_candidate *a, const spry_candidate *b, int count)
{
    for (int i = 0; i < count; i++) {
        assert_string_equal(a[i].schedule, b[i].schedule);
        assert_true(a[i].seconds == b[i].seconds);
    }
}

/* Made, read again, and made again when it is damaged. */
static void the_graph_of_nests_is_kept(void **state)
{
    const world *w = *state;
    static spry_candidate first[MOST], again[MOST];
    char path[2 * TEST_FOLDER], folder[TEST_FOLDER + 8];
    spry_problem *p;
    sp_file before, after;
    int count;

    unsetenv("SPRY_MODELS"); /* the shipped model has a factored head */
    setenv("SPRY_HOME", w->dir, 1);
    snprintf(folder, sizeof folder, "%s/cache", w->dir);
    snprintf(path, sizeof path, "%s/nests-spmv-6-6-%d.knn", folder,
             w->m.threads);
    check_ok(spry_problem_spmv(&p, w->A, SPRY_F64));
    count = propose(first, w, p, "graph");
    check_ok(sp_file_read(&before, path, 1 << 28));
    assert_int_equal(propose(again, w, p, "graph"), count);
    same(first, again, count);
    check_ok(sp_file_write(path, "no graph", 8));
    assert_int_equal(propose(again, w, p, "graph"), count);
    same(first, again, count);
    check_ok(sp_file_read(&after, path, 1 << 28));
    assert_int_equal(after.len, before.len);
    sp_file_free(&before);
    sp_file_free(&after);
    unlink(path);
    rmdir(folder);
    spry_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_learned_model_ranks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_one_the_analytic_model_does,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_used_is_noted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_search_proposes_what_can_be_had,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_search_nobody_knows_is_refused,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_graph_of_nests_is_kept, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
