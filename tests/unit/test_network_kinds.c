/* test_network_kinds.c - generated networks: what each kind promises, and the
 * official ones. */
#include "network_specs.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "network/internal.h"

/* ---- generators ---- */

static void kinds_are_listed(void **state)
{
    (void)state;
    for (int i = 0; spry_network_generator_name(i); i++) {
        char path[64];

        assert_true(strlen(spry_network_generator_help(i)) > 0);
        assert_true(strlen(spry_network_generator_params(i)) > 0);
        snprintf(path, sizeof path, "gen:%s", spry_network_generator_name(i));
        if (strcmp(spry_network_generator_name(i), "radix") != 0)
            spry_network_free(read_net(path));
    }
    assert_null(spry_network_generator_name(-1));
}

static void same_seed_same_network(void **state)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;

    (void)state;
    for (int i = 0; i < SPECS; i++) {
        spry_network *a = read_net(specs[i]), *b = read_net(specs[i]), *c;
        char ka[33], kb[33], kc[33];

        o.seed = 2;
        check_ok(spry_network_read(&c, specs[i], &o));
        spry_network_key(ka, a);
        spry_network_key(kb, b);
        spry_network_key(kc, c);
        assert_string_equal(ka, kb);
        if (strstr(specs[i], "0.2") || strstr(specs[i], "skip"))
            assert_string_not_equal(ka, kc);
        spry_network_free(a);
        spry_network_free(b);
        spry_network_free(c);
    }
}

static void bad_specs_are_refused(void **state)
{
    static const char *const bad[] = {
        "gen:nothing",
        "gen:radix,width=1000",
        "gen:radix,depth=0",
        "gen:radix,depth=1.5",
        "gen:radix,width=1024,width=1024",
        "gen:random,density=2",
        "gen:random,density=x",
        "gen:random,activation=step",
        "gen:mixed,radices=2x",
        "gen:mixed,radices=3x4,classes=8",
        "gen:mixed,copies=2x2",
        "gen:mixed,radices=4096x4096x4096",
        "gen:pruned,widths=10",
        "gen:pruned,widths=10x99999",
        "gen:smallworld,width=8,degree=9",
        "gen:skip,width=8,degree=9",
        "gen:skip,colour=red",
    };
    spry_network *n;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(spry_network_read(&n, bad[i], NULL), SPRY_USAGE);
        assert_null(n);
        assert_true(strlen(spry_message()) > 0);
    }
}

/* Mixed radix: between every input class and every output class there is
 * one path. */
static void mixed_radix_joins_all_classes_once(void **state)
{
    spry_network *n =
        read_net("gen:mixed,radices=2x3x4,copies=1,activation=linear");
    float x[24] = {0};
    double y[24];

    (void)state;
    for (int i = 0; i < 24; i++) {
        memset(x, 0, sizeof x);
        x[i] = 1;
        check_ok(spry_network_reference(y, n, x, 1));
        for (int j = 0; j < 24; j++)
            assert_float_equal(y[j], 8.0 / 24, 1e-6);
    }
    spry_network_free(n);
}

static void pruned_keeps_the_share(void **state)
{
    spry_network *n = read_net("gen:pruned,widths=100x80,sparsity=0.9");

    (void)state;
    assert_in_range(n->edges, 795, 805);
    spry_network_free(n);
}

static void random_has_the_density(void **state)
{
    spry_network *n = read_net("gen:random,width=500,depth=2,density=0.1");

    (void)state;
    assert_in_range(n->edges, 49000, 51000);
    spry_network_free(n);
}

/* ---- the official networks ---- */

/* The first outputs of the reference implementation. */
static void mersenne_is_mt19937(void **state)
{
    sp_mersenne m;

    (void)state;
    sp_mersenne_seed(&m, 5489);
    assert_int_equal(sp_mersenne_next(&m), 3499211612u);
    assert_int_equal(sp_mersenne_next(&m), 581869302u);
    for (int i = 2; i < 9999; i++)
        sp_mersenne_next(&m);
    assert_int_equal(sp_mersenne_next(&m), 4123659995u);
}

/* Published by others: they hold for no other permutations. */
static void official_counters(void **state)
{
    spry_layers *s;
    spry_counters c = {.size = sizeof c};

    (void)state;
    check_ok(spry_layers_open(&s, "gen:radix,width=1024,depth=120", NULL));
    check_ok(spry_layers_counters(&c, s));
    assert_int_equal(c.buffers, 960);
    assert_int_equal(c.map, 491520);
    assert_int_equal(c.warpnz, 163152);
    assert_int_equal(c.weight_max, 50176);
    assert_int_equal(spry_layers_edges(s), 3932160);
    spry_layers_close(s);
}

/* Deeper networks begin with shallower ones, and a rewind begins anew. */
static void depth_is_a_prefix(void **state)
{
    spry_network *shallow = read_net("gen:radix,depth=13");
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_network *deep, *again;
    spry_layers *s;

    (void)state;
    o.depth = 13;
    check_ok(spry_layers_open(&s, "gen:radix,depth=40", &o));
    check_ok(spry_layers_gather(&deep, s));
    check_ok(spry_layers_gather(&again, s));
    assert_int_equal(deep->edges, shallow->edges);
    assert_memory_equal(deep->source, shallow->source,
                        (size_t)shallow->edges * sizeof *shallow->source);
    assert_memory_equal(again->source, shallow->source,
                        (size_t)shallow->edges * sizeof *shallow->source);
    spry_layers_close(s);
    spry_network_free(shallow);
    spry_network_free(deep);
    spry_network_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_listed),
        cmocka_unit_test(same_seed_same_network),
        cmocka_unit_test(bad_specs_are_refused),
        cmocka_unit_test(mixed_radix_joins_all_classes_once),
        cmocka_unit_test(pruned_keeps_the_share),
        cmocka_unit_test(random_has_the_density),
        cmocka_unit_test(mersenne_is_mt19937),
        cmocka_unit_test(official_counters),
        cmocka_unit_test(depth_is_a_prefix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
