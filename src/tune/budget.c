/* budget.c - the answer comes when it was asked for.
 *
 * A budget that the caller names is kept within a fifth, or 0.3 s if that is
 * more: the heats and the final run in children, which are ended in time to
 * make the winner, check it and hand it over. What cannot be done in it by any
 * means is refused at once, with the seconds that it takes. */
#include "tune/budget.h"

#include <math.h>

#include "base/base.h"
#include "tune/internal.h"

static const double MORE_SHARE = 0.2, MORE_LEAST = 0.3;

/* Of what is allowed beyond the budget, this much is aimed at: a machine at
 * other work, and what is guessed too low, need the rest. */
static const double AIMED = 0.4, GUESSED_LOW = 1.5;

/* A whole check takes as long as so many brief ones, which compare one run. */
static const double WHOLE_CHECK = 5;

/* The least that a tune does, in plain runs and in seconds: right answers, two
 * plain ways and a candidate that are packed, checked and raced, and a final.
 * Counted on a machine with two threads. */
static const double LEAST_RUNS = 30, LEAST_SECONDS = 0.15;

/* Where no budget is named, long runs get time for so many: two heats and a
 * final of three. Beyond MOST_SECONDS a user would rather be asked. */
static const double ENOUGH_RUNS = 40, MOST_SECONDS = 60;

/* A first look at a machine takes about so long. */
static const double PROBE_SECONDS = 1.5, PROBE_SHARE = 0.2;

double sp_budget_more(double asked)
{
    return fmax(MORE_SHARE * asked, MORE_LEAST);
}

double sp_budget_least(double plain)
{
    return LEAST_SECONDS + LEAST_RUNS * plain;
}

void sp_budget_begin(sp_tuner *t)
{
    double asked = t->opt.seconds;

    t->end = asked > 0 ? t->begun + asked + AIMED * sp_budget_more(asked) : 0;
}

void sp_budget_stretch(sp_tuner *t, double plain)
{
    double enough = fmin(LEAST_SECONDS + ENOUGH_RUNS * plain, MOST_SECONDS);

    if (t->end <= 0)
        t->opt.seconds = fmax(t->opt.seconds, enough);
}

int sp_budget_has_time_to_probe(const sp_tuner *t)
{
    return t->end <= 0 || PROBE_SECONDS <= PROBE_SHARE * t->opt.seconds;
}

/* Heats end before the final begins. Where no budget was asked for, a first
 * probe of the machine takes its time from them, but not all of it. */
void sp_budget_set_deadline(sp_tuner *t)
{
    double least = sp_seconds() + t->opt.seconds / 2;

    t->deadline = t->begun + t->opt.seconds * (1 - SP_FINAL_SHARE);
    if (t->deadline < least && t->end <= 0)
        t->deadline = least;
    else if (t->deadline < sp_seconds()) /* a first heat there is */
        t->deadline = t->end;
}

spry_status sp_budget_check(const sp_tuner *t, double plain)
{
    double need = sp_budget_least(plain);

    if (t->end <= 0 || need <= t->opt.seconds + sp_budget_more(t->opt.seconds))
        return SPRY_OK;
    return sp_fail(SPRY_BUDGET,
                   "a run takes about %.2g s, so that tuning takes %.2g s at "
                   "least; the budget is %.2g s",
                   plain, need, t->opt.seconds);
}

/* Who is likely to be handed out: the fastest so far, else the baseline. */
static const sp_result *likely(const sp_tuner *t)
{
    const sp_result *best = sp_baseline(t);

    for (int i = t->baselines; i < t->count; i++) {
        const sp_result *r = &sp_results(t)[i];

        if (r->done && r->verdict == SPRY_VERDICT_OK &&
            sp_result_pace(r) < sp_result_pace(best))
            best = r;
    }
    return best;
}

static double whole_check(const sp_tuner *t, const sp_result *r)
{
    return r->check_seconds * (t->family->checks_fast(t->p) ? 1 : WHOLE_CHECK);
}

double sp_budget_to_hand_over(const sp_tuner *t)
{
    const sp_result *r = likely(t);
    double check = t->in_final ? r->check_seconds : whole_check(t, r);

    return GUESSED_LOW * ((t->made ? 0 : r->pack_seconds) + check);
}

int sp_budget_is_over(const sp_tuner *t)
{
    return t->end > 0 && sp_seconds() + sp_budget_to_hand_over(t) > t->end;
}

double sp_budget_left(const sp_tuner *t)
{
    double asked = t->opt.seconds;

    return t->end > 0 ? t->begun + asked + sp_budget_more(asked) - sp_seconds()
                      : HUGE_VAL;
}

/* Nothing was faster so far: there is nothing to prove. */
int sp_budget_final_is_due(const sp_tuner *t)
{
    const sp_result *base = sp_baseline(t), *best = likely(t);
    int one = (int)(best - sp_results(t));
    double rounds = SP_FINAL_FEWEST / sp_family_whole(t->family, t->oracle);
    double race = rounds * (base->racer.seconds + best->racer.seconds);

    return t->end > 0 && !t->in_final && best != base &&
           sp_seconds() + GUESSED_LOW * race + sp_budget_for_final(t, &one, 1) +
                   sp_budget_to_hand_over(t) >
               t->end;
}

double sp_budget_for_final(const sp_tuner *t, const int *finalist, int n)
{
    const sp_result *base = sp_baseline(t);
    double need = base->pack_seconds + base->check_seconds;

    for (int i = 0; i < n; i++) {
        const sp_result *r = &sp_results(t)[finalist[i]];

        need += r->pack_seconds + whole_check(t, r);
    }
    return need;
}
