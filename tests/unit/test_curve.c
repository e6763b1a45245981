/* test_curve.c - the caches that a curve of latencies shows, on curves made
 * from caches that are known. */
#include "check.h"

#include <math.h>

#include "base/base.h"
#include "machine/internal.h"

enum { KB = 1 << 10, MB = 1 << 20 };

/* A machine as it is: bytes and seconds of each level, and of memory. */
typedef struct {
    int64_t bytes[SPRY_CACHES];
    double seconds[SPRY_CACHES], memory;
} truth;

static const truth desktop = {
    {32 * KB, 512 * KB, 32 * MB}, {1.5e-9, 4e-9, 13e-9}, 95e-9};

/* A random chain: the share of a working set that a level holds beyond the
 * one below is served by it. */
static double latency_of(const truth *t, double set)
{
    double held = 0, sum = 0;

    for (int i = 0; i < SPRY_CACHES; i++)
        if ((double)t->bytes[i] > held) {
            double until = fmin(set, (double)t->bytes[i]);

            sum += fmax(0, until - held) * t->seconds[i];
            held = fmax(held, until);
        }
    sum += (set - held) * t->memory;
    /* A chain through more than a level leaves nothing for the one below. */
    for (int i = SPRY_CACHES - 1; i > 0; i--)
        if (set > 8 * (double)t->bytes[i - 1] && set <= (double)t->bytes[i])
            return t->seconds[i];
    return sum / set;
}

/* Noise lengthens points, all but a few, by up to so many times. */
static sp_curve curve_of(const truth *t, double most, double noise,
                         uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);
    sp_curve c = {.memory = t->memory};

    for (double set = 8 * KB; set <= 1.01 * most && c.count < SP_CURVE;
         set *= sqrt(2)) {
        double chance = sp_rng_unit(&r);

        c.bytes[c.count] = (int64_t)set;
        c.seconds[c.count++] =
            latency_of(t, set) * (1 + noise * chance * chance * chance);
    }
    return c;
}

static void reported_as(spry_cache out[SPRY_CACHES], int64_t l1, int64_t l2,
                        int64_t l3)
{
    const int64_t bytes[] = {l1, l2, l3};

    for (int i = 0; i < SPRY_CACHES; i++)
        out[i] = (spry_cache){bytes[i], i < 2 ? 1 : 8};
}

static void expect_near(int64_t found, int64_t right)
{
    if (fabs(log2((double)found / (double)right)) > 0.35)
        fail_msg("found %lld, not about %lld", (long long)found,
                 (long long)right);
}

static void three_levels_are_all_there(void **state)
{
    sp_curve c = curve_of(&desktop, 64 * MB, 0, 1);
    spry_cache said[SPRY_CACHES];
    int64_t found[SPRY_CACHES];

    (void)state;
    reported_as(said, 32 * KB, 512 * KB, 32 * MB);
    sp_curve_caches(found, &c, said);
    for (int i = 0; i < SPRY_CACHES; i++)
        assert_int_equal(found[i], said[i].bytes);
}

/* 260 MB are told, but what lies there takes nearly as long as memory. */
static void a_cache_as_slow_as_memory_is_none(void **state)
{
    const truth guest = {
        {48 * KB, 2 * MB, 260 * MB}, {1.4e-9, 4.5e-9, 109e-9}, 134e-9};
    sp_curve c = curve_of(&guest, 128 * MB, 0.1, 2);
    spry_cache said[SPRY_CACHES];
    int64_t found[SPRY_CACHES];

    (void)state;
    reported_as(said, 48 * KB, 2 * MB, 260 * MB);
    sp_curve_caches(found, &c, said);
    assert_int_equal(found[0], 48 * KB);
    expect_near(found[1], 2 * MB);
    assert_int_equal(found[2], 0);
}

/* The same size, but fast: its end lies beyond the curve. */
static void an_end_that_is_not_seen_stays_as_reported(void **state)
{
    const truth server = {
        {48 * KB, 2 * MB, 260 * MB}, {1.4e-9, 4.5e-9, 50e-9}, 130e-9};
    sp_curve c = curve_of(&server, 128 * MB, 0, 3);
    spry_cache said[SPRY_CACHES];
    int64_t found[SPRY_CACHES];

    (void)state;
    reported_as(said, 48 * KB, 2 * MB, 260 * MB);
    sp_curve_caches(found, &c, said);
    assert_int_equal(found[2], 260 * MB);
}

static void no_third_level_is_none(void **state)
{
    const truth arm = {{64 * KB, 1 * MB, 0}, {1.2e-9, 4e-9, 0}, 110e-9};
    sp_curve c = curve_of(&arm, 32 * MB, 0, 4);
    spry_cache said[SPRY_CACHES];
    int64_t found[SPRY_CACHES];

    (void)state;
    reported_as(said, 64 * KB, 1 * MB, 0);
    sp_curve_caches(found, &c, said);
    assert_int_equal(found[0], 64 * KB);
    assert_int_equal(found[1], 1 * MB);
    assert_int_equal(found[2], 0);
}

/* A guest gets a part of what it is told about. */
static void slices_are_found(void **state)
{
    static const int64_t slice[] = {4 * MB, 8 * MB, 16 * MB};
    spry_cache said[SPRY_CACHES];
    int64_t found[SPRY_CACHES];

    (void)state;
    reported_as(said, 32 * KB, 512 * KB, 32 * MB);
    for (int i = 0; i < 3; i++) {
        truth guest = desktop;
        sp_curve c;

        guest.bytes[2] = slice[i];
        c = curve_of(&guest, 64 * MB, 0, 5);
        sp_curve_caches(found, &c, said);
        assert_int_equal(found[1], 512 * KB);
        expect_near(found[2], slice[i]);
    }
}

/* A slice that the level below nearly fills is not worth its name. */
static void a_tiny_slice_is_none(void **state)
{
    truth guest = desktop;
    spry_cache said[SPRY_CACHES];
    int64_t found[SPRY_CACHES];
    sp_curve c;

    (void)state;
    guest.bytes[2] = 640 * KB;
    c = curve_of(&guest, 64 * MB, 0, 6);
    reported_as(said, 32 * KB, 512 * KB, 32 * MB);
    sp_curve_caches(found, &c, said);
    assert_int_equal(found[0], 32 * KB);
    assert_true(found[1] > 256 * KB);
    assert_int_equal(found[2], 0);
}

/* Neighbours double a point here and there; no size is off by half, and none
 * is larger than reported. */
static void noise_changes_little(void **state)
{
    spry_cache said[SPRY_CACHES];

    (void)state;
    reported_as(said, 32 * KB, 512 * KB, 32 * MB);
    for (uint64_t seed = 0; seed < 200; seed++) {
        sp_curve c = curve_of(&desktop, 64 * MB, 1.0, seed);
        int64_t found[SPRY_CACHES];

        sp_curve_caches(found, &c, said);
        for (int i = 0; i < SPRY_CACHES; i++) {
            assert_true(found[i] <= said[i].bytes);
            assert_true(found[i] >= said[i].bytes / 2);
        }
    }
}

/* Nothing, or nothing that rises: as reported. */
static void an_unclear_curve_changes_nothing(void **state)
{
    sp_curve empty = {0}, flat = {.memory = 1e-9};
    spry_cache said[SPRY_CACHES];
    int64_t found[SPRY_CACHES];

    (void)state;
    reported_as(said, 32 * KB, 512 * KB, 32 * MB);
    sp_curve_caches(found, &empty, said);
    for (int i = 0; i < SPRY_CACHES; i++)
        assert_int_equal(found[i], said[i].bytes);
    for (int i = 0; i < 20; i++) {
        flat.bytes[flat.count] = (int64_t)8 * KB << i;
        flat.seconds[flat.count++] = 1e-9;
    }
    sp_curve_caches(found, &flat, said);
    for (int i = 0; i < SPRY_CACHES; i++)
        assert_int_equal(found[i], said[i].bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_levels_are_all_there),
        cmocka_unit_test(a_cache_as_slow_as_memory_is_none),
        cmocka_unit_test(an_end_that_is_not_seen_stays_as_reported),
        cmocka_unit_test(no_third_level_is_none),
        cmocka_unit_test(slices_are_found),
        cmocka_unit_test(a_tiny_slice_is_none),
        cmocka_unit_test(noise_changes_little),
        cmocka_unit_test(an_unclear_curve_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
