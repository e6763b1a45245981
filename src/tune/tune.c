/* tune.c - one problem in, one plan out.
 *
 * spry_tune below is the whole tuner, to be read aloud: know the machine and
 * the store, look up, else propose, race, let winners breed, race the best
 * again in a fresh process, and switch only when the lower bound says so. */
#include "spry/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "records/records.h"
#include "tune/internal.h"
#include "tune/story.h"

/* Fewer calls than this many seconds of plain work are not worth a race. */
static const double WORTH_TUNING = 0.05;

spry_status sp_tune_begin(sp_tuner *t, const spry_problem *p,
                          const spry_tune_options *opt)
{
    static const spry_tune_options defaults = SPRY_TUNE_DEFAULTS;

    memset(t, 0, sizeof *t);
    t->opt = defaults;
    t->p = p;
    t->best = -1;
    t->begun = sp_seconds();
    if (SP_TAKE_OPTIONS(&t->opt, opt) != SPRY_OK ||
        sp_family_need(&t->family, p) != SPRY_OK)
        return SPRY_USAGE;
    if (!(t->opt.seconds >= 0 && t->opt.calls >= 0 && t->opt.threads >= 0))
        return sp_fail(SPRY_USAGE, "seconds, calls and threads are not "
                                   "negative");
    SP_REFUSE((unsigned)t->opt.effort > SPRY_PATIENT, "%d is no effort",
              (int)t->opt.effort);
    sp_budget_begin(t);
    return t->opt.search ? t->family->can_search(t->opt.search) : SPRY_OK;
}

void sp_tune_end(sp_tuner *t)
{
    spry_plan_free(t->made);
    if (t->family) {
        t->family->forget(t->oracle);
        t->family->dismiss(t->adviser);
    }
    sp_free(t->list.list);
    if (t->shared.data)
        sp_shared_close(&t->shared);
    spry_records_close(t->db);
    spry_records_close(t->site);
}

/* ---- choosing without measuring ---- */

static double predicted(const sp_tuner *t, const char *text)
{
    sp_proposal x = {.threads = 0};

    if (!t->adviser)
        return t->family->estimate(t->p, text, &t->m);
    snprintf(x.text, sizeof x.text, "%s", text);
    t->family->predict(t->adviser, &x, 1);
    return x.predicted;
}

static sp_proposal likely_baseline(const sp_tuner *t)
{
    sp_proposal plain[SP_BASELINES];
    int n = t->family->baselines(plain, t->p, &t->m), best = 0;

    for (int i = 0; i < n; i++) {
        plain[i].predicted = predicted(t, plain[i].text);
        if (plain[i].predicted < plain[best].predicted)
            best = i;
    }
    return plain[best];
}

/* ---- handing over ---- */

static spry_trial trial_of(const sp_result *r)
{
    spry_trial out = {.verdict = r->verdict,
                      .predicted = r->x.predicted,
                      .pack_seconds = r->pack_seconds,
                      .bytes = r->bytes};

    memcpy(out.schedule, r->x.text, sizeof out.schedule);
    memcpy(out.why, r->why, sizeof out.why);
    if (r->verdict == SPRY_VERDICT_OK) {
        out.seconds = r->racer.seconds;
        out.speedup = r->racer.speedup;
        out.low = r->racer.low;
        out.high = r->racer.high;
        out.pairs = r->racer.pairs;
    }
    return out;
}

static spry_status attach(spry_plan *plan, sp_tuner *t, spry_tuning *story)
{
    spry_trial *trial = sp_alloc(SP_RESULTS, sizeof *trial);
    spry_status s;
    int n = 0;

    if (!trial)
        return sp_fail_memory(SP_RESULTS * sizeof *trial);
    for (int i = 0; t->shared.data && i < t->count; i++)
        if (sp_results(t)[i].done)
            trial[n++] = trial_of(&sp_results(t)[i]);
    story->machine = t->m;
    story->stopped = t->stopped;
    story->convert_seconds = spry_plan_pack_seconds(plan);
    story->tuning_seconds = sp_seconds() - t->begun;
    story->break_even_calls = sp_break_even(story);
    memcpy(story->note, t->note, sizeof story->note);
    if (t->adviser)
        memcpy(story->model, t->adviser->who, sizeof story->model);
    s = sp_story_attach(plan, story, trial, n);
    sp_free(trial);
    return s;
}

/* Who came through the final was checked whole there, in another process. */
static spry_status verify(const sp_tuner *t, const spry_plan *plan)
{
    double seconds;

    if (!t->oracle)
        return spry_plan_check(plan, t->opt.seed);
    return t->checked && !t->family->checks_fast(t->p)
               ? t->family->try_once(t->oracle, plan, sp_seconds, &seconds)
               : t->family->check(t->oracle, plan);
}

/* The first finalist's plan, or a new one. */
static spry_status make(spry_plan **out, sp_tuner *t, const char *text)
{
    *out = t->made;
    t->made = NULL;
    if (*out && strcmp(spry_plan_text(*out), text) == 0)
        return SPRY_OK;
    spry_plan_free(*out);
    return t->family->make(out, t->p, text, &t->m, NULL);
}

/* Make, verify and tell. */
static spry_status hand_over(spry_plan **out, sp_tuner *t, spry_tuning *story)
{
    spry_status s = make(out, t, story->best);

    if (s == SPRY_OK)
        s = verify(t, *out);
    if (s == SPRY_OK) {
        story->verified = 1;
        s = attach(*out, t, story);
    }
    if (s != SPRY_OK) {
        spry_plan_free(*out);
        *out = NULL;
    }
    return s;
}

/* ---- measuring ---- */

const sp_result *sp_baseline(const sp_tuner *t)
{
    return sp_heats_baseline(sp_results(t), t->baselines);
}

/* The plain ways were raced against the first of them; in the end all
 * ratios are to the fastest. */
static void rescale_baselines(sp_tuner *t)
{
    const sp_result *base = sp_baseline(t);
    double by = base->racer.speedup;

    for (int i = 0; by > 0 && i < t->baselines; i++) {
        sp_racer *r = &sp_results(t)[i].racer;
        int itself = &sp_results(t)[i] == base;

        r->speedup /= by;
        r->low = itself ? 1 : r->low / by;
        r->high = itself ? 1 : r->high / by;
    }
}

static spry_status search(sp_tuner *t)
{
    int from, added = 1;
    spry_status s = sp_tune_heats(t, 0);

    while (s == SPRY_OK && !t->stopped && !t->late && !t->due && added &&
           sp_tuner_left(t) > 0.1 * t->opt.seconds) {
        int leader = t->best;

        from = t->count;
        s = sp_tune_evolve(t, &added);
        if (s == SPRY_OK && added)
            s = sp_tune_heats(t, from);
        if (leader == t->best && t->opt.effort != SPRY_PATIENT)
            break; /* a generation without progress */
    }
    return s;
}

static void set_text(char out[SPRY_SCHEDULE_TEXT], const char *text)
{
    snprintf(out, SPRY_SCHEDULE_TEXT, "%s", text);
}

/* The favourite, if it promises enough. */
static spry_status favourite(char best[SPRY_SCHEDULE_TEXT], sp_tuner *t)
{
    spry_status s = sp_tune_open_results(t);

    if (s == SPRY_OK)
        s = sp_tune_propose(t);
    if (s == SPRY_OK && t->list.count > 0)
        set_text(best, t->list
                           .list[t->family->choose(t->adviser, t->list.list,
                                                   t->list.count, t->baselines)]
                           .text);
    return s;
}

/* The model's favourite, or the plain loop when nothing was asked of it. */
static spry_status choose_unmeasured(spry_plan **out, sp_tuner *t, int model)
{
    spry_tuning story = {.changed = 0};
    spry_status s = model ? sp_tune_consult(t) : SPRY_OK;
    sp_proposal plain;

    if (s != SPRY_OK)
        return s;
    plain = likely_baseline(t);
    set_text(story.best, plain.text);
    set_text(story.baseline, plain.text);
    story.baseline_seconds = plain.predicted;
    if (model)
        s = favourite(story.best, t);
    if (s != SPRY_OK)
        return s;
    story.changed = strcmp(story.best, story.baseline) != 0;
    story.seconds = predicted(t, story.best);
    story.speedup = story.baseline_seconds / story.seconds;
    story.low = story.high = story.speedup;
    return hand_over(out, t, &story);
}

/* Room for results, and for proposals to become results. */
spry_status sp_tune_open_results(sp_tuner *t)
{
    t->list.most = SP_RESULTS - SP_FINALISTS;
    t->list.list = sp_alloc(t->list.most, sizeof *t->list.list);
    if (!t->list.list)
        return sp_fail_memory((size_t)t->list.most * sizeof *t->list.list);
    return sp_shared_open(&t->shared, SP_RESULTS * sizeof(sp_result));
}

static spry_status start_measuring(sp_tuner *t)
{
    spry_status s = t->family->ask(&t->oracle, t->p, t->opt.seed, SP_TO_CHECK);

    if (s == SPRY_OK)
        s = sp_tune_open_results(t);
    t->least = t->family->least(t->p, &t->m);
    if (s == SPRY_OK && t->db)
        (void)sp_origin_add(t->db, t->p, t->opt.source, NULL);
    return s;
}

/* Time ended, somebody said stop, or the plain loop did not come through,
 * before anything was measured. */
static spry_status stay_unmeasured(spry_plan **out, sp_tuner *t)
{
    const sp_result *plain = sp_baseline(t);
    char why[280];

    if (plain->done)
        snprintf(why, sizeof why,
                 "the plain loop could not be measured, %s: nothing is known "
                 "of its speed",
                 *plain->why ? plain->why : spry_verdict_name(plain->verdict));
    else if (t->stopped)
        snprintf(why, sizeof why,
                 "stopped before anything was measured: nothing is known of "
                 "its speed");
    else
        snprintf(why, sizeof why,
                 "%.2g s ended before anything was measured: nothing is known "
                 "of its speed",
                 t->opt.seconds);
    sp_tuner_note(t, why);
    return choose_unmeasured(out, t, 0);
}

static spry_status measure(spry_plan **out, sp_tuner *t)
{
    spry_tuning story = {.changed = 0};
    spry_status s = sp_budget_check(t, likely_baseline(t).predicted);

    if (s == SPRY_OK)
        s = start_measuring(t);
    if (s == SPRY_OK)
        s = sp_tune_consult(t);
    if (s == SPRY_OK) {
        sp_budget_stretch(t, likely_baseline(t).predicted);
        s = sp_tune_propose(t);
    }
    sp_budget_set_deadline(t);
    if (s == SPRY_OK)
        s = search(t);
    if (s == SPRY_OK &&
        (!sp_baseline(t)->done || sp_baseline(t)->verdict != SPRY_VERDICT_OK))
        return stay_unmeasured(out, t);
    if (s == SPRY_OK)
        s = sp_tune_decide(t, &story);
    if (s == SPRY_OK)
        rescale_baselines(t);
    if (s == SPRY_OK)
        s = hand_over(out, t, &story);
    if (s == SPRY_WRONG && story.changed) { /* stopped before the final */
        sp_tuner_note(t, spry_message());
        sp_tune_stay(t, &story);
        s = hand_over(out, t, &story);
    }
    if (s == SPRY_OK) {
        sp_tune_conclude(t, &story, *out);
        sp_tune_learn(t);
    }
    return s;
}

/* Would all the calls together take less time than finding a better way? */
static int too_few_calls(sp_tuner *t)
{
    double all = t->opt.calls * likely_baseline(t).predicted;
    char why[160];

    if (t->opt.calls == 0 || all > WORTH_TUNING)
        return 0;
    snprintf(why, sizeof why,
             "%.0f calls take about %.2g s in all, too little to tune for",
             t->opt.calls, all);
    sp_tuner_note(t, why);
    return 1;
}

/* Is a plain loop all that is asked for? */
static int plain_will_do(sp_tuner *t)
{
    return t->opt.effort == SPRY_LOOKUP || t->p->kind->nothing(t->p) ||
           too_few_calls(t);
}

/* What was frozen, and nothing else. */
static spry_status obey(spry_plan **out, sp_tuner *t, const char *lock)
{
    spry_status s = sp_tune_locked(out, t, lock);

    if (s != SPRY_OK || *out)
        return s;
    if (!plain_will_do(t))
        return SPRY_STORE;
    sp_tuner_note(t, spry_message());
    return choose_unmeasured(out, t, 0);
}

/* A server that goes away does not use the budget up. */
static void bound_stores(sp_tuner *t)
{
    double until = t->end > 0 ? t->end : HUGE_VAL;

    sp_store_until(t->db, until);
    sp_store_until(t->site, until);
}

static spry_status find(spry_plan **out, sp_tuner *t)
{
    spry_status s = sp_tune_open_stores(t);

    bound_stores(t);
    if (s == SPRY_OK)
        s = sp_tune_lookup(out, t);
    if (s != SPRY_OK || *out)
        return s;
    sp_tune_know_machine(t);
    if (t->opt.effort == SPRY_LOOKUP)
        sp_tuner_note(t, "no store has an answer");
    if (plain_will_do(t))
        return choose_unmeasured(out, t, 0);
    return t->opt.effort == SPRY_PREDICT ? choose_unmeasured(out, t, 1)
                                         : measure(out, t);
}

spry_status spry_tune(spry_plan **out, const spry_problem *p,
                      const spry_tune_options *opt)
{
    SP_NEED_NEW(out, p);

    sp_tuner t;
    char lock[4096];
    spry_status s;

    s = sp_tune_begin(&t, p, opt);
    if (s == SPRY_OK)
        s = sp_tune_prepare(&t);
    if (s == SPRY_OK)
        s = sp_tune_lock(lock, sizeof lock, &t) ? obey(out, &t, lock)
                                                : find(out, &t);
    sp_tune_end(&t);
    return s;
}
