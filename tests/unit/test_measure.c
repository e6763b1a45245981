/* test_measure.c - statistics on made-up samples, races on a made-up clock.
 * Nothing here depends on how fast anything is. */
#include "check.h"

#include <math.h>

#include "base/base.h"
#include "measure/measure.h"

static void check_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * (1 + fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

/* ---- statistics ---- */

static void medians_and_quantiles(void **state)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, ten[11];

    (void)state;
    check_near(sp_median(odd, 3), 3);
    check_near(sp_median(even, 4), 2.5);
    for (int i = 0; i < 11; i++)
        ten[i] = 10 - i;
    check_near(sp_quantile(ten, 11, 0), 0);
    check_near(sp_quantile(ten, 11, 1), 10);
    check_near(sp_quantile(ten, 11, 0.95), 9.5);
}

/* The ranks that tables of the sign test give for 95 %, and less than a step
 * inwards, since they hold the median more often than that. */
static void median_interval_has_the_known_ranks(void **state)
{
    static const struct {
        int n, k;
    } known[] = {{6, 1}, {8, 1}, {9, 2}, {11, 2}, {20, 6}, {31, 10}, {101, 41}};
    double x[101];

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        int n = known[i].n, k = known[i].k;
        sp_interval v;

        for (int j = 0; j < n; j++)
            x[j] = j * 37 % n; /* 37 is prime to all n: a permutation */
        v = sp_median_interval(x, n);
        assert_true(k - 1 <= v.low && v.low < k);
        check_near(v.high, n - 1 - v.low);
        check_near(v.mid, (n - 1) / 2.0);
    }
}

static void few_samples_are_trusted_less(void **state)
{
    double x[] = {1, 2, 3, 4, 5};
    double narrower = HUGE_VAL;

    (void)state;
    assert_true(isinf(sp_median_interval(x, 1).high));
    for (int n = 2; n <= 5; n++) {
        sp_interval v = sp_median_interval(x, n);
        double width = (v.high - v.low) / (x[n - 1] - x[0]);

        assert_true(v.low <= x[0] && v.high >= x[n - 1]);
        assert_true(width < narrower);
        narrower = width;
    }
}

/* Of ten samples the second rank has 97.9 % and the third 89.1 %: 95 % are a
 * third of the way down, which is two thirds of the way between the samples. */
static void median_interval_is_between_ranks(void **state)
{
    double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    double share = (0.978515625 - 0.95) / (0.978515625 - 0.890625);

    (void)state;
    check_near(sp_median_interval(x, 10).low, 1 + 8 * share / (2 + 6 * share));
    x[0] = -HUGE_VAL; /* the end itself, of six */
    assert_true(isinf(sp_median_interval(x, 6).low));
}

/* Of 2000 intervals of skewed samples 93 % at least hold the true median, and,
 * of six samples and more, 97 % at most. */
static void median_interval_covers(void **state)
{
    sp_rng r = sp_rng_seed(42);

    (void)state;
    for (int n = 2; n <= 31; n += n < 6 ? 1 : 5) {
        int hits = 0;

        for (int t = 0; t < 2000; t++) {
            double x[31];
            sp_interval v;

            for (int i = 0; i < n; i++)
                x[i] = exp(0.2 * sp_rng_normal(&r));
            v = sp_median_interval(x, n);
            hits += v.low <= 1 && 1 <= v.high;
        }
        assert_true(hits >= 1860);
        assert_true(n < 6 || hits <= 1940);
    }
}

static void geometric_mean_with_bounds(void **state)
{
    double two[] = {1, 4}, same[] = {3, 3, 3, 3};
    sp_interval v = sp_geomean(two, 2);
    sp_rng r = sp_rng_seed(7);
    int hits = 0;

    (void)state;
    check_near(v.mid, 2);
    /* t = 12.706, deviation of the logs ln 4 / sqrt 2, over sqrt 2 */
    assert_true(fabs(log(v.high / v.mid) - 12.7062 * log(4) / 2) < 1e-6);
    v = sp_geomean(same, 4);
    check_near(v.low, 3);
    check_near(v.high, 3);
    for (int t = 0; t < 2000; t++) {
        double x[5];

        for (int i = 0; i < 5; i++)
            x[i] = 2 * exp(0.3 * sp_rng_normal(&r));
        v = sp_geomean(x, 5);
        hits += v.low <= 2 && 2 <= v.high;
    }
    assert_in_range(hits, 1860, 1940);
}

/* ---- races ---- */

/* A clock that only the runners move. */
static double now;
static sp_rng luck;

static double fake_clock(void)
{
    return now;
}

typedef struct {
    double seconds, noise;
    int runs;
} runner;

static void run_runner(void *ctx)
{
    runner *r = ctx;

    r->runs++;
    now += r->seconds * exp(r->noise * sp_rng_normal(&luck));
}

/* The machine becomes ten times slower and faster again, over many rounds. */
static void run_drifting(void *ctx)
{
    runner *r = ctx;

    r->runs++;
    now += r->seconds * exp(2.3 * sin(now));
}

static void start_race(sp_contestant *c, runner *r, int n, uint64_t seed)
{
    now = 0;
    luck = sp_rng_seed(seed);
    for (int i = 0; i < n; i++)
        c[i] = (sp_contestant){run_runner, &r[i]};
}

static void equals_are_not_told_apart(void **state)
{
    sp_race_options o = SP_RACE_DEFAULTS;
    int contain = 0, claim = 0;

    (void)state;
    o.clock = fake_clock;
    o.seconds = 1e9;
    for (uint64_t seed = 0; seed < 200; seed++) {
        runner r[2] = {{0.01, 0.05, 0}, {0.01, 0.05, 0}};
        sp_contestant c[2];
        sp_racer out[2];

        start_race(c, r, 2, seed);
        o.seed = seed;
        check_ok(sp_race(out, c, 2, &o));
        contain += out[1].low <= 1 && 1 <= out[1].high;
        claim += out[1].low > 1.02;
    }
    assert_true(contain >= 170);
    assert_true(claim <= 4);
}

static void the_faster_wins_and_the_slower_leaves(void **state)
{
    runner r[4] = {
        {1e-5, 0.02, 0}, {0.5e-5, 0.02, 0}, {2e-5, 0.02, 0}, {0.9e-5, 0.02, 0}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[4];
    sp_racer out[4];

    (void)state;
    o.clock = fake_clock;
    start_race(c, r, 4, 3);
    check_ok(sp_race(out, c, 4, &o));
    assert_true(out[1].low > 1.9 && out[1].high < 2.1);
    assert_true(fabs(out[1].speedup - 2) < 0.05);
    assert_true(fabs(out[1].seconds - 0.5e-5) < 0.05e-5);
    assert_true(out[0].low == 1 && out[0].speedup == 1);
    assert_false(out[0].dropped);
    assert_false(out[1].dropped);
    assert_true(out[2].dropped && out[2].pairs < out[1].pairs);
    assert_true(out[3].dropped);       /* faster than 0, behind 1 */
    assert_true(out[0].repeat >= 100); /* a sample of at least 1 ms */
    assert_true(out[1].repeat >= 200);
}

/* Loses its threads to other work from the sixth run on. */
static void run_crippled(void *ctx)
{
    runner *r = ctx;

    now += r->seconds * (++r->runs > 5 ? 500 : 1);
}

/* Two plain ways, serial and parallel, and a candidate; the first race of a
 * parallel baseline alone is what used to be printed. */
static void a_crippled_loop_is_no_baseline(void **state)
{
    runner r[3] = {{2e-3, 0.02, 0}, {1.2e-3, 0, 0}, {0.5e-3, 0.02, 0}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[3];
    sp_racer out[3];

    (void)state;
    o.clock = fake_clock;
    o.seconds = 1e9;
    start_race(c, r, 3, 5);
    c[1].run = run_crippled;
    check_ok(sp_race(out, c + 1, 2, &o));
    assert_true(out[1].speedup > 500);

    start_race(c, r, 3, 5);
    r[1].runs = 0;
    c[1].run = run_crippled;
    o.plain = 2;
    check_ok(sp_race(out, c, 3, &o));
    assert_int_equal(out[2].baseline, 0);
    assert_true(fabs(out[2].speedup - 4) < 0.2);
    assert_true(out[2].compared >= 6);
    assert_true(out[0].speedup == 1 && out[0].low == 1);
}

/* A plain way far behind costs three rounds, and is asked again when the
 * other one becomes slow after all. */
static void plain_ways_sit_out_and_come_back(void **state)
{
    runner r[3] = {{4e-3, 0, 0}, {1.2e-3, 0, 0}, {0.6e-3, 0.02, 0}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[3];
    sp_racer out[3];

    (void)state;
    o.clock = fake_clock;
    o.seconds = 1e9;
    o.plain = 2;
    start_race(c, r, 3, 5);
    check_ok(sp_race(out, c, 3, &o));
    assert_int_equal(out[2].baseline, 1);
    assert_true(fabs(out[2].speedup - 2) < 0.1);
    assert_true(out[0].dropped);
    assert_int_equal(r[0].runs, 1 + 3); /* the first is to warm up */

    start_race(c, r, 3, 5);
    r[0].runs = r[1].runs = 0;
    c[1].run = run_crippled;
    o.precision = 0;
    check_ok(sp_race(out, c, 3, &o));
    assert_int_equal(out[2].baseline, 0);
    assert_true(fabs(out[2].speedup - 4 / 0.6) < 0.4);
    assert_in_range(out[2].compared, 6, out[2].pairs - 1);
}

static void pairs_cancel_a_drifting_machine(void **state)
{
    runner r[2] = {{1.1e-3, 0, 0}, {1e-3, 0, 0}};
    sp_contestant c[2] = {{run_drifting, &r[0]}, {run_drifting, &r[1]}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_racer out[2];

    (void)state;
    now = 0;
    o.clock = fake_clock;
    o.pairs = SP_RACE_PAIRS;
    check_ok(sp_race(out, c, 2, &o));
    assert_true(fabs(out[1].speedup - 1.1) < 0.02);
    assert_true(out[1].low > 1.05);
}

static void time_ends_a_race_after_one_round_at_least(void **state)
{
    runner r[2] = {{100, 0, 0}, {50, 0, 0}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[2];
    sp_racer out[2];

    (void)state;
    o.clock = fake_clock;
    start_race(c, r, 2, 0);
    check_ok(sp_race(out, c, 2, &o));
    assert_int_equal(out[1].pairs, 1);
    assert_int_equal(out[1].repeat, 1);
    check_near(out[1].speedup, 2);
    assert_true(out[1].low < 1.02); /* one pair proves nothing */
    assert_int_equal(r[0].runs, 2); /* warm-up and sample */
}

static int after_some(void *arg)
{
    return --*(int *)arg < 0;
}

static void callers_can_end_a_race(void **state)
{
    runner r[2] = {{1, 0.1, 0}, {1, 0.1, 0}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[2];
    sp_racer out[2];
    int patience = 2 + 2 * 2 + 1; /* calibration, two rounds and a half */

    (void)state;
    o.clock = fake_clock;
    o.seconds = 1e9;
    o.between = after_some;
    o.arg = &patience;
    start_race(c, r, 2, 0);
    assert_int_equal(sp_race(out, c, 2, &o), SPRY_STOPPED);
    assert_int_equal(out[0].pairs, 2);
    assert_int_equal(out[1].pairs, 2);
    assert_true(out[1].seconds > 0);
}

static void the_least_rounds_are_run_however_long_they_take(void **state)
{
    runner r[2] = {{1, 0.1, 0}, {1, 0.1, 0}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[2];
    sp_racer out[2];

    (void)state;
    o.clock = fake_clock;
    o.seconds = 0.5;
    start_race(c, r, 2, 0);
    check_ok(sp_race(out, c, 2, &o));
    assert_int_equal(out[1].pairs, 1);
    o.least = 9;
    start_race(c, r, 2, 0);
    check_ok(sp_race(out, c, 2, &o));
    assert_int_equal(out[1].pairs, 9);
    o.clear = 6;
    start_race(c, r, 2, 0);
    check_ok(sp_race(out, c, 2, &o));
    assert_int_equal(out[1].pairs, 9); /* as fast as the other */
    r[1].seconds = 0.5;
    start_race(c, r, 2, 0);
    check_ok(sp_race(out, c, 2, &o));
    assert_int_equal(out[1].pairs, 6);
    assert_true(out[1].low > 1.02);
}

static void who_ran_just_now_needs_no_trial_run(void **state)
{
    runner r[2] = {{1, 0, 0}, {1e-4, 0, 0}};
    const double once[2] = {1.1, 0.5}; /* the second was disturbed */
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[2];
    sp_racer out[2];

    (void)state;
    o.clock = fake_clock;
    o.pairs = 2;
    o.once = once;
    start_race(c, r, 2, 0);
    check_ok(sp_race(out, c, 2, &o));
    assert_int_equal(r[0].runs, 2);
    assert_true(out[1].repeat >= 10); /* still a sample of 1 ms */
    check_near(out[1].seconds, 1e-4);
}

static void cold_races_run_once_per_sample(void **state)
{
    runner r[1] = {{1e-6, 0, 0}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[1];
    sp_racer out[1];

    (void)state;
    o.clock = fake_clock;
    o.evict_bytes = 1 << 20;
    o.pairs = 2;
    start_race(c, r, 1, 0);
    check_ok(sp_race(out, c, 1, &o));
    assert_int_equal(out[0].repeat, 1);
    assert_int_equal(r[0].runs, 3);
}

static void races_refuse_nonsense_and_leak_nothing(void **state)
{
    runner r[1] = {{1, 0, 0}};
    sp_race_options o = SP_RACE_DEFAULTS;
    sp_contestant c[1];
    sp_racer out[1];
    int64_t live = sp_alloc_live();

    (void)state;
    o.clock = fake_clock;
    o.evict_bytes = 4096;
    start_race(c, r, 1, 0);
    assert_int_equal(sp_race(out, c, 0, &o), SPRY_USAGE);
    for (int n = 1; n <= 3; n++) {
        sp_alloc_refuse(n, 0);
        assert_int_equal(sp_race(out, c, 1, &o), SPRY_SYSTEM);
    }
    sp_alloc_refuse(0, 0);
    o.pairs = SP_RACE_PAIRS + 1;
    assert_int_equal(sp_race(out, c, 1, &o), SPRY_USAGE);
    assert_int_equal(sp_alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_and_quantiles),
        cmocka_unit_test(median_interval_has_the_known_ranks),
        cmocka_unit_test(few_samples_are_trusted_less),
        cmocka_unit_test(median_interval_is_between_ranks),
        cmocka_unit_test(median_interval_covers),
        cmocka_unit_test(geometric_mean_with_bounds),
        cmocka_unit_test(equals_are_not_told_apart),
        cmocka_unit_test(the_faster_wins_and_the_slower_leaves),
        cmocka_unit_test(a_crippled_loop_is_no_baseline),
        cmocka_unit_test(plain_ways_sit_out_and_come_back),
        cmocka_unit_test(pairs_cancel_a_drifting_machine),
        cmocka_unit_test(time_ends_a_race_after_one_round_at_least),
        cmocka_unit_test(callers_can_end_a_race),
        cmocka_unit_test(the_least_rounds_are_run_however_long_they_take),
        cmocka_unit_test(who_ran_just_now_needs_no_trial_run),
        cmocka_unit_test(cold_races_run_once_per_sample),
        cmocka_unit_test(races_refuse_nonsense_and_leak_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
