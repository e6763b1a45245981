/* test_network_runners.c - runners of networks: categories, text, many threads,
 * little memory. */
#include "network_forms.h"

#include <pthread.h>
#include <string.h>

/* ---- categories ---- */

/* Deep enough that most inputs have died: tiles wait for others to be joined with. */
static void categories_are_those_of_outputs(void **state)
{
    spry_network *n = read_net("gen:radix,depth=40");
    spry_matrix *m;
    enum { COUNT = 600 };
    float *x = sp_alloc(COUNT * n->inputs, sizeof *x);
    double *right = sp_alloc(COUNT * n->outputs, sizeof *right);
    double *bound = sp_alloc(COUNT * n->outputs, sizeof *bound);
    uint8_t any[COUNT];
    int64_t alive = 0;

    (void)state;
    check_ok(spry_inputs_strokes(&m, COUNT + 2, n->inputs, 1));
    check_ok(spry_inputs_dense(x, m, 2, COUNT, n->inputs));
    check_ok(spry_network_reference(right, n, x, COUNT));
    for (int64_t i = 0; i < COUNT * n->outputs; i++)
        bound[i] = 1e-3 * (1 + right[i]); /* so deep, a true one says little */
    for (int w = 1; w < WAYS; w++) {
        sp_runner *r = make_runner(n, forms[w]);

        memset(any, 7, sizeof any);
        check_ok(sp_runner_categories(r, any, m, 2, COUNT));
        for (int64_t i = 0; i < COUNT; i++) {
            int expected = 0;

            for (int64_t j = 0; j < n->outputs; j++)
                expected |= right[i * n->outputs + j] != 0;
            assert_int_equal(any[i], expected);
            alive += expected;
        }
        check_run(r, n, x, right, COUNT, bound);
        sp_runner_free(r);
    }
    assert_true(alive > 0 && alive < (int64_t)(WAYS - 1) * COUNT);
    sp_free(x);
    sp_free(right);
    sp_free(bound);
    spry_matrix_free(m);
    spry_network_free(n);
}

static void categories_refuse_what_does_not_fit(void **state)
{
    spry_network *n = read_net("gen:random,width=64,depth=2");
    sp_runner *r = make_runner(n, "rows");
    spry_matrix *m;
    uint8_t any[8];

    (void)state;
    check_ok(spry_inputs_strokes(&m, 8, 64, 1));
    check_ok(sp_runner_categories(r, any, m, 8, 0));
    assert_int_equal(sp_runner_categories(r, any, m, 5, 4), SPRY_USAGE);
    assert_int_equal(sp_runner_categories(r, any, m, -1, 1), SPRY_USAGE);
    spry_matrix_free(m);
    check_ok(spry_inputs_strokes(&m, 8, 256, 1));
    assert_int_equal(sp_runner_categories(r, any, m, 0, 1), SPRY_USAGE);
    spry_matrix_free(m);
    sp_runner_free(r);
    spry_network_free(n);
}

/* ---- text ---- */

static void forms_are_listed(void **state)
{
    sp_form_options f;

    (void)state;
    for (int i = 0; spry_form_name(i); i++) {
        assert_true(strlen(spry_form_help(i)) > 0);
        check_ok(sp_form_parse(&f, spry_form_name(i)));
        assert_string_equal(f.name, spry_form_name(i));
    }
    assert_null(spry_form_name(-1));
    assert_null(spry_form_help(99));
}

static void text_goes_round(void **state)
{
    char text[SP_FORM_TEXT];
    sp_form_options f;

    (void)state;
    for (int w = 0; w < WAYS; w++) {
        check_ok(sp_form_parse(&f, forms[w]));
        sp_form_text(text, &f);
        assert_string_equal(text, forms[w]);
    }
    check_ok(sp_form_parse(&f, "rows   threads=2 tile=16 "));
    sp_form_text(text, &f);
    assert_string_equal(text, "rows tile=16 threads=2");
}

static void bad_forms_are_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "row",
                                      "rows tile=12",
                                      "rows tile=",
                                      "rows 8",
                                      "rows tile=-8",
                                      "gather tile=8",
                                      "rows order=ego",
                                      "edges order=up",
                                      "gather threads=0",
                                      "gather threads=99999",
                                      "edges order=averylongnameofanorder"};
    sp_form_options f;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sp_form_parse(&f, bad[i]), SPRY_USAGE);
        assert_true(strlen(spry_message()) > 0);
    }
}

static void open_parameters_are_filled_in(void **state)
{
    spry_network *n = read_net("gen:random,width=20,depth=2");
    sp_form_options f = sp_form_for(n, 1);
    sp_runner *r;

    (void)state;
    assert_string_equal(f.name, "gather");
    f = sp_form_for(n, 64);
    check_ok(sp_runner_make(&r, n, &f));
    assert_string_equal(sp_runner_form(r)->name, "rows");
    assert_true(sp_runner_form(r)->tile > 0);
    assert_true(sp_runner_form(r)->threads > 0);
    sp_runner_free(r);
    f.tile = 9;
    assert_int_equal(sp_runner_make(&r, n, &f), SPRY_USAGE);
    assert_null(r);
    spry_network_free(n);
}

/* ---- many threads, little memory ---- */

typedef struct {
    const sp_runner *r;
    const spry_network *n;
    const float *x;
    const double *right, *bound;
} shared_run;

static void *run_shared(void *arg)
{
    const shared_run *s = arg;

    for (int i = 0; i < 20; i++)
        check_run(s->r, s->n, s->x, s->right, i % 2 ? 1 : 40, s->bound);
    return NULL;
}

static void threads_share_a_runner(void **state)
{
    spry_network *n = read_net("gen:random,width=64,depth=8,density=0.1");
    float *x = some_inputs(n, 40, 0);
    double *right = sp_alloc(40 * n->outputs, sizeof *right);
    double *bound = network_bound(n, x, 40);

    (void)state;
    check_ok(spry_network_reference(right, n, x, 40));
    for (int w = 0; w < WAYS; w++) {
        sp_runner *r = make_runner(n, forms[w]);
        shared_run s = {r, n, x, right, bound};
        pthread_t other;

        assert_int_equal(pthread_create(&other, NULL, run_shared, &s), 0);
        run_shared(&s);
        pthread_join(other, NULL);
        sp_runner_free(r);
    }
    sp_free(x);
    sp_free(right);
    sp_free(bound);
    spry_network_free(n);
}

/* Refuse the first allocation, the second... until all goes well. */
static void short_memory_is_survived(void **state)
{
    spry_network *n = read_net("gen:skip,width=20,depth=6,degree=5");
    float *x = some_inputs(n, 20, 0), y[20 * 20];

    (void)state;
    assert_true(n->outputs <= 20);
    for (int w = 0; w < WAYS; w++) {
        int64_t live = sp_alloc_live();
        spry_status s = SPRY_SYSTEM;
        sp_form_options f;

        check_ok(sp_form_parse(&f, forms[w]));
        if (strcmp(f.name, "rows") == 0)
            f.threads = 1;
        for (int64_t i = 1; s != SPRY_OK; i++) {
            sp_runner *r;

            sp_alloc_refuse(i, 0);
            s = sp_runner_make(&r, n, &f);
            if (s == SPRY_OK)
                s = sp_runner_run(r, y, x, f.threads == 2 ? 1 : 20);
            sp_alloc_refuse(0, 0);
            assert_true(s == SPRY_OK || s == SPRY_SYSTEM);
            sp_runner_free(r);
            assert_int_equal(sp_alloc_live(), live);
        }
    }
    sp_free(x);
    spry_network_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories_are_those_of_outputs),
        cmocka_unit_test(categories_refuse_what_does_not_fit),
        cmocka_unit_test(forms_are_listed),
        cmocka_unit_test(text_goes_round),
        cmocka_unit_test(bad_forms_are_refused),
        cmocka_unit_test(open_parameters_are_filled_in),
        cmocka_unit_test(threads_share_a_runner),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
