/* test_budget.c - what a budget allows: computed, not timed. */
#include "check.h"

#include <string.h>

#include "base/base.h"
#include "tune/budget.h"
#include "tune/internal.h"

/* A tuner with room for some results, in the middle of a tune. */
typedef struct {
    sp_tuner t;
    sp_result result[8];
} tune_state;

static int checks_slowly(const spry_problem *p)
{
    (void)p;
    return 0;
}

static int checks_fast(const spry_problem *p)
{
    (void)p;
    return 1;
}

static sp_family slow_checks = {.checks_fast = checks_slowly};
static sp_family fast_checks = {.checks_fast = checks_fast};

static void begin(tune_state *x, double asked, double ago)
{
    memset(x, 0, sizeof *x);
    x->t.family = &slow_checks;
    x->t.shared.data = x->result;
    x->t.opt.seconds = asked;
    x->t.begun = sp_seconds() - ago;
    x->t.baselines = 2;
    x->t.count = 2;
    sp_budget_begin(&x->t);
}

static void set_result(sp_result *r, double speedup, double pack, double check)
{
    r->done = 1;
    r->verdict = SPRY_VERDICT_OK;
    r->racer.speedup = speedup;
    r->fastest = 1e-3 / speedup;
    r->pack_seconds = pack;
    r->check_seconds = check;
}

static void near(double got, double right)
{
    assert_true(got > right - 0.05 && got < right + 0.05);
}

/* ---- what is allowed ---- */

static void a_fifth_or_a_third_of_a_second_more(void **state)
{
    (void)state;
    near(sp_budget_more(0.1), 0.3);
    near(sp_budget_more(1.5), 0.3);
    near(sp_budget_more(10), 2);
}

/* The end lies behind the budget, but before what is allowed is over. */
static void the_end_leaves_a_margin(void **state)
{
    static const double asked[] = {0.2, 1, 5, 60};
    tune_state x;

    (void)state;
    for (int i = 0; i < 4; i++) {
        begin(&x, asked[i], 0);
        assert_true(x.t.end > x.t.begun + asked[i]);
        assert_true(x.t.end <
                    x.t.begun + asked[i] + sp_budget_more(asked[i]) * 0.9);
    }
    begin(&x, 0, 0);
    assert_true(x.t.end == 0); /* none was asked for */
    assert_false(sp_budget_is_over(&x.t));
}

static void what_cannot_be_done_is_refused(void **state)
{
    tune_state x;

    (void)state;
    begin(&x, 1, 0);
    check_ok(sp_budget_check(&x.t, 0.01));
    assert_int_equal(sp_budget_check(&x.t, 1), SPRY_BUDGET);
    assert_non_null(strstr(spry_message(), "the budget is 1 s"));
    assert_true(sp_budget_least(1) > 10 * sp_budget_least(0.01));
    begin(&x, sp_budget_least(1), 0); /* what it says suffices */
    check_ok(sp_budget_check(&x.t, 1));
    begin(&x, 0, 0);
    check_ok(sp_budget_check(&x.t, 1e6));
}

static void small_budgets_do_not_probe(void **state)
{
    tune_state x;

    (void)state;
    begin(&x, 0.5, 0);
    assert_false(sp_budget_has_time_to_probe(&x.t));
    begin(&x, 60, 0);
    assert_true(sp_budget_has_time_to_probe(&x.t));
    begin(&x, 0, 0);
    assert_true(sp_budget_has_time_to_probe(&x.t));
}

/* ---- when heats end ---- */

static void heats_leave_time_for_the_final(void **state)
{
    tune_state x;

    (void)state;
    begin(&x, 10, 0);
    sp_budget_set_deadline(&x.t);
    near(x.t.deadline - x.t.begun, 10 * (1 - SP_FINAL_SHARE));
    assert_true(x.t.deadline < x.t.end);
    begin(&x, 10, 9); /* preparing took nearly all: one heat there is */
    sp_budget_set_deadline(&x.t);
    near(x.t.deadline, x.t.end);
}

/* Where nobody named a budget, a probe does not take all of the usual time. */
static void usual_seconds_are_given_back_in_part(void **state)
{
    tune_state x;

    (void)state;
    begin(&x, 0, 9);
    x.t.opt.seconds = 10;
    sp_budget_set_deadline(&x.t);
    near(x.t.deadline - x.t.begun, 9 + 5);
}

/* ---- handing over ---- */

static void handing_over_counts_packing_and_checking(void **state)
{
    tune_state x;
    double baseline, candidate;

    (void)state;
    begin(&x, 10, 0);
    set_result(&x.result[0], 1, 0.1, 0.1);
    set_result(&x.result[1], 1, 0.1, 0.1);
    baseline = sp_budget_to_hand_over(&x.t);
    set_result(&x.result[2], 3, 0.5, 0.2); /* likely to win */
    x.t.count = 3;
    candidate = sp_budget_to_hand_over(&x.t);
    assert_true(candidate > baseline && candidate >= 0.5 + 0.2);
    x.t.family = &fast_checks; /* a brief check is a whole one */
    assert_true(sp_budget_to_hand_over(&x.t) < candidate);
    x.t.family = &slow_checks;
    x.t.in_final = 1; /* it is checked whole there */
    assert_true(sp_budget_to_hand_over(&x.t) < candidate);
    x.t.in_final = 0;
    x.result[2].verdict = SPRY_VERDICT_WRONG; /* no longer */
    near(sp_budget_to_hand_over(&x.t), baseline);
}

static void it_is_over_when_handing_over_just_fits(void **state)
{
    tune_state x;

    (void)state;
    begin(&x, 10, 7);
    set_result(&x.result[0], 1, 0.1, 0.01);
    assert_false(sp_budget_is_over(&x.t));
    set_result(&x.result[0], 1, 4, 0.01); /* takes so long to make */
    assert_true(sp_budget_is_over(&x.t));
    begin(&x, 10, 11);
    set_result(&x.result[0], 1, 0, 0);
    assert_true(sp_budget_is_over(&x.t));
}

static void a_final_packs_and_checks_all_of_it(void **state)
{
    static const int finalist[] = {2, 3};
    tune_state x;

    (void)state;
    begin(&x, 10, 0);
    set_result(&x.result[0], 1, 0.1, 0.2);
    set_result(&x.result[2], 2, 0.3, 0.1);
    set_result(&x.result[3], 2, 0.4, 0.1);
    x.t.family = &fast_checks;
    near(sp_budget_for_final(&x.t, finalist, 2), 0.3 + 0.4 + 0.5);
    near(sp_budget_for_final(&x.t, finalist, 1), 0.3 + 0.4);
    x.t.family = &slow_checks;
    assert_true(sp_budget_for_final(&x.t, finalist, 2) > 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fifth_or_a_third_of_a_second_more),
        cmocka_unit_test(the_end_leaves_a_margin),
        cmocka_unit_test(what_cannot_be_done_is_refused),
        cmocka_unit_test(small_budgets_do_not_probe),
        cmocka_unit_test(heats_leave_time_for_the_final),
        cmocka_unit_test(usual_seconds_are_given_back_in_part),
        cmocka_unit_test(handing_over_counts_packing_and_checking),
        cmocka_unit_test(it_is_over_when_handing_over_just_fits),
        cmocka_unit_test(a_final_packs_and_checks_all_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
