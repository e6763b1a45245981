/* test_network_choose.c - ways to run a network: their text, that they are
 * right, and that a choice is proven and remembered. */
#include "check.h"
#include "folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "spry.h"

static const char *const ways[] = {
    "plain threads=2",
    "passes=all plain threads=1",
    "passes=rest rows tile=8 threads=2",
    "passes=all rows tile=16 threads=2",
    "passes=factor,merge gather threads=1",
    "passes=merge,dead edges order=blocked",
};
enum { WAYS = sizeof ways / sizeof *ways };

static void ways_have_a_text(void **state)
{
    static const char *const bad[] = {"passes=magic rows", "passes=all",
                                      "passes=all magic", "rows order=ego",
                                      "gather rest=1"};
    char text[SPRY_WAY_TEXT];
    spry_way w;

    (void)state;
    for (int i = 0; i < WAYS; i++) {
        check_ok(spry_way_parse(&w, ways[i]));
        assert_string_equal(spry_way_text(text, &w), ways[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(spry_way_parse(&w, bad[i]), SPRY_USAGE);
    check_ok(spry_way_parse(&w, "rows rest=1"));
    assert_string_equal(spry_way_text(text, &w), "passes=rest rows");
}

/* Inputs of which some are answered with zeros, some come to their limits. */
static void check_way(const spry_network *n, const spry_matrix *rows,
                      const double *right, const char *text)
{
    int64_t batch = rows->rows, count = batch * n->outputs;
    float *x = sp_alloc(batch * n->inputs, sizeof *x);
    float *y = sp_alloc(count, sizeof *y);
    uint8_t *any = sp_alloc(batch, sizeof *any);
    spry_ready *r;
    spry_way w;

    check_ok(spry_way_parse(&w, text));
    check_ok(spry_ready_make(&r, n, &w));
    check_ok(spry_inputs_dense(x, rows, 0, batch, n->inputs));
    check_ok(spry_ready_run(r, y, x, batch));
    check_ok(spry_ready_categories(r, any, rows, 0, batch));
    for (int64_t i = 0; i < count; i++)
        assert_true(fabs((double)y[i] - right[i]) <= 1e-4 * (1 + right[i]));
    for (int64_t b = 0; b < batch; b++)
        assert_int_equal(any[b], right[b * n->outputs] > 0);
    spry_ready_free(r);
    sp_free(x);
    sp_free(y);
    sp_free(any);
}

static void ways_are_right(void **state)
{
    enum { BATCH = 300 };
    spry_network *n;
    spry_matrix *few, *rows;
    double *right;
    int active = 0;

    (void)state;
    check_ok(spry_network_read(&n, "gen:radix,depth=30", NULL));
    check_ok(spry_inputs_strokes(&few, 77, 1024, 3));
    check_ok(spry_inputs_repeat(&rows, few, BATCH));
    assert_int_equal(rows->rows, BATCH);
    right = sp_alloc(BATCH * n->outputs, sizeof *right);
    {
        float *x = sp_alloc(BATCH * n->inputs, sizeof *x);

        check_ok(spry_inputs_dense(x, rows, 0, BATCH, n->inputs));
        check_ok(spry_network_reference(right, n, x, BATCH));
        assert_memory_equal(x, x + 77 * 1024, 1024 * sizeof *x);
        sp_free(x);
    }
    for (int b = 0; b < BATCH; b++)
        active += right[b * n->outputs] > 31;
    assert_in_range(active, 1, BATCH - 1);
    for (int i = 0; i < WAYS; i++)
        check_way(n, rows, right, ways[i]);
    sp_free(right);
    spry_matrix_free(few);
    spry_matrix_free(rows);
    spry_network_free(n);
}

/* ---- choosing ---- */

static spry_choice *choose(const spry_network *n, const char *store,
                           int64_t batch, int lookup)
{
    spry_choose_options o = SPRY_CHOOSE_DEFAULTS;
    spry_choice *c = malloc(sizeof *c);

    o.batch = batch;
    o.seconds = 0.2;
    o.store = store;
    o.lookup = lookup;
    o.threads = 1;
    check_ok(spry_network_choose(c, n, &o));
    return c;
}

static void choices_are_remembered(void **state)
{
    char dir[TEST_FOLDER], store[TEST_FOLDER + 32], command[TEST_FOLDER + 16];
    char a[SPRY_WAY_TEXT], b[SPRY_WAY_TEXT];
    spry_network *n;
    spry_choice *first, *again, *other;

    (void)state;
    assert_non_null(make_folder(dir));
    snprintf(store, sizeof store, "%s/records.db", dir);
    check_ok(spry_network_read(&n, "gen:mixed", NULL));
    first = choose(n, store, 5, 0);
    assert_true(first->trials > 3 && !first->looked_up && first->measured);
    for (int i = 0; i < first->trials; i++) {
        assert_int_equal(first->trial[i].verdict, SPRY_VERDICT_OK);
        assert_true(first->trial[i].seconds > 0);
    }
    assert_true(!first->changed || first->low > 1.02);
    again = choose(n, store, 5, 0);
    assert_true(again->looked_up && again->trials == 0);
    assert_string_equal(spry_way_text(a, &first->best),
                        spry_way_text(b, &again->best));
    other = choose(n, store, 6, 1); /* another batch: not known */
    assert_true(!other->looked_up && !other->measured);
    free(first);
    free(again);
    free(other);
    spry_network_free(n);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* Any network: with skips, without edges, of one layer. */
static void every_network_has_a_way(void **state)
{
    static const char *const specs[] = {
        "gen:skip,width=20,depth=6,degree=5", "gen:random,width=7,density=0",
        "gen:pruned,widths=5x4,sparsity=0,activation=sigmoid"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        spry_network *n;
        spry_choice *c;
        spry_ready *r;

        check_ok(spry_network_read(&n, specs[i], NULL));
        c = choose(n, ":memory:", 3, i == 1);
        check_ok(spry_ready_make(&r, n, &c->best));
        spry_ready_free(r);
        free(c);
        spry_network_free(n);
    }
}

/* Given ways are raced in their order, the wrong number of them is refused. */
static void given_ways_are_raced(void **state)
{
    spry_network *n;
    spry_choice *c = calloc(1, sizeof *c);
    spry_choose_options o = SPRY_CHOOSE_DEFAULTS;
    spry_way w[SPRY_WAYS_MOST + 1];
    char text[SPRY_WAY_TEXT];

    (void)state;
    check_ok(spry_network_read(&n, "gen:skip,width=20,depth=6,degree=5", NULL));
    for (int i = 0; i < WAYS; i++)
        check_ok(spry_way_parse(&w[i], ways[i]));
    o.batch = 5;
    o.seconds = 0.2;
    assert_int_equal(spry_ways_race(c, n, w, WAYS, &o), SPRY_USAGE);
    check_ok(spry_ways_race(c, n, w, 2, &o));
    assert_int_equal(c->trials, 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(spry_way_text(text, &c->trial[i].way), ways[i]);
        assert_int_equal(c->trial[i].verdict, SPRY_VERDICT_OK);
        assert_true(c->trial[i].seconds > 0 && c->trial[i].pairs > 0);
    }
    assert_int_equal(spry_ways_race(c, n, w, 0, &o), SPRY_USAGE);
    assert_int_equal(spry_ways_race(c, n, w, SPRY_WAYS_MOST + 1, &o),
                     SPRY_USAGE);
    free(c);
    spry_network_free(n);
}

static void bad_options_are_refused(void **state)
{
    spry_choose_options o = SPRY_CHOOSE_DEFAULTS;
    spry_network *n;
    spry_choice *c = malloc(sizeof *c);

    (void)state;
    check_ok(spry_network_read(&n, "gen:random,width=7,density=1", NULL));
    o.batch = 0;
    assert_int_equal(spry_network_choose(c, n, &o), SPRY_USAGE);
    o.batch = 1;
    o.passes = "magic";
    assert_int_equal(spry_network_choose(c, n, &o), SPRY_USAGE);
    spry_network_free(n);
    free(c);
}

static void short_memory_is_survived(void **state)
{
    spry_network *n;
    spry_way w;
    int64_t before;

    (void)state;
    check_ok(spry_network_read(&n, "gen:mixed,radices=3x4,copies=4", NULL));
    check_ok(spry_way_parse(&w, "passes=all plain threads=1"));
    before = sp_alloc_live();
    for (int64_t k = 1;; k++) {
        float x[3 * 48] = {0}, y[3 * 48];
        spry_ready *r;
        spry_status s;

        sp_alloc_refuse(k, 0);
        s = spry_ready_make(&r, n, &w);
        if (s == SPRY_OK)
            s = spry_ready_run(r, y, x, 3);
        sp_alloc_refuse(0, 0);
        spry_ready_free(r);
        assert_int_equal(sp_alloc_live(), before);
        if (s == SPRY_OK)
            break;
        assert_int_equal(s, SPRY_SYSTEM);
    }
    spry_network_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_have_a_text),
        cmocka_unit_test(ways_are_right),
        cmocka_unit_test(choices_are_remembered),
        cmocka_unit_test(every_network_has_a_way),
        cmocka_unit_test(given_ways_are_raced),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
