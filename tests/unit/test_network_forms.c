/* test_network_forms.c - every form of running a network computes what the
 * reference does. */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/base.h"
#include "form/internal.h"
#include "machine/isa.h"
#include "network_bound.h"

/* Every curve, odd widths, edges that skip layers, neurons without edges,
 * outputs that share sources. */
static const char *const specs[] = {
    "gen:radix,depth=7",
    "gen:mixed,radices=2x3x4,copies=1x2x3x4,activation=linear",
    "gen:mixed,radices=2x3x6x2,classes=6,copies=2,activation=clamp,limit=2",
    "gen:random,width=61,depth=5,density=0.2",
    "gen:random,width=61,depth=5,density=0.2,bias=-0.2,activation=clamp",
    "gen:random,width=7,density=0,bias=1",
    "gen:random,width=7,density=1,activation=tanh",
    "gen:pruned,widths=40x31x20x10,sparsity=0.8,bias=-0.1",
    "gen:pruned,widths=5x1,sparsity=0,activation=sigmoid",
    "gen:smallworld,width=50,degree=6,activation=linear,bias=0.5",
    "gen:skip,width=20,depth=6,degree=5",
    "gen:skip,width=33,depth=9,degree=7,activation=tanh,bias=0.1",
};
enum { SPECS = sizeof specs / sizeof *specs };

static const char *const forms[] = {
    "edges",
    "edges order=blocked",
    "gather threads=1",
    "gather threads=2",
    "rows threads=1",
    "rows tile=8 threads=3",
    "rows tile=16 threads=1",
    "rows tile=32 threads=2",
    "rows tile=64 threads=1",
    "plain threads=1",
    "plain threads=2",
};
enum { WAYS = sizeof forms / sizeof *forms };

static const int64_t batches[] = {0, 1, 2, 7, 64, 131};
enum { BATCHES = sizeof batches / sizeof *batches, MOST = 131 };

static spry_network *read_net(const char *path)
{
    spry_network *n;

    check_ok(spry_network_read(&n, path, NULL));
    return n;
}

static sp_runner *make_runner(const spry_network *n, const char *text)
{
    sp_form_options f;
    sp_runner *r;

    check_ok(sp_form_parse(&f, text));
    check_ok(sp_runner_make(&r, n, &f));
    return r;
}

/* A third of the values, whole numbers if so wished; some inputs are all
 * zeros. */
static float *some_inputs(const spry_network *n, int64_t batch, int whole)
{
    float *x = sp_alloc(batch * n->inputs, sizeof *x);
    sp_rng r = sp_rng_seed(7);

    for (int64_t i = 0; i < batch * n->inputs; i++)
        if (sp_rng_below(&r, 3) == 0 && i / n->inputs % 5 != 3)
            x[i] = whole ? (float)sp_rng_below(&r, 4) : (float)sp_rng_unit(&r);
    return x;
}

/* Without bounds they must be equal. */
static void compare(const float *y, const double *right, int64_t count,
                    const double *bound)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)y[i] - right[i]) <= (bound ? bound[i] : 0)))
            fail_msg("output %lld is %.9g, not %.9g", (long long)i,
                     (double)y[i], right[i]);
}

/* Results behind the last stay as they were. */
static void check_run(const sp_runner *r, const spry_network *n, const float *x,
                      const double *right, int64_t batch, const double *bound)
{
    float *y = sp_alloc(batch * n->outputs + 1, sizeof *y);

    for (int64_t i = 0; i <= batch * n->outputs; i++)
        y[i] = -12345;
    check_ok(sp_runner_run(r, y, x, batch));
    compare(y, right, batch * n->outputs, bound);
    assert_true(y[batch * n->outputs] == -12345);
    sp_free(y);
}

static void check_network(const spry_network *n, int whole)
{
    float *x = some_inputs(n, MOST, whole);
    double *right = sp_alloc(MOST * n->outputs, sizeof *right);
    double *bound = whole ? NULL : network_bound(n, x, MOST);

    check_ok(spry_network_reference(right, n, x, MOST));
    for (int w = 0; w < WAYS; w++) {
        sp_runner *r = make_runner(n, forms[w]);

        for (int b = 0; b < BATCHES; b++)
            check_run(r, n, x, right, batches[b], bound);
        sp_runner_free(r);
    }
    sp_free(x);
    sp_free(right);
    sp_free(bound);
}

static void forms_agree_with_the_reference(void **state)
{
    (void)state;
    for (int i = 0; i < SPECS; i++) {
        spry_network *n = read_net(specs[i]);

        check_network(n, 0);
        spry_network_free(n);
    }
}

/* The same network with whole weights and biases, in [-2, 2]: sums are exact
 * in any order. */
static spry_network *whole_numbers(const spry_network *n)
{
    spry_network parts = *n, *out;
    float *weight = sp_alloc(n->edges, sizeof *weight);
    float *bias = sp_alloc(n->neurons, sizeof *bias);
    sp_rng r = sp_rng_seed(3);

    for (int64_t k = 0; k < n->edges; k++)
        weight[k] = (float)sp_rng_below(&r, 5) - 2;
    for (int64_t v = n->inputs; v < n->neurons; v++)
        bias[v] = (float)sp_rng_below(&r, 3) - 1;
    parts.weight = weight;
    parts.bias = bias;
    check_ok(spry_network_make(&out, &parts));
    sp_free(weight);
    sp_free(bias);
    return out;
}

static void whole_numbers_are_exact(void **state)
{
    (void)state;
    for (int i = 0; i < SPECS; i++) {
        spry_network *n = read_net(specs[i]), *whole;

        if (n->activation[0].curve != SPRY_TANH &&
            n->activation[0].curve != SPRY_SIGMOID && n->layers <= 6) {
            whole = whole_numbers(n);
            check_network(whole, 1);
            spry_network_free(whole);
        }
        spry_network_free(n);
    }
}

/* Biases on sums that are not 0 only, of both signs. */
static void challenge_biases(void **state)
{
    spry_network *n = read_net("gen:random,width=40,depth=6,density=0.1");
    spry_network parts = *n, *m;
    float *bias = sp_alloc(n->neurons, sizeof *bias);

    (void)state;
    for (int64_t v = n->inputs; v < n->neurons; v++)
        bias[v] = v % 3 ? -0.1F : 0.2F;
    parts.bias = bias;
    parts.bias_on_nonzero = 1;
    check_ok(spry_network_make(&m, &parts));
    check_network(m, 0);
    spry_network_free(m);
    spry_network_free(n);
    sp_free(bias);
}

/* Outputs in any order, one of them twice, one from the middle, one an
 * input. */
static void outputs_may_be_any_neurons(void **state)
{
    static const int32_t output[] = {150, 30, 200, 3, 150, 59, 299};
    spry_network *n = read_net("gen:random,width=50,depth=5,density=0.2");
    spry_network parts = *n, *m;

    (void)state;
    parts.output = output;
    parts.outputs = sizeof output / sizeof *output;
    check_ok(spry_network_make(&m, &parts));
    check_network(m, 0);
    spry_network_free(m);
    spry_network_free(n);
}

/* Sources more than 2^16 slots apart. */
static void wide_layers(void **state)
{
    spry_network *n = read_net("gen:smallworld,width=70000,depth=2,degree=3,"
                               "rewire=0.5");
    float *x = some_inputs(n, 9, 0);
    double *right = sp_alloc(9 * n->outputs, sizeof *right);
    double *bound = network_bound(n, x, 9);

    (void)state;
    check_ok(spry_network_reference(right, n, x, 9));
    for (int w = 2; w < WAYS; w++) {
        sp_runner *r = make_runner(n, forms[w]);

        check_run(r, n, x, right, 9, bound);
        check_run(r, n, x, right, 1, bound);
        sp_runner_free(r);
    }
    sp_free(x);
    sp_free(right);
    sp_free(bound);
    spry_network_free(n);
}

/* An infinite input reaches no output that it has no path to. */
static void infinities_stay_where_they_are(void **state)
{
    spry_network *n =
        read_net("gen:random,width=30,depth=2,density=0.05,activation=linear");
    float *x = some_inputs(n, 20, 0), *y = sp_alloc(20 * 30, sizeof *y);
    double *right = sp_alloc(20 * 30, sizeof *right);

    (void)state;
    x[7] = INFINITY;
    x[33] = -INFINITY;
    check_ok(spry_network_reference(right, n, x, 20));
    for (int w = 0; w < WAYS; w++) {
        sp_runner *r = make_runner(n, forms[w]);

        check_ok(sp_runner_run(r, y, x, 20));
        for (int i = 0; i < 20 * 30; i++)
            assert_int_equal(isfinite(y[i]) != 0, isfinite(right[i]) != 0);
        sp_runner_free(r);
    }
    sp_free(x);
    sp_free(y);
    sp_free(right);
    spry_network_free(n);
}

/* NaN among the inputs: which outputs have a path from it. */
static void mark_paths(uint8_t *reached, const spry_network *n, const float *x)
{
    for (int64_t v = 0; v < n->neurons; v++) {
        reached[v] = v < n->inputs && isnan(x[v]);
        for (int64_t k = n->start[v]; k < n->start[v + 1]; k++)
            reached[v] |= reached[n->source[k]];
    }
}

/* The reference has NaN where a path leads, and nowhere else. */
static void check_paths(const spry_network *n, const float *x,
                        const double *right, int64_t batch)
{
    uint8_t *reached = sp_alloc(n->neurons, 1);

    for (int64_t b = 0; b < batch; b++) {
        mark_paths(reached, n, x + b * n->inputs);
        for (int64_t i = 0; i < n->outputs; i++)
            assert_int_equal(isnan(right[b * n->outputs + i]) != 0,
                             reached[n->output[i]]);
    }
    sp_free(reached);
}

static void check_nan(const spry_network *n, const float *x,
                      const double *right, int64_t batch)
{
    float *y = sp_alloc(batch * n->outputs, sizeof *y);

    for (int w = 0; w < WAYS; w++) {
        sp_runner *r = make_runner(n, forms[w]);

        check_ok(sp_runner_run(r, y, x, batch));
        for (int64_t i = 0; i < batch * n->outputs; i++)
            assert_int_equal(isnan(y[i]) != 0, isnan(right[i]) != 0);
        sp_runner_free(r);
    }
    sp_free(y);
}

/* Layers one at a time, too. */
static void check_nan_streamed(const spry_network *n, const float *x,
                               const double *right, int64_t batch)
{
    float *y = sp_alloc(batch * n->outputs, sizeof *y);
    spry_layers *layers;

    check_ok(spry_layers_of(&layers, n));
    check_ok(spry_layers_run(y, layers, x, batch));
    for (int64_t i = 0; i < batch * n->outputs; i++)
        assert_int_equal(isnan(y[i]) != 0, isnan(right[i]) != 0);
    spry_layers_close(layers);
    sp_free(y);
}

static void nan_in_all_networks(void)
{
    enum { BATCH = 37 };

    for (int i = 0; i < SPECS; i++) {
        spry_network *n = read_net(specs[i]);
        float *x = some_inputs(n, BATCH, 0);
        double *right = sp_alloc(BATCH * n->outputs, sizeof *right);

        for (int64_t b = 0; b < BATCH; b += 3)
            x[b * n->inputs + b % n->inputs] = b % 2 ? NAN : -NAN;
        check_ok(spry_network_reference(right, n, x, BATCH));
        check_paths(n, x, right, BATCH);
        check_nan(n, x, right, BATCH);
        if (n->chained)
            check_nan_streamed(n, x, right, BATCH);
        sp_free(x);
        sp_free(right);
        spry_network_free(n);
    }
}

/* Every neuron that a NaN leads to is NaN, whatever its curve, and no other;
 * with the loops of every instruction set that runs here. */
static void nan_goes_along_all_paths(void **state)
{
    (void)state;
    for (int isa = 0; isa < sp_isa_count; isa++) {
        const sp_net_kernels *k = sp_net_kernels_of((spry_isa)isa);

        if (!k || !sp_isa_runs_here((spry_isa)isa))
            continue;
        sp_net_kernels_force(k);
        nan_in_all_networks();
    }
    sp_net_kernels_force(NULL);
}

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

/* ---- kernels ---- */

/* The loops that this CPU would not choose are right as well. */
static void kernels_of_every_set_agree(void **state)
{
    const sp_net_kernels *here = sp_net_kernels_here(), *k;
    int built = 0;

    (void)state;
    for (int isa = 0; isa < sp_isa_count; isa++) {
        k = sp_net_kernels_of((spry_isa)isa);
        if (!k || k == here || !sp_isa_runs_here((spry_isa)isa))
            continue;
        sp_net_kernels_force(k);
        for (int i = 0; i < SPECS; i += 2) {
            spry_network *n = read_net(specs[i]);

            check_network(n, 0);
            spry_network_free(n);
        }
        built++;
    }
    sp_net_kernels_force(NULL);
    assert_true(built > 0 || sp_net_kernels_of(sp_isa_here()));
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
        cmocka_unit_test(forms_agree_with_the_reference),
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(challenge_biases),
        cmocka_unit_test(outputs_may_be_any_neurons),
        cmocka_unit_test(wide_layers),
        cmocka_unit_test(infinities_stay_where_they_are),
        cmocka_unit_test(nan_goes_along_all_paths),
        cmocka_unit_test(categories_are_those_of_outputs),
        cmocka_unit_test(categories_refuse_what_does_not_fit),
        cmocka_unit_test(forms_are_listed),
        cmocka_unit_test(text_goes_round),
        cmocka_unit_test(bad_forms_are_refused),
        cmocka_unit_test(open_parameters_are_filled_in),
        cmocka_unit_test(kernels_of_every_set_agree),
        cmocka_unit_test(threads_share_a_runner),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
