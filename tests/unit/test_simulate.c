/* test_simulate.c - simulated I/O against a simulation that knows nothing but
 * the rules, against counts by hand, and against published counts. */
#include "check.h"
#include "slow_simulator.h"

#include <string.h>

#include "base/base.h"
#include "order/order.h"

/* ---- comparisons ---- */

static spry_network *read_net(const char *path)
{
    spry_network *n;

    check_ok(spry_network_read(&n, path, NULL));
    return n;
}

static int32_t *ordered(const spry_network *n, const char *name, int64_t memory)
{
    spry_order_options o = SPRY_ORDER_DEFAULTS;
    int32_t *edge = sp_alloc(n->edges, sizeof *edge);

    o.memory = memory;
    o.moves = 200;
    check_ok(spry_order_make(edge, n, name, &o));
    return edge;
}

static spry_io simulated(const spry_network *n, const int32_t *edge,
                         int64_t memory, int64_t line, spry_policy policy)
{
    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;
    spry_io io = {.size = sizeof io};

    o.memory = memory;
    o.line = line;
    o.policy = policy;
    check_ok(spry_simulate(&io, n, edge, &o));
    return io;
}

static void compare_with(const spry_network *n, const int32_t *edge,
                         const spry_simulate_options *with)
{
    static slow s;
    sp_fanout f;

    check_ok(sp_fanout_make(&f, n));
    for (int p = 0; spry_policy_name((spry_policy)p); p++) {
        spry_io io = {.size = sizeof io};

        memset(&s, 0, sizeof s);
        s.net = n;
        s.edge = edge;
        s.target = f.target;
        s.o = *with;
        s.o.policy = (spry_policy)p;
        check_ok(spry_simulate(&io, n, edge, &s.o));
        run_slowly(&s);
        assert_int_equal(io.reads, s.reads);
        if (p != SPRY_MIN) /* equally far uses may leave in any order */
            assert_int_equal(io.writes, s.writes);
        assert_true(io.reads >= io.least_reads);
        assert_true(io.writes >= io.least_writes);
        assert_true(io.most_reads >= io.least_reads);
        assert_true(with->weight || io.weight_reads == 0);
        assert_int_equal(io.total_bytes - io.stream_bytes,
                         (io.reads + io.writes) * with->line * 4);
    }
    sp_fanout_free(&f);
}

static void compare(const spry_network *n, const int32_t *edge, int64_t memory,
                    int64_t line)
{
    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;

    o.memory = memory;
    o.line = line;
    compare_with(n, edge, &o);
}

static void agrees_with_the_rules(void **state)
{
    static const char *const nets[] = {
        "gen:random,width=12,depth=4,density=0.4",
        "gen:random,width=20,depth=2,density=0.1",
        "gen:skip,width=8,depth=4,degree=3",
        "gen:mixed,radices=2x3x2,copies=2",
        "gen:smallworld,width=16,degree=4",
        "gen:random,width=5,density=0",
    };

    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        spry_network *n = read_net(nets[i]);

        for (int k = 0; spry_order_name(k); k++) {
            int32_t *edge = ordered(n, spry_order_name(k), 8);

            for (int64_t memory = 2; memory <= 40; memory += 1 + memory / 3)
                for (int64_t line = 1; 2 * line <= memory; line += line + 1)
                    compare(n, edge, memory, line);
            sp_free(edge);
        }
        spry_network_free(n);
    }
}

static void shared_weights_agree(void **state)
{
    static const char *const nets[] = {
        "gen:random,width=12,depth=4,density=0.4",
        "gen:skip,width=8,depth=4,degree=3"};

    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        spry_network *n = read_net(nets[i]);
        int32_t *weight = sp_alloc(n->edges, sizeof *weight);
        spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;

        for (int64_t k = 0; k < n->edges; k++)
            weight[k] = (int32_t)(k * 7 % 11);
        o.weight = weight;
        o.weights = 11;
        for (int k = 0; spry_order_name(k); k++) {
            int32_t *edge = ordered(n, spry_order_name(k), 8);

            for (o.memory = 3; o.memory <= 60; o.memory += 1 + o.memory / 3)
                for (o.line = 1; 3 * o.line <= o.memory; o.line += o.line + 1)
                    compare_with(n, edge, &o);
            sp_free(edge);
        }
        sp_free(weight);
        spry_network_free(n);
    }
}

/* A convolution with two taps: 3 = a 0 + b 1, 4 = a 1 + b 2. */
static void convolution_by_hand(void **state)
{
    static const int64_t first[] = {3, 5}, start[] = {0, 0, 0, 0, 2, 4};
    static const int32_t source[] = {0, 1, 1, 2}, output[] = {3, 4};
    static const int32_t edge[] = {0, 1, 2, 3};
    static const float tap[] = {2, -1, 2, -1}, bias[5] = {0};
    static const spry_activation activation[1] = {{SPRY_RELU, 0}};
    spry_network parts = {.neurons = 5,
                          .inputs = 3,
                          .outputs = 2,
                          .layers = 1,
                          .edges = 4,
                          .first = first,
                          .start = start,
                          .source = source,
                          .weight = tap,
                          .bias = bias,
                          .activation = activation,
                          .output = output};
    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;
    int32_t weight[4];
    spry_network *n;
    spry_io io = {.size = sizeof io};

    (void)state;
    check_ok(spry_network_make(&n, &parts));
    check_ok(spry_weights_shared(weight, &o.weights, n));
    assert_int_equal(o.weights, 2);
    assert_true(weight[0] == weight[2] && weight[1] == weight[3] &&
                weight[0] != weight[1]);
    o.weight = weight;
    /* All fits: five neurons and two weights are read, two written. */
    check_ok(spry_simulate(&io, n, edge, &o));
    assert_int_equal(io.reads, 7);
    assert_int_equal(io.weight_reads, 2);
    assert_int_equal(io.writes, 2);
    assert_int_equal(io.least_reads, 7);
    /* Room for three: 0 3 a | 1 b for a | 4 a for 3 b | 2 b. */
    o.memory = 3;
    check_ok(spry_simulate(&io, n, edge, &o));
    assert_int_equal(io.reads, 9);
    assert_int_equal(io.weight_reads, 4);
    assert_int_equal(io.writes, 2);
    o.memory = 2;
    assert_int_equal(spry_simulate(&io, n, edge, &o), SPRY_USAGE);
    o.memory = 9;
    o.weights = 1;
    assert_int_equal(spry_simulate(&io, n, edge, &o), SPRY_USAGE);
    spry_network_free(n);
}

/* Inputs 0 1, then 2 = f(0, 1), 3 = f(0), 4 = f(2, 3), the output. */
static spry_network *small_net(void)
{
    static const int64_t first[] = {2, 4, 5}, start[] = {0, 0, 0, 2, 3, 5};
    static const int32_t source[] = {0, 1, 0, 2, 3}, output[] = {4};
    static const float weight[] = {1, 1, 1, 1, 1}, bias[5] = {0};
    static const spry_activation activation[2] = {{SPRY_RELU, 0},
                                                  {SPRY_RELU, 0}};
    spry_network parts = {.neurons = 5,
                          .inputs = 2,
                          .outputs = 1,
                          .layers = 2,
                          .edges = 5,
                          .first = first,
                          .start = start,
                          .source = source,
                          .weight = weight,
                          .bias = bias,
                          .activation = activation,
                          .output = output};
    spry_network *n;

    check_ok(spry_network_make(&n, &parts));
    return n;
}

static void counts_by_hand(void **state)
{
    static const int32_t edge[] = {0, 1, 2, 3, 4};
    spry_network *n = small_net();
    spry_io io = simulated(n, edge, 5, 1, SPRY_LRU);

    (void)state;
    /* All fits: every neuron is read, the output written. */
    assert_int_equal(io.reads, 5);
    assert_int_equal(io.writes, 1);
    assert_int_equal(io.least_reads, 5);
    assert_int_equal(io.least_writes, 1);
    assert_int_equal(io.most_reads, 5 + 3);
    assert_int_equal(io.most_writes, 3);
    assert_int_equal(io.stream_bytes, 60);
    /* Room for two: 0 2 | 1 | 0 3 (2 is written) | 2 4 (3 written) | 3. */
    io = simulated(n, edge, 2, 1, SPRY_LRU);
    assert_int_equal(io.reads, 8);
    assert_int_equal(io.writes, 3);
    /* Lines 0 1, 2 3, 4: two of them fit, and 0 1 is dead in the end. */
    io = simulated(n, edge, 4, 2, SPRY_MIN);
    assert_int_equal(io.reads, 3);
    assert_int_equal(io.writes, 1);
    assert_int_equal(io.least_reads, 3);
    spry_network_free(n);
}

/* MIN reads no more than the others; more memory never hurts MIN or LRU. */
static void policies_are_ranked(void **state)
{
    spry_network *n = read_net("gen:random,width=200,depth=3,density=0.1");
    int64_t last_lru = INT64_MAX, last_min = INT64_MAX;

    (void)state;
    for (int64_t memory = 4; memory <= 1024; memory *= 2) {
        int32_t *edge = ordered(n, "source", 8);
        int64_t lru = simulated(n, edge, memory, 1, SPRY_LRU).reads;
        int64_t rr = simulated(n, edge, memory, 1, SPRY_RR).reads;
        int64_t min = simulated(n, edge, memory, 1, SPRY_MIN).reads;

        assert_true(min <= lru && min <= rr);
        assert_true(lru <= last_lru && min <= last_min);
        last_lru = lru;
        last_min = min;
        sp_free(edge);
    }
    assert_int_equal(last_min, 800);
    spry_network_free(n);
}

/* One neuron after the other never passes the upper bound, at any memory. */
static void theory_holds(void **state)
{
    spry_network *n = read_net("gen:random,width=100,depth=4,density=0.1");
    int32_t *edge = ordered(n, "destination", 8);

    (void)state;
    for (int64_t memory = 3; memory < 600; memory += 50) {
        spry_io io = simulated(n, edge, memory, 1, SPRY_LRU);

        assert_int_equal(io.least_reads, 500);
        assert_int_equal(io.least_writes, 100);
        assert_int_equal(io.most_writes, 400);
        assert_true(io.reads <= io.most_reads && io.writes <= io.most_writes);
    }
    sp_free(edge);
    spry_network_free(n);
}

/* Thousands of reads and writes of the RadiX network of 16 layers, edges by
 * destination, as measured by another program. */
static void radix_counts_are_known(void **state)
{
    static const struct {
        int64_t memory;
        spry_policy policy;
        int64_t reads, writes; /* thousands */
    } known[] = {{32, SPRY_LRU, 530, 16},
                 {128, SPRY_LRU, 438, 16},
                 {128, SPRY_MIN, 310, 16},
                 {512, SPRY_LRU, 337, 16},
                 {512, SPRY_MIN, 182, 16}};
    spry_network *n = read_net("gen:radix,depth=16");
    int32_t *edge = ordered(n, "destination", 8);

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        spry_io io = simulated(n, edge, known[i].memory, 1, known[i].policy);

        assert_int_equal(io.least_reads, 17408);
        assert_int_equal(io.least_writes, 1024);
        assert_int_equal((io.reads + 500) / 1000, known[i].reads);
        assert_int_equal((io.writes + 500) / 1000, known[i].writes);
    }
    sp_free(edge);
    spry_network_free(n);
}

static void nonsense_is_refused(void **state)
{
    spry_network *n = small_net();
    int32_t edge[] = {0, 1, 2, 3, 4};
    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;
    spry_io io = {.size = sizeof io};

    (void)state;
    o.memory = 1;
    assert_int_equal(spry_simulate(&io, n, edge, &o), SPRY_USAGE);
    o.memory = 8;
    o.line = 5;
    assert_int_equal(spry_simulate(&io, n, edge, &o), SPRY_USAGE);
    o.line = 0;
    assert_int_equal(spry_simulate(&io, n, edge, &o), SPRY_USAGE);
    o.line = 1;
    o.policy = (spry_policy)9;
    assert_int_equal(spry_simulate(&io, n, edge, &o), SPRY_USAGE);
    edge[0] = 3;
    edge[3] = 0;
    assert_int_equal(spry_simulate(&io, n, edge, NULL), SPRY_WRONG);
    spry_network_free(n);
}

static void short_memory_is_survived(void **state)
{
    spry_network *net = small_net();
    static const int32_t edge[] = {0, 1, 2, 3, 4};
    int64_t before = sp_alloc_live();
    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;

    (void)state;
    for (int p = 0; spry_policy_name((spry_policy)p); p++)
        for (int64_t n = 1;; n++) {
            spry_io io = {.size = sizeof io};
            spry_status s;

            o.policy = (spry_policy)p;
            sp_alloc_refuse(n, 0);
            s = spry_simulate(&io, net, edge, &o);
            sp_alloc_refuse(0, 0);
            assert_int_equal(sp_alloc_live(), before);
            if (s == SPRY_OK)
                break;
            assert_int_equal(s, SPRY_SYSTEM);
        }
    spry_network_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_rules),
        cmocka_unit_test(shared_weights_agree),
        cmocka_unit_test(convolution_by_hand),
        cmocka_unit_test(counts_by_hand),
        cmocka_unit_test(policies_are_ranked),
        cmocka_unit_test(theory_holds),
        cmocka_unit_test(radix_counts_are_known),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(short_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
