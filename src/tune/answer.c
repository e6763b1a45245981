/* answer.c - who is handed out: what is surely faster, else the plain way. */
#include <stdio.h>

#include "tune/internal.h"

/* Never slower: the 95 % lower bound of the speed-up must exceed this. */
static const double WORTH = 1.02;

/* More threads than the baseline, in runs so short that one stolen core
 * makes them many times longer, must promise more than that. */
static const double SHORT_RUN = 2e-4, WORTH_THREADS = 1.25;

/* For a second of computing a core was taken away up to 20 times on an idle
 * machine of two cores, 160 times and more with a rival on each. */
static const double SHARED_CORES = 60;

/* The plain way that r's ratios are to, and its time in that race. */
static const sp_result *beaten(const sp_tuner *t, const sp_result *r)
{
    return &sp_results(t)[r->baseline];
}

/* While others use the cores, threads find each other in one process and wait
 * for each other in the next, a turn of the others long at every barrier: only a
 * plain way on as many threads can be compared with, that has as many. */
int sp_result_is_comparable(const sp_tuner *t, const sp_result *r)
{
    const sp_proposal *plain = &beaten(t, r)->x;

    return r->racer.preempted < SHARED_CORES ||
           (r->x.threads == plain->threads && r->x.barriers <= plain->barriers);
}

static double plain_seconds(const sp_result *r)
{
    return r->racer.seconds * r->racer.speedup;
}

/* Packing counts when the calls are numbered. */
static int pays(const sp_tuner *t, const sp_result *r)
{
    double gain = plain_seconds(r) * (1 - 1 / r->racer.low);

    return t->opt.calls == 0 || t->opt.calls * gain > r->pack_seconds;
}

static int surely_faster(const sp_tuner *t, const sp_result *r)
{
    int risky =
        r->x.threads > beaten(t, r)->x.threads && r->racer.seconds < SHORT_RUN;

    return r->racer.compared >= 6 && sp_result_is_comparable(t, r) &&
           r->racer.low > (risky ? WORTH_THREADS : WORTH);
}

static int may_win(const sp_tuner *t, const sp_result *r)
{
    return surely_faster(t, r) && pays(t, r);
}

/* The finalist that is surely faster and pays, or NULL. They ran side by side:
 * between them their own times decide, not those of a plain way that may take
 * many times as long. */
static const sp_result *winner(const sp_tuner *t, const int *finalist,
                               int count)
{
    const sp_result *win = NULL;

    for (int i = 0; i < count; i++) {
        const sp_result *r = &sp_results(t)[finalist[i]];

        if (may_win(t, r) && (!win || sp_result_beside(r, win) < 1))
            win = r;
    }
    return win;
}

/* Stopped before the final was over: of those who may win, the result that is
 * most surely faster. */
static const sp_result *surest(const sp_tuner *t)
{
    const sp_result *win = NULL;

    for (int i = t->baselines; i < t->count; i++) {
        const sp_result *r = &sp_results(t)[i];

        if (r->done && r->verdict == SPRY_VERDICT_OK && may_win(t, r) &&
            (!win || r->racer.low > win->racer.low))
            win = r;
    }
    return win;
}

static void copy(char out[SPRY_SCHEDULE_TEXT], const char *text)
{
    snprintf(out, SPRY_SCHEDULE_TEXT, "%s", text);
}

void sp_tune_stay(const sp_tuner *t, spry_tuning *story)
{
    story->changed = 0;
    copy(story->baseline, sp_baseline(t)->x.text);
    copy(story->best, sp_baseline(t)->x.text);
    story->baseline_seconds = story->seconds = sp_baseline(t)->racer.seconds;
    story->speedup = story->low = story->high = 1;
}

/* Say so if something seemed fast that could not be compared. */
static void note_incomparable(sp_tuner *t)
{
    int n = 0;

    for (int i = t->baselines; i < t->count; i++) {
        const sp_result *r = &sp_results(t)[i];

        n += r->done && r->verdict == SPRY_VERDICT_OK && r->racer.low > WORTH &&
             !sp_result_is_comparable(t, r);
    }
    if (n > 0)
        sp_tuner_note(t, "other processes used the cores: ways on more or "
                         "fewer threads than the plain loop, or whose threads "
                         "wait for each other more often, were left out; tune "
                         "again when it is quiet");
}

spry_status sp_tune_decide(sp_tuner *t, spry_tuning *story)
{
    int finalist[SP_FINALISTS], count = 0;
    const sp_result *win;
    spry_status s = SPRY_OK;

    if (!t->stopped && !t->late)
        s = sp_tune_final(t, finalist, &count);
    win = count == 0 && (t->stopped || t->late) ? surest(t)
                                                : winner(t, finalist, count);
    note_incomparable(t);
    t->checked = count > 0 && win;
    sp_tune_stay(t, story);
    if (win) {
        story->changed = 1;
        copy(story->baseline, beaten(t, win)->x.text);
        copy(story->best, win->x.text);
        story->speedup = win->racer.speedup;
        story->low = win->racer.low;
        story->high = win->racer.high;
        story->seconds = win->racer.seconds;
        story->baseline_seconds = plain_seconds(win);
    }
    return s;
}
