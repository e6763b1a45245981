/* test_network_graph.c - passes over networks: the same outputs, fewer edges.
 *
 * Networks with small integers as weights, biases and inputs have exact sums
 * in every order: there the outputs must be equal bit for bit. */
#include "check.h"
#include "whole_network.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "network/internal.h"
#include "shrink/passes.h"

enum { BATCH = 9 };

static const char *const specs[] = {
    "gen:radix,depth=13",
    "gen:mixed,radices=2x3x4,copies=1x2x3x4",
    "gen:mixed,radices=3x4,copies=4,activation=clamp,limit=3,bias=-0.5",
    "gen:random,width=60,depth=5,density=0.2,bias=0.25",
    "gen:random,width=60,depth=5,density=0.02,bias=-0.25",
    "gen:random,width=7,density=0",
    "gen:pruned,widths=40x30x20x10,sparsity=0.8,activation=sigmoid,bias=1",
    "gen:smallworld,width=50,degree=6,activation=tanh",
    "gen:skip,width=20,depth=6,degree=5",
};
enum { SPECS = sizeof specs / sizeof *specs };

static unsigned bits(const char *passes)
{
    unsigned b;

    check_ok(spry_passes_parse(&b, passes));
    return b;
}

static spry_network *compiled(const spry_network *n, const char *passes,
                              spry_graph_report *r)
{
    spry_network *out;

    check_ok(spry_network_compile(&out, n, bits(passes), r));
    assert_int_equal(out->inputs, n->inputs);
    assert_int_equal(out->outputs, n->outputs);
    assert_true(out->edges <= n->edges);
    if (n->chained)
        assert_true(out->chained);
    return out;
}

/* ---- networks of small integers ---- */

static float *whole_inputs(const spry_network *n)
{
    float *x = sp_alloc(BATCH * n->inputs, sizeof *x);
    sp_rng r = sp_rng_seed(3);

    for (int64_t i = n->inputs; i < BATCH * n->inputs; i++)
        x[i] = (float)sp_rng_below(&r, 5) - 2;
    return x; /* the first input is 0 */
}

static void check_equal(const spry_network *a, const spry_network *b)
{
    float *x = whole_inputs(a);
    double *ya = sp_alloc(BATCH * a->outputs, sizeof *ya);
    double *yb = sp_alloc(BATCH * a->outputs, sizeof *yb);

    check_ok(spry_network_reference(ya, a, x, BATCH));
    check_ok(spry_network_reference(yb, b, x, BATCH));
    for (int64_t i = 0; i < BATCH * a->outputs; i++)
        assert_true(ya[i] >= yb[i] && ya[i] <= yb[i]);
    sp_free(x);
    sp_free(ya);
    sp_free(yb);
}

/* Each pass alone, all but one, and all. */
static void check_passes(const spry_network *n)
{
    static const char *const sets[] = {
        "none",       "factor",       "merge",        "inline",
        "dead",       "renumber",     "rest",         "all",
        "merge,dead", "factor,merge", "merge,inline", "factor,merge,inline"};

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        spry_network *out = compiled(n, sets[i], NULL);

        check_equal(n, out);
        spry_network_free(out);
    }
}

static void integers_are_equal_bit_for_bit(void **state)
{
    static const spry_activation curves[] = {
        {SPRY_RELU, 0}, {SPRY_CLAMP, 4}, {SPRY_LINEAR, 0}};

    (void)state;
    for (uint64_t seed = 0; seed < 240; seed++) {
        recipe c = {.width = 3 + (int64_t)(seed % 17),
                    .depth = 1 + (int64_t)(seed % 5),
                    .twins = 1 + (int)(seed % 4),
                    .skips = seed / 2 % 2 == 1,
                    .on_nonzero = seed / 4 % 2 == 1,
                    .activation = curves[seed / 8 % 3]};
        spry_network *n = integers(&c, seed);

        check_passes(n);
        spry_network_free(n);
    }
}

/* ---- real weights ---- */

static void reals_are_near(void **state)
{
    (void)state;
    for (int i = 0; i < SPECS; i++) {
        spry_network *n, *out;
        double *ya, *yb;
        float *x;

        check_ok(spry_network_read(&n, specs[i], NULL));
        out = compiled(n, "all", NULL);
        x = whole_inputs(n);
        ya = sp_alloc(BATCH * n->outputs, sizeof *ya);
        yb = sp_alloc(BATCH * n->outputs, sizeof *yb);
        check_ok(spry_network_reference(ya, n, x, BATCH));
        check_ok(spry_network_reference(yb, out, x, BATCH));
        for (int64_t k = 0; k < BATCH * n->outputs; k++)
            assert_true(fabs(ya[k] - yb[k]) <= 1e-12 * (1 + fabs(ya[k])));
        sp_free(x);
        sp_free(ya);
        sp_free(yb);
        spry_network_free(n);
        spry_network_free(out);
    }
}

/* Layers as they come, in three pieces, or from a network in memory. */
static void pieces_are_the_whole(void **state)
{
    spry_graph_report a = {.size = sizeof a}, b = {.size = sizeof b};
    spry_network *n, *whole, *pieces;
    spry_layers *s;

    (void)state;
    check_ok(spry_network_read(&n, "gen:radix,depth=80", NULL));
    check_ok(spry_layers_open(&s, "gen:radix,depth=80", NULL));
    check_ok(spry_network_compile(&whole, n, bits("all"), &a));
    check_ok(spry_layers_compile(&pieces, s, bits("all"), &b));
    assert_int_equal(whole->edges, pieces->edges);
    assert_memory_equal(whole->source, pieces->source,
                        (size_t)whole->edges * sizeof *whole->source);
    check_equal(n, pieces);
    assert_int_equal(a.nominal_edges, n->edges);
    assert_int_equal(b.nominal_edges, n->edges);
    assert_int_equal(b.nominal_neurons, n->neurons);
    assert_int_equal(b.nominal_layers, 80);
    assert_int_equal(b.edges, pieces->edges);
    spry_layers_close(s);
    spry_network_free(n);
    spry_network_free(whole);
    spry_network_free(pieces);
}

/* ---- what the passes find ---- */

/* The official network: known from other programs. */
static void official_network_collapses(void **state)
{
    spry_graph_report r = {.size = sizeof r};
    spry_network *n, *out;
    int64_t removed = 0;

    (void)state;
    check_ok(spry_network_read(&n, "gen:radix,depth=120", NULL));
    out = compiled(n, "merge", &r);
    assert_true(out->edges < n->edges / 18);
    spry_network_free(out);
    out = compiled(n, "all", &r);
    assert_true(out->edges < n->edges / 32);
    for (int i = 0; i < SPRY_PASSES_MOST; i++)
        removed += r.pass[i].edges;
    assert_int_equal(r.nominal_edges - removed, out->edges);
    check_equal(n, out);
    spry_network_free(n);
    spry_network_free(out);
}

/* in0, in1; layer 0: a, b alike; layer 1: one reader of both. */
static const int64_t twin_first[] = {2, 4, 5},
                     twin_start[] = {0, 0, 0, 1, 2, 4};
static const int32_t twin_source[] = {0, 0, 2, 3}, twin_output[] = {4};
static const spry_activation twin_activation[] = {{SPRY_RELU, 0},
                                                  {SPRY_RELU, 0}};

static spry_network *twins(float a, float b, float wa, float wb)
{
    const float weight[] = {a, b, wa, wb}, bias[5] = {0};
    spry_network parts = {.neurons = 5,
                          .inputs = 2,
                          .outputs = 1,
                          .layers = 2,
                          .edges = 4,
                          .first = twin_first,
                          .start = twin_start,
                          .source = twin_source,
                          .weight = weight,
                          .bias = bias,
                          .activation = twin_activation,
                          .output = twin_output};
    spry_network *n;

    check_ok(spry_network_make(&n, &parts));
    return n;
}

static void check_twins(float a, float b, float wa, float wb, int64_t edges,
                        float weight)
{
    spry_network *n = twins(a, b, wa, wb), *out = compiled(n, "merge", NULL);

    assert_int_equal(out->edges, edges);
    if (edges == 2)
        assert_true(out->weight[1] >= weight && out->weight[1] <= weight);
    spry_network_free(n);
    spry_network_free(out);
}

/* Weights are added, but only where that is exact. */
static void merging_is_exact_or_not_done(void **state)
{
    (void)state;
    check_twins(1.5f, 1.5f, 0.25f, 3, 2, 3.25f);
    check_twins(1.5f, 2.5f, 0.25f, 3, 4, 0);
    check_twins(1.5f, 1.5f, 0.1f, 0.3f, 4, 0); /* a bit would be lost */
    check_twins(1.5f, 1.5f, 1e20f, 1, 4, 0);
    check_twins(1.5f, 1.5f, 2e38f, 2e38f, 4, 0); /* infinite */
    check_twins(1.5f, 1.5f, 2, -2, 1, 0);        /* nothing left to read */
}

/* Layer 0: u >= 0, and a constant 2; layer 1: x = relu(-u - 1) is 0,
 * y = relu(3 u + 0.5 * 2 + 1); output reads both. */
static void constants_leave(void **state)
{
    static const int64_t first[] = {1, 3, 5, 6},
                         start[] = {0, 0, 1, 1, 2, 4, 6};
    static const int32_t source[] = {0, 1, 1, 2, 3, 4}, output[] = {5};
    static const float weight[] = {1, -1, 3, 0.5f, 7, 1},
                       bias[] = {0, 0, 2, -1, 1, 0};
    static const spry_activation activation[] = {
        {SPRY_RELU, 0}, {SPRY_RELU, 0}, {SPRY_LINEAR, 0}};
    spry_network parts = {.neurons = 6,
                          .inputs = 1,
                          .outputs = 1,
                          .layers = 3,
                          .edges = 6,
                          .first = first,
                          .start = start,
                          .source = source,
                          .weight = weight,
                          .bias = bias,
                          .activation = activation,
                          .output = output};
    spry_network *n, *out;

    (void)state;
    check_ok(spry_network_make(&n, &parts));
    out = compiled(n, "dead", NULL);
    assert_int_equal(out->neurons, 4);
    assert_int_equal(out->edges, 3);
    assert_true(out->bias[2] >= 2 && out->bias[2] <= 2);
    check_equal(n, out);
    spry_network_free(n);
    spry_network_free(out);
}

static int64_t lines(const spry_network *n)
{
    int64_t count = 0;

    for (int64_t v = 0; v < n->neurons; v++)
        for (int64_t k = n->start[v]; k < n->start[v + 1]; k++)
            count +=
                k == n->start[v] || n->source[k] / 16 != n->source[k - 1] / 16;
    return count;
}

/* Neurons of a layer in the wrong order are found and sorted. */
static void renumbering_saves_lines(void **state)
{
    spry_network *n, *out;
    spry_graph_report r = {.size = sizeof r};

    (void)state;
    check_ok(spry_network_read(
        &n, "gen:smallworld,width=512,depth=3,degree=8,rewire=0", NULL));
    out = compiled(n, "renumber", &r);
    assert_true(lines(out) <= lines(n));
    spry_network_free(out);
    spry_network_free(n);
    check_ok(spry_network_read(&n, "gen:random,width=256,depth=2,density=0.01",
                               NULL));
    out = compiled(n, "renumber", &r);
    assert_true(lines(out) < lines(n));
    spry_network_free(out);
    spry_network_free(n);
}

/* ---- rest ---- */

/* Run every neuron; the layer whose values are all `value`, from which on
 * they stay so. */
static void rest_is_what_happens(void **state)
{
    static const char *const passes[] = {"none", "all", "factor"};
    spry_network *n;

    (void)state;
    check_ok(spry_network_read(&n, "gen:radix,depth=30", NULL));
    for (int i = 0; i < 3; i++) {
        spry_network *out = compiled(n, passes[i], NULL);
        spry_rest rest = {.size = sizeof rest};

        check_ok(spry_network_rest(&rest, out));
        assert_int_equal(rest.zero, 0);
        assert_true(rest.full < 2);
        assert_true(rest.limit >= 32 && rest.limit <= 32);
        spry_network_free(out);
    }
    spry_network_free(n);
}

static void rest_by_hand(void **state)
{
    static const float heavy[] = {40, 40, 1, 0.5f}, light[] = {40, 40, 1, 0.2f};
    static const float up[] = {0, 0, 0, 0, 0.5f}, down[] = {0, 0, 0, 0, -0.5f};
    static const spry_activation clamp[] = {{SPRY_CLAMP, 2}, {SPRY_CLAMP, 3}};
    spry_network *n = twins(1, 1, 1, 1), parts = *n, *m;
    spry_rest r = {.size = sizeof r};

    (void)state;
    parts.activation = clamp;
    parts.weight = heavy; /* 2 + 1 + 0.5 >= 3, but not 0 */
    parts.bias = up;
    check_ok(spry_network_make(&m, &parts));
    check_ok(spry_network_rest(&r, m));
    assert_int_equal(r.zero, 1);
    assert_int_equal(r.full, 0);
    assert_true(r.limit >= 3 && r.limit <= 3);
    spry_network_free(m);
    parts.weight = light; /* 2 + 0.4 - 0.5 < 3 */
    parts.bias = down;
    check_ok(spry_network_make(&m, &parts));
    check_ok(spry_network_rest(&r, m));
    assert_int_equal(r.zero, 0);
    assert_int_equal(r.full, 1);
    spry_network_free(m);
    check_ok(spry_network_rest(&r, n)); /* ReLU knows no limit */
    assert_int_equal(r.full, 2);
    spry_network_free(n);
}

/* ---- words and memory ---- */

static void passes_have_names(void **state)
{
    unsigned b, one;
    int i = 0;

    (void)state;
    for (; spry_pass_name(i); i++) {
        assert_true(strlen(spry_pass_help(i)) > 0);
        check_ok(spry_passes_parse(&one, spry_pass_name(i)));
        assert_int_equal(one, 1u << i);
    }
    assert_true(i <= SPRY_PASSES_MOST);
    assert_null(spry_pass_name(-1));
    assert_int_equal(bits(NULL), (1u << i) - 1);
    assert_int_equal(bits("none"), 0);
    assert_int_equal(spry_passes_parse(&b, "merge,magic"), SPRY_USAGE);
    assert_non_null(strstr(spry_message(), "magic"));
    assert_int_equal(spry_passes_parse(&b, "merge,"), SPRY_USAGE);
    assert_int_equal(spry_passes_parse(&b, ""), SPRY_USAGE);
}

static void short_memory_is_survived(void **state)
{
    static const char *const network[] = {"gen:radix,depth=2",
                                          "gen:skip,width=20,depth=3,degree=5"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        spry_network *n;
        int64_t before;

        check_ok(spry_network_read(&n, network[i], NULL));
        before = sp_alloc_live();
        for (int64_t k = 1;; k++) {
            spry_network *out;
            spry_rest rest = {.size = sizeof rest};
            spry_status s;

            sp_alloc_refuse(k, 0);
            s = spry_network_compile(&out, n, bits("all"), NULL);
            if (s == SPRY_OK)
                s = spry_network_rest(&rest, out);
            sp_alloc_refuse(0, 0);
            spry_network_free(out);
            assert_int_equal(sp_alloc_live(), before);
            if (s == SPRY_OK)
                break;
            assert_int_equal(s, SPRY_SYSTEM);
        }
        spry_network_free(n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_equal_bit_for_bit),
        cmocka_unit_test(reals_are_near),
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(official_network_collapses),
        cmocka_unit_test(merging_is_exact_or_not_done),
        cmocka_unit_test(constants_leave),
        cmocka_unit_test(renumbering_saves_lines),
        cmocka_unit_test(rest_is_what_happens),
        cmocka_unit_test(rest_by_hand),
        cmocka_unit_test(passes_have_names),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
