/* lookup.c - what the store already knows. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "tune/internal.h"
#include "tune/story.h"

/* The machine as it was probed when the answer was found, else as it is. */
static spry_machine known_machine(sp_tuner *t)
{
    spry_machine known;

    return !t->m.probed && sp_tune_known_machine(&known, t) ? known : t->m;
}

static spry_status glance(const sp_tuner *t, const spry_plan *plan)
{
    void *oracle = NULL;
    spry_status s = t->family->ask(&oracle, t->p, t->opt.seed, SP_TO_GLANCE);

    if (s == SPRY_OK)
        s = t->family->glance(oracle, plan);
    t->family->forget(oracle);
    return s;
}

/* A store may be stale or damaged, so its word is not enough: the plan must
 * give right results before it is handed out. */
spry_status sp_tune_answered(spry_plan **out, sp_tuner *t, const spry_answer *a)
{
    spry_tuning story = {.looked_up = 1, .verified = 1};
    spry_status s = t->family->make(out, t->p, a->schedule, &t->m, NULL);

    if (s == SPRY_OK)
        s = glance(t, *out);
    if (s != SPRY_OK) {
        spry_plan_free(*out);
        *out = NULL;
        return s;
    }
    snprintf(story.best, sizeof story.best, "%s", a->schedule);
    snprintf(story.baseline, sizeof story.baseline, "%s", a->baseline);
    story.machine = known_machine(t);
    story.baseline_seconds = a->baseline_seconds;
    story.seconds = a->seconds;
    story.speedup = a->speedup;
    story.low = a->low;
    story.high = a->high;
    story.changed = strcmp(a->schedule, a->baseline) != 0;
    story.convert_seconds = spry_plan_pack_seconds(*out);
    story.tuning_seconds = sp_seconds() - t->begun;
    story.break_even_calls = sp_break_even(&story);
    memcpy(story.note, t->note, sizeof story.note);
    s = sp_story_attach(*out, &story, NULL, 0);
    if (s != SPRY_OK) {
        spry_plan_free(*out);
        *out = NULL;
    }
    return s;
}

/* What cannot be made again, say without a compiler, or is not right, is tuned
 * anew. */
static void look_up_in(spry_plan **out, sp_tuner *t, spry_records *db)
{
    spry_answer a;
    int found = 0;

    if (db &&
        spry_records_find(db, &a, &found, t->p->key, t->m.fingerprint,
                          t->opt.calls, t->opt.effort) == SPRY_OK &&
        found)
        (void)sp_tune_answered(out, t, &a);
}

spry_status sp_tune_lookup(spry_plan **out, sp_tuner *t)
{
    *out = NULL;
    if (t->opt.again)
        return SPRY_OK;
    look_up_in(out, t, t->db);
    if (!*out)
        look_up_in(out, t, t->site);
    return SPRY_OK;
}
