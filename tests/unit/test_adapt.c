/* test_adapt.c - models that become good on another machine, and never worse. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapt_table.h"
#include "spry.h"

/* ---- learning it ---- */

static int stop_the_networks(const sp_lap *lap, void *payload)
{
    *(int *)payload += lap->round == 0; /* they only ask whether to go on */
    return *(int *)payload > 0;
}

/* Each network is asked once at most after somebody said stop. */
static void test_networks_can_be_stopped(void **state)
{
    static table d, test;
    int asked = 0;
    sp_fitting l = {.train = &d.e,
                    .test = &test.e,
                    .seed = 1,
                    .threads = 1,
                    .rounds = 3,
                    .note = stop_the_networks,
                    .payload = &asked};
    sp_pretrained made;

    (void)state;
    draw_table(&d, 7);
    draw_table(&test, 8);
    for (int i = 0; i < ROWS; i++)
        d.slower[i] = test.slower[i] = (float)(i % EACH) / EACH;
    check_ok(sp_pretrained_fit(&made, &d.t, &test.t, &l));
    assert_in_range(asked, 1, SP_PRETRAINED_NETS);
    sp_pretrained_free(&made);
}

/* ---- closed form ---- */

/* Trees of one split each, at 0, on numbers of the schedule. */
static void plant_trees(sp_pretrained *s, int trees)
{
    check_ok(sp_trees_new(&s->trees, SP_FEATURES, trees, 3 * (int64_t)trees));
    for (int k = 0; k < trees; k++) {
        sp_node *n = s->trees.node + 3 * (int64_t)k;

        s->trees.start[k + 1] = 3 * (int64_t)(k + 1);
        n[0] = (sp_node){FEATURE + k, 0, 1, 0};
        n[1] = n[2] = (sp_node){-1, 0, 0, 0};
    }
    s->has_trees = 1;
}

static double mean_wrong(const table *d, const float *score)
{
    double sum = 0;

    for (int s = 0; s < SUBJECTS; s++)
        sum += sp_wrong_order(&d->t, score, s) / SUBJECTS;
    return sum;
}

/* What depends on the side of a split is learned as new values of leaves, from
 * the records of one half of the subjects for the other. */
static void test_bayes_moves_leaves(void **state)
{
    static table d, other;
    sp_adapting how = {.threads = 1, .seed = 1};
    float before[ROWS], after[ROWS];
    sp_pretrained source;

    (void)state;
    draw_table(&d, 5);
    draw_table(&other, 6);
    open_source(&source);
    plant_trees(&source, 8);
    for (int k = 0; k < 2; k++) {
        table *t = k ? &other : &d;

        check_ok(sp_pretrained_score(t->slower, &source, &t->t));
        for (int i = 0; i < ROWS; i++)
            t->slower[i] += t->x[i][FEATURE] < 0 ? 0.4F : -0.4F;
    }
    check_ok(sp_pretrained_score(before, &source, &other.t));
    check_ok(sp_adapt_score(after, &source, &d.t, &other.t, &how,
                            SP_CORRECT_LINEAR));
    assert_true(mean_wrong(&other, after) < mean_wrong(&other, before) / 3);
    sp_trees_free(&source.trees);
    source.has_trees = 0;
    sp_pretrained_free(&source);
}

/* What goes with a core's number is learned from the records of other
 * subjects, and is kept with them. */
static void test_bayes_learns_cores(void **state)
{
    enum { NUMBER = 3 };
    static table d, other;
    sp_adapting how = {.threads = 1, .seed = 1};
    float before[ROWS], after[ROWS];
    sp_pretrained source;

    (void)state;
    draw_table(&d, 5);
    draw_table(&other, 6);
    open_source(&source);
    for (int k = 0; k < 2; k++) {
        table *t = k ? &other : &d;
        sp_rng r = sp_rng_seed((uint64_t)k + 9);

        check_ok(sp_pretrained_score(t->slower, &source, &t->t));
        for (int i = 0; i < ROWS; i++) {
            t->elastic[i][NUMBER] = (float)sp_rng_unit(&r);
            t->slower[i] += 0.6F * t->elastic[i][NUMBER];
        }
    }
    check_ok(sp_pretrained_score(before, &source, &other.t));
    check_ok(sp_adapt_score(after, &source, &d.t, &other.t, &how,
                            SP_CORRECT_LINEAR));
    assert_true(mean_wrong(&other, after) < mean_wrong(&other, before) / 3);
    sp_pretrained_free(&source);
}

/* ---- which way ---- */

static void test_choice_is_never_worse(void **state)
{
    static table d;
    sp_adapting how = {.way = SP_CORRECT_LINEAR, .threads = 1, .seed = 1};
    sp_adapted_way chosen;
    sp_pretrained source;

    (void)state;
    draw_table(&d, 1);
    open_source(&source);
    check_ok(sp_pretrained_score(d.slower, &source, &d.t));
    /* the source is right: nothing can be better */
    check_ok(sp_adapt_choose(&chosen, &source, &d.t, d.group, &how));
    assert_int_equal(chosen.way, 0);
    assert_true(fabs(chosen.before - 0) < 1e-9);
    /* wrong by something linear in a schedule's number */
    for (int i = 0; i < ROWS; i++)
        d.slower[i] += d.x[i][FEATURE];
    check_ok(sp_adapt_choose(&chosen, &source, &d.t, d.group, &how));
    assert_int_equal(chosen.way, SP_CORRECT_LINEAR);
    assert_true(chosen.after < chosen.before / 2);
    /* of one matrix nothing can be held back */
    memset(d.group, 0, sizeof d.group);
    assert_int_equal(sp_adapt_choose(&chosen, &source, &d.t, d.group, &how),
                     SPRY_USAGE);
    sp_pretrained_free(&source);
}

/* Two records of each of many matrices: next to no pairs, but what is wrong
 * alike everywhere shows; and what is wrong by chance is not learned. */
static void test_few_of_many_suffice(void **state)
{
    static table d;
    sp_adapting how = {.way = SP_CORRECT_LINEAR, .threads = 1, .seed = 1};
    uint8_t keep[ROWS] = {0};
    sp_adapted_way chosen;
    sp_pretrained source;
    sp_rng r = sp_rng_seed(7);

    (void)state;
    draw_table(&d, 9);
    open_source(&source);
    plant_trees(&source, 8);
    for (int s = 0; s < SUBJECTS; s++)
        keep[d.t.start[s]] = keep[d.t.start[s] + 1] = 1;
    for (int k = 0; k < 2; k++) {
        sp_slice few;

        check_ok(sp_pretrained_score(d.slower, &source, &d.t));
        for (int i = 0; i < ROWS; i++)
            d.slower[i] += k ? (float)(1.2 * sp_rng_unit(&r) - 0.6)
                           : d.x[i][FEATURE] < 0 ? 0.5F
                                                 : -0.5F;
        check_ok(sp_slice_new(&few, &d.t, keep));
        check_ok(sp_adapt_choose(&chosen, &source, &few.t, d.group, &how));
        assert_int_equal(chosen.way, k ? 0 : SP_CORRECT_LINEAR);
        sp_slice_free(&few);
    }
    sp_trees_free(&source.trees);
    source.has_trees = 0;
    sp_pretrained_free(&source);
}

static void test_inner_loop_learns(void **state)
{
    static table d;
    sp_adapting how = {.threads = 1, .seed = 1};
    float before[ROWS], after[ROWS];
    double was = 0, now = 0;
    sp_pretrained source;

    (void)state;
    draw_table(&d, 2);
    open_source(&source);
    for (int i = 0; i < ROWS; i++)
        d.slower[i] = d.x[i][FEATURE];
    check_ok(sp_pretrained_score(before, &source, &d.t));
    check_ok(
        sp_adapt_score(after, &source, &d.t, &d.t, &how, SP_CORRECT_INNER));
    for (int s = 0; s < SUBJECTS; s++) {
        was += sp_wrong_order(&d.t, before, s);
        now += sp_wrong_order(&d.t, after, s);
    }
    assert_true(now < 0.8 * was);
    /* the source itself has not changed */
    check_ok(sp_pretrained_score(after, &source, &d.t));
    assert_memory_equal(before, after, sizeof before);
    sp_pretrained_free(&source);
}

/* ---- kept ---- */

static void make_local(sp_local **out, const sp_pretrained *source,
                       const table *d)
{
    sp_adapting how = {.threads = 1, .seed = 1};
    sp_adapted_way chosen = {SP_CORRECT_LINEAR, 0.4, 0.1};
    sp_local_card card = {.op = "spmm", .source = "abc", .machine = "m"};

    check_ok(sp_adapt_make(out, source, &d->t, &how, &chosen, &card));
}

static void test_local_file(void **state)
{
    static table d;
    char folder[] = "/tmp/spry-adapt-XXXXXX", path[64], *bytes;
    double before[2][ROWS] = {{0}}, after[2][ROWS] = {{0}};
    sp_local *l, *again;
    sp_pretrained source;
    sp_slice seen;
    sp_fresh none = {0}, fresh;
    sp_local_table asked = {d.x[0], d.elastic[0], ROWS};
    sp_file f;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/local.spry", folder);
    draw_table(&d, 3);
    open_source(&source);
    for (int i = 0; i < ROWS; i++)
        d.slower[i] = d.x[i][FEATURE];
    memcpy(d.elastic, d.x[ROWS / 2], sizeof d.elastic);
    d.x[0][5] = NAN; /* what is not known stays so */
    make_local(&l, &source, &d);
    check_ok(sp_local_save(l, path));
    check_ok(sp_local_load(&again, path, NULL));
    assert_string_equal(again->card.method, "bayes");
    assert_int_equal(again->card.records, ROWS);
    sp_local_add(before[0], before[1], l, NULL, &asked);
    sp_local_add(after[0], after[1], again, NULL, &asked);
    assert_memory_equal(before, after, sizeof before);
    assert_true(fabs(before[0][1]) > 0);

    /* what was seen comes back; a problem measured again replaces itself */
    check_ok(sp_slice_recall(&seen, again, &none));
    assert_int_equal(seen.t.rows, ROWS);
    assert_true(isnan(seen.t.x[5]));
    assert_memory_equal(seen.t.elastic, d.elastic, sizeof d.elastic);
    sp_slice_free(&seen);
    fresh = (sp_fresh){d.x[1], d.slower + 1, d.noise + 1, d.elastic[1], 1};
    check_ok(sp_slice_recall(&seen, again, &fresh));
    assert_int_equal(seen.t.rows, ROWS);
    sp_slice_free(&seen);
    sp_local_free(again);

    /* one bit is enough */
    check_ok(sp_file_read(&f, path, 1 << 26));
    bytes = f.data;
    bytes[f.len / 2] ^= 1;
    check_ok(sp_file_write(path, f.data, f.len));
    assert_int_equal(sp_local_load(&again, path, NULL), SPRY_INPUT);
    assert_null(again);
    sp_file_free(&f);
    sp_local_free(l);
    sp_pretrained_free(&source);
    unlink(path);
    rmdir(folder);
}

/* ---- machines that are not there ---- */

static void test_simulator_reranks(void **state)
{
    static const sp_imagined how = {1, 0.25, 2, 0.25, 0.5};
    static const char *const text[] = {"csr", "csr threads=2",
                                       "sell slice=4 sigma=64", "coo"};
    sp_subject subject;
    sp_example row[4];
    int64_t start[2] = {0, 0};
    sp_examples e = {1, 0, &subject, row, start};
    sp_dataset t;
    sp_slice there;
    spry_machine m, other;
    spry_matrix *A;
    spry_problem *p;
    int changed = 0;

    (void)state;
    check_ok(spry_machine_detect(&m));
    check_ok(spry_matrix_read(&A, "gen:uniform,rows=4000,nnz=90000"));
    check_ok(spry_problem_spmm(&p, A, 32, SPRY_F32));
    check_ok(sp_subject_of(&subject, sp_sparse_of(p), &m));
    for (int i = 0; i < 4; i++)
        if (spry_schedule_parse(&row[e.rows].x, text[i]) == SPRY_OK) {
            row[e.rows].subject = 0;
            row[e.rows].log_seconds = log(1e-3) + i;
            row[e.rows].log_speedup = -i;
            row[e.rows].verdict = SPRY_VERDICT_OK;
            row[e.rows++].noise = 0;
        }
    start[1] = e.rows;
    check_ok(sp_dataset_new(&t, &e, 1));
    assert_true(t.rows >= 2);
    check_ok(sp_simulate(&there, &other, &t, &how));
    assert_true(there.t.rows >= 2);
    for (int64_t i = 0; i < there.t.rows; i++)
        changed += fabsf(there.t.slower[i] - t.slower[there.t.from[i]]) > 1e-3F;
    assert_true(changed > 0);
    assert_int_equal(sp_formula_reranks(&t, &how), 0);
    assert_true(fabs(sp_formula(&how) - 8) < 1e-12);
    sp_slice_free(&there);
    sp_dataset_free(&t);
    spry_problem_free(p);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_networks_can_be_stopped),
        cmocka_unit_test(test_bayes_moves_leaves),
        cmocka_unit_test(test_bayes_learns_cores),
        cmocka_unit_test(test_choice_is_never_worse),
        cmocka_unit_test(test_few_of_many_suffice),
        cmocka_unit_test(test_inner_loop_learns),
        cmocka_unit_test(test_local_file),
        cmocka_unit_test(test_simulator_reranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
