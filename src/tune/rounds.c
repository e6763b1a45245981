/* rounds.c - the tuner's heats, and its final. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "tune/internal.h"

/* Without a sign of life for so long, a trial has failed. */
static const double PATIENCE = 20;

enum { SIDE_BY_SIDE = 3 };

/* Keep the store, the leader and the caller up to date. */
static int watch(void *arg)
{
    sp_tuner *t = arg;
    spry_progress now = {
        sp_seconds() - t->begun, t->deadline - t->begun, 0, t->count, 1, ""};

    sp_tune_remember(t);
    for (int i = 0; i < t->count; i++)
        now.trials += sp_results(t)[i].done;
    if (t->best >= 0) {
        now.best_speedup = sp_results(t)[t->best].racer.speedup;
        now.best = sp_results(t)[t->best].x.text;
    }
    if (t->opt.progress && t->opt.progress(&now, t->opt.payload))
        t->stopped = 1;
    t->late |= sp_budget_is_over(t);
    t->due |= sp_budget_final_is_due(t);
    return t->stopped || t->late || (t->due && !t->in_final);
}

static sp_heats heats_of(sp_tuner *t, const sp_race_options *o)
{
    return (sp_heats){.p = t->p,
                      .family = t->family,
                      .m = &t->m,
                      .oracle = t->oracle,
                      .whole = sp_family_whole(t->family, t->oracle),
                      .shared = &t->shared,
                      .baselines = t->baselines,
                      .least = t->least,
                      .deadline = t->deadline,
                      .seed = t->opt.seed,
                      .wide = SIDE_BY_SIDE,
                      .o = *o,
                      .patience = PATIENCE,
                      .watch = watch,
                      .arg = t};
}

spry_status sp_tune_heats(sp_tuner *t, int from)
{
    double share = t->opt.seconds / 12;
    sp_race_options o = {
        .seconds = share > 2 ? 2 : share, .pairs = 9, .precision = 0.03};
    sp_heats h = heats_of(t, &o);
    spry_status s;

    h.brief = 1; /* the final is not */
    h.predicted =
        t->adviser && t->adviser->trusted && t->opt.effort == SPRY_MEASURE;
    s = t->stopped ? SPRY_OK : sp_heats_run(&h, from, t->count);
    if (h.predicted) /* decided: whoever had no turn is out */
        while (t->count > from && !sp_results(t)[t->count - 1].done)
            t->count--;
    watch(t);
    return s;
}

/* ---- the final ---- */

static int contains(const int *list, int n, int item)
{
    while (n > 0)
        if (list[--n] == item)
            return 1;
    return 0;
}

/* Two texts of one kind begin with the same word. */
static int alike(const char *a, const char *b)
{
    size_t n = strcspn(a, " ");

    return n == strcspn(b, " ") && strncmp(a, b, n) == 0;
}

static int kind_taken(const sp_tuner *t, const int *taken, int n, int item)
{
    while (n > 0)
        if (alike(sp_results(t)[taken[--n]].x.text, sp_results(t)[item].x.text))
            return 1;
    return 0;
}

/* The fastest verified result that can be compared and is neither a baseline
 * nor `taken`; anew: of a kind that is not, either. */
static int fastest(const sp_tuner *t, const int *taken, int n, int anew)
{
    int best = -1;

    for (int i = t->baselines; i < t->count; i++) {
        const sp_result *r = &sp_results(t)[i];

        if (r->done && r->verdict == SPRY_VERDICT_OK &&
            sp_result_is_comparable(t, r) && !contains(taken, n, i) &&
            !(anew && kind_taken(t, taken, n, i)) &&
            (best < 0 ||
             sp_result_pace(r) < sp_result_pace(&sp_results(t)[best])))
            best = i;
    }
    return best;
}

/* Heats are short and each has a mood of its own, so that the best of another
 * kind may have looked slower than it is: such come before more of the kind
 * that looked fastest. */
static const double NOT_FAR = 0.6;

static int pick(const sp_tuner *t, const int *taken, int n)
{
    int other = n > 0 ? fastest(t, taken, n, 1) : -1;

    return other >= 0 && NOT_FAR * sp_result_pace(&sp_results(t)[other]) <
                             sp_result_pace(&sp_results(t)[taken[0]])
               ? other
               : fastest(t, taken, n, 0);
}

/* Enough for an interval, whatever the budget says. */
enum { ROUNDS = 9 };

/* Of the budget, for the race itself, however long packing took: what was
 * found with so much effort is not to fail for want of a few short runs. */
static const double LEAST_SHARE = 0.1;

/* So many rounds, of as many finalists as fit into what is left of the
 * budget; 0: there is no time even for the first. */
static double final_seconds(const sp_tuner *t, const int *finalist, int *n)
{
    double left = t->begun + t->opt.seconds - sp_seconds();
    double rounds = ROUNDS / sp_family_whole(t->family, t->oracle);
    double need = rounds * sp_baseline(t)->racer.seconds, latest;

    for (int i = 0; i < *n; i++) {
        double more = rounds * sp_results(t)[finalist[i]].racer.seconds;
        double before = sp_budget_for_final(t, finalist, i + 1);

        if (i > 0 && need + more + before > left)
            *n = i;
        else
            need += more;
    }
    latest = t->end > 0 ? t->end - sp_seconds() -
                              sp_budget_for_final(t, finalist, *n) -
                              sp_budget_to_hand_over(t)
                        : HUGE_VAL;
    need *= (double)SP_FINAL_FEWEST / ROUNDS;
    if (latest < need)
        return 0;
    return fmin(latest, fmax(fmax(left, LEAST_SHARE * t->opt.seconds), need));
}

/* What it seemed to be in its heat is not proven. */
static void doubt(sp_tuner *t, sp_result *in_heat, const sp_result *in_final)
{
    char why[400];

    snprintf(why, sizeof why, "not proven: %.200s came out %s",
             in_final->x.text, in_final->why);
    sp_tuner_note(t, why);
    *in_heat = *in_final;
}

/* The best few run again behind the others, in a child of their own, and
 * what comes out replaces what was measured in the heats. */
spry_status sp_tune_final(sp_tuner *t, int finalist[SP_FINALISTS], int *count)
{
    sp_race_options o = {.least = ROUNDS,
                         .clear = SP_FINAL_FEWEST,
                         .pairs = 31,
                         .precision = 0.015};
    sp_heats h;
    spry_status s;
    int n = 0, at = t->count;

    *count = 0;
    for (; n < SP_FINALISTS; n++) {
        finalist[n] = pick(t, finalist, n);
        if (finalist[n] < 0)
            break;
        sp_results(t)[at + n] = sp_results(t)[finalist[n]];
        sp_results(t)[at + n].done = 0;
    }
    if (n == 0)
        return SPRY_OK;
    t->in_final = 1;
    o.seconds = final_seconds(t, finalist, &n);
    if (o.seconds <= 0) {
        t->late = 1;
        t->in_final = 0;
        return SPRY_OK;
    }
    /* Most likely it wins and is handed out: packed once, not twice. */
    if (t->family->make(&t->made, t->p, sp_results(t)[at].x.text, &t->m,
                        NULL) != SPRY_OK)
        t->made = NULL; /* the child will say why */
    t->deadline = sp_seconds() + o.seconds + PATIENCE;
    h = heats_of(t, &o);
    h.made = t->made;
    h.made_for = at;
    h.wide = SP_FINALISTS; /* their own times decide between them */
    h.crowned = 1;
    s = sp_heats_run(&h, at, at + n);
    for (int i = 0; s == SPRY_OK && i < n; i++) {
        const sp_result *r = &sp_results(t)[at + i];

        if (r->done && r->verdict == SPRY_VERDICT_DOUBTFUL)
            doubt(t, &sp_results(t)[finalist[i]], r);
        if (!r->done || r->verdict != SPRY_VERDICT_OK)
            continue;
        sp_results(t)[finalist[i]] = *r;
        finalist[(*count)++] = finalist[i];
        sp_tune_keep(t, r);
    }
    return s;
}

double sp_result_beside(const sp_result *a, const sp_result *b)
{
    double ratio[SP_RACE_PAIRS];
    int n = 0;

    for (int i = 0; i < a->racer.pairs && i < b->racer.pairs; i++)
        if (a->racer.samples[i] > 0 && b->racer.samples[i] > 0)
            ratio[n++] = a->racer.samples[i] / b->racer.samples[i];
    return n > 0 ? sp_median(ratio, n) : b->racer.speedup / a->racer.speedup;
}
