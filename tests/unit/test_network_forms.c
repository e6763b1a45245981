/* test_network_forms.c - every form of running a network computes what the
 * reference does. */
#include "network_forms.h"

#include <string.h>

#include "machine/isa.h"

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
    for (int isa = 0; isa < sp_isa_count; isa++) {
        sp_form_options limit = {.limited = 1, .isa = (spry_isa)isa};

        k = sp_net_kernels_of((spry_isa)isa);
        if (k && sp_isa_runs_here((spry_isa)isa))
            assert_ptr_equal(sp_net_kernels_for(&limit), k);
    }
    assert_true(built > 0 || sp_net_kernels_of(sp_isa_here()));
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
        cmocka_unit_test(kernels_of_every_set_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
