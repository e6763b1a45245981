/* test_network.c - networks: their invariants, generators, references. */
#include "network_specs.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "form/form.h"
#include "matrix/matrix.h"
#include "network/internal.h"
#include "spry.h"

/* Orders that improve for a time shall not take it here. */
static const spry_order_options few_moves = {.size = sizeof few_moves,
                                             .window = 5,
                                             .memory = 128,
                                             .seed = 1,
                                             .moves = 100};

static float *some_inputs(const spry_network *n, int64_t batch)
{
    float *x = sp_alloc(batch * n->inputs, sizeof *x);
    sp_rng r = sp_rng_seed(7);

    for (int64_t i = 0; i < batch * n->inputs; i++)
        x[i] = sp_rng_below(&r, 3) ? 0 : (float)sp_rng_unit(&r);
    return x;
}

/* ---- making by hand ---- */

/* Two inputs, a hidden neuron, and an output that also sees input 1. */
static const int64_t hand_first[] = {2, 3, 4}, hand_start[] = {0, 0, 0, 2, 4};
static const int32_t hand_source[] = {0, 1, 1, 2}, hand_output[] = {3};
static const float hand_weight[] = {1, -2, 3, 4}, hand_bias[] = {0, 0, 1, -1};
static const spry_activation hand_activation[] = {{SPRY_RELU, 0},
                                                  {SPRY_CLAMP, 10}};

static spry_network by_hand(void)
{
    return (spry_network){.neurons = 4,
                          .inputs = 2,
                          .outputs = 1,
                          .layers = 2,
                          .edges = 4,
                          .first = hand_first,
                          .start = hand_start,
                          .source = hand_source,
                          .weight = hand_weight,
                          .bias = hand_bias,
                          .activation = hand_activation,
                          .output = hand_output};
}

static void reference_by_hand(void **state)
{
    static const float x[] = {1, 0.5f, 0, 0, 0, 1, 9, 0};
    spry_network parts = by_hand(), *n;
    double y[4];

    (void)state;
    check_ok(spry_network_make(&n, &parts));
    assert_int_equal(n->chained, 0);
    check_ok(spry_network_reference(y, n, x, 4));
    assert_float_equal(y[0], 4.5, 1e-12); /* 4 relu(1-1+1) + 1.5 - 1 */
    assert_float_equal(y[1], 3, 1e-12);   /* 4 relu(1) - 1 */
    assert_float_equal(y[2], 2, 1e-12);   /* 3 - 1 */
    assert_float_equal(y[3], 10, 1e-12);  /* clamped */
    spry_network_free(n);
    parts.bias_on_nonzero = 1;
    check_ok(spry_network_make(&n, &parts));
    check_ok(spry_network_reference(y, n, x, 4));
    assert_float_equal(y[0], 0.5, 1e-12); /* 1 - 1 = 0 gets no bias */
    assert_float_equal(y[1], 0, 1e-12);
    spry_network_free(n);
}

static void broken_parts_are_refused(void **state)
{
    static const int32_t same_layer[] = {0, 1, 1, 3}, repeated[] = {1, 1, 1, 2};
    static const int32_t nowhere[] = {4};
    static const float not_a_number[] = {1, NAN, 3, 4},
                       input_bias[] = {1, 0, 0, 0};
    static const int64_t no_layer[] = {2, 4, 4}, falling[] = {0, 0, 0, 5, 4};
    spry_network good = by_hand(), bad[8], *n;

    (void)state;
    for (int i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].source = same_layer;
    bad[1].source = repeated;
    bad[2].output = nowhere;
    bad[3].weight = not_a_number;
    bad[4].bias = input_bias;
    bad[5].first = no_layer;
    bad[6].start = falling;
    bad[7].neurons = 5;
    bad[7].edges = 0;
    for (int i = 0; i < 8; i++) {
        if (i == 7)
            bad[7].neurons = 0;
        assert_int_not_equal(spry_network_make(&n, &bad[i]), SPRY_OK);
        assert_null(n);
    }
}

/* ---- every way to run agrees with the reference ---- */

static void check_near(const float *y, const double *right, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        assert_true(fabs((double)y[i] - right[i]) <=
                    1e-4 * (1 + fabs(right[i])));
}

static void check_orders(const spry_network *n, const float *x,
                         const double *right, int64_t batch)
{
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    float *y = sp_alloc(batch * n->outputs, sizeof *y);

    for (int i = 0; spry_order_name(i); i++) {
        sp_runner *s;

        check_ok(spry_order_make(edge, n, spry_order_name(i), &few_moves));
        check_ok(sp_runner_ordered(&s, n, edge));
        check_ok(sp_runner_run(s, y, x, 1));
        check_near(y, right, n->outputs);
        check_ok(sp_runner_run(s, y, x, batch));
        check_near(y, right, batch * n->outputs);
        sp_runner_free(s);
    }
    sp_free(edge);
    sp_free(y);
}

static void streams_agree_with_the_reference(void **state)
{
    enum { BATCH = 37 };

    (void)state;
    for (int i = 0; i < SPECS; i++) {
        spry_network *n = read_net(specs[i]);
        float *x = some_inputs(n, BATCH);
        double *right = sp_alloc(BATCH * n->outputs, sizeof *right);

        check_ok(spry_network_reference(right, n, x, BATCH));
        check_orders(n, x, right, BATCH);
        sp_free(x);
        sp_free(right);
        spry_network_free(n);
    }
}

static void layers_agree_with_the_reference(void **state)
{
    enum { BATCH = 37 };

    (void)state;
    for (int i = 0; i < SPECS; i++) {
        spry_network *n = read_net(specs[i]);
        float *x = some_inputs(n, BATCH);
        double *right = sp_alloc(BATCH * n->outputs, sizeof *right);
        float *y = sp_alloc(BATCH * n->outputs, sizeof *y);
        spry_layers *s;
        spry_status status = spry_layers_open(&s, specs[i], NULL);

        assert_int_equal(status, n->chained ? SPRY_OK : SPRY_USAGE);
        if (status == SPRY_OK) {
            check_ok(spry_network_reference(right, n, x, BATCH));
            check_ok(spry_layers_run(y, s, x, BATCH));
            check_near(y, right, BATCH * n->outputs);
        }
        spry_layers_close(s);
        sp_free(x);
        sp_free(y);
        sp_free(right);
        spry_network_free(n);
    }
}

/* ---- orders ---- */

static void wrong_orders_are_seen(void **state)
{
    static const int32_t early[] = {3, 0, 1, 2}, twice[] = {0, 1, 2, 2},
                         beyond[] = {0, 1, 2, 4}, late[] = {2, 1, 0, 3};
    spry_network parts = by_hand(), *n;
    sp_runner *s;

    (void)state;
    check_ok(spry_network_make(&n, &parts));
    check_ok(spry_order_check(late, n));
    assert_int_equal(spry_order_check(early, n), SPRY_WRONG);
    assert_int_equal(spry_order_check(twice, n), SPRY_WRONG);
    assert_int_equal(spry_order_check(beyond, n), SPRY_WRONG);
    assert_int_equal(sp_runner_ordered(&s, n, early), SPRY_WRONG);
    assert_null(s);
    assert_int_equal(spry_order_make((int32_t[4]){0}, n, "none", NULL),
                     SPRY_USAGE);
    spry_network_free(n);
}

/* Sources ascend within each block of a layer. */
static void blocks_stream_their_sources(void **state)
{
    spry_network *n = read_net("gen:random,width=64,depth=2,density=0.3");
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);
    spry_order_options o = SPRY_ORDER_DEFAULTS;
    int turns = 0, was = -1;

    (void)state;
    o.block = 16;
    check_ok(spry_order_make(edge, n, "blocked", &o));
    for (int64_t i = 1; i < n->edges; i++) {
        int32_t now = n->source[edge[i]], before = n->source[edge[i - 1]];

        if (now != before) {
            turns += (now > before) != (was > 0);
            was = now > before ? 1 : -1;
        }
    }
    /* Down and up in turn, 8 blocks; the layers' change may be one more. */
    assert_in_range(turns, 7, 9);
    sp_free(edge);
    spry_network_free(n);
}

/* ---- inputs ---- */

static void strokes_are_like_digits(void **state)
{
    spry_matrix *m, *large;
    float *x;

    (void)state;
    check_ok(spry_inputs_strokes(&m, 1000, 1024, 3));
    assert_in_range(m->nnz, 100 * 1000, 112 * 1000);
    check_ok(spry_inputs_enlarge(&large, m, 4096));
    assert_int_equal(large->nnz, 4 * m->nnz);
    assert_int_equal(large->cols, 4096);
    x = sp_alloc(2 * 4096, sizeof *x);
    check_ok(spry_inputs_dense(x, large, 998, 2, 4096));
    assert_int_equal(spry_inputs_dense(x, large, 999, 2, 4096), SPRY_USAGE);
    assert_int_equal(spry_inputs_dense(x, large, 0, 1, 1024), SPRY_USAGE);
    for (int64_t k = m->start[998]; k < m->start[999]; k++) {
        int64_t p = sp_col(m, k), at;

        at = p / 32 * 2 * 64 + p % 32 * 2;
        assert_true(x[at] == 1 && x[at + 1] == 1 && x[at + 64] == 1 &&
                    x[at + 65] == 1);
    }
    sp_free(x);
    spry_matrix_free(m);
    spry_matrix_free(large);
    assert_int_equal(spry_inputs_strokes(&m, 10, 1000, 3), SPRY_USAGE);
}

/* ---- memory ---- */

/* Refuse every allocation in turn: a failure, a sentence, nothing left. */
static void short_memory_is_survived(void **state)
{
    int64_t before = sp_alloc_live();

    (void)state;
    for (int i = 0; i < SPECS; i++)
        for (int64_t n = 1;; n++) {
            spry_network *net;
            spry_status s;

            sp_alloc_refuse(n, 0);
            s = spry_network_read(&net, specs[i], NULL);
            sp_alloc_refuse(0, 0);
            if (s == SPRY_OK) {
                spry_network_free(net);
                break;
            }
            assert_int_equal(s, SPRY_SYSTEM);
            assert_null(net);
            assert_int_equal(sp_alloc_live(), before);
        }
}

static void streams_survive_short_memory(void **state)
{
    spry_network *net = read_net("gen:skip,width=20,depth=3,degree=5");
    int32_t *edge = sp_alloc(net->edges, sizeof *edge);
    int64_t before = sp_alloc_live();

    (void)state;
    for (int i = 0; spry_order_name(i); i++)
        for (int64_t n = 1;; n++) {
            sp_runner *stream = NULL;
            spry_status s;

            sp_alloc_refuse(n, 0);
            s = spry_order_make(edge, net, spry_order_name(i), &few_moves);
            if (s == SPRY_OK)
                s = sp_runner_ordered(&stream, net, edge);
            sp_alloc_refuse(0, 0);
            sp_runner_free(stream);
            assert_int_equal(sp_alloc_live(), before);
            if (s == SPRY_OK)
                break;
            assert_int_equal(s, SPRY_SYSTEM);
        }
    sp_free(edge);
    spry_network_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_by_hand),
        cmocka_unit_test(broken_parts_are_refused),
        cmocka_unit_test(streams_agree_with_the_reference),
        cmocka_unit_test(layers_agree_with_the_reference),
        cmocka_unit_test(wrong_orders_are_seen),
        cmocka_unit_test(blocks_stream_their_sources),
        cmocka_unit_test(strokes_are_like_digits),
        cmocka_unit_test(short_memory_is_survived),
        cmocka_unit_test(streams_survive_short_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
