/* story.c - what is told about a tune. */
#include "tune/story.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "plan/plan.h"

typedef struct {
    spry_tuning story;
    spry_trial trial[];
} block;

spry_status sp_story_attach(spry_plan *plan, const spry_tuning *story,
                            const spry_trial *trial, int trials)
{
    size_t bytes = sizeof(block) + (size_t)trials * sizeof *trial;
    block *b = sp_alloc(1, bytes);

    if (!b)
        return sp_fail_memory(bytes);
    b->story = *story;
    if (trials)
        memcpy(b->trial, trial, (size_t)trials * sizeof *trial);
    b->story.trials = trials;
    b->story.trial = b->trial;
    sp_plan_attach(plan, b, sp_free);
    return SPRY_OK;
}

const spry_tuning *spry_plan_tuning(const spry_plan *plan)
{
    SP_NEED_OR(NULL, plan);
    return plan->story ? &((const block *)plan->story)->story : NULL;
}

double spry_tuning_convert_runs(const spry_tuning *t)
{
    static const double SHORTEST_RUN = 1e-9;

    SP_NEED_OR((double)NAN, t);
    return t->baseline_seconds < SHORTEST_RUN
               ? (double)NAN
               : t->convert_seconds / t->baseline_seconds;
}

double sp_break_even(const spry_tuning *story)
{
    double gain = story->baseline_seconds - story->seconds;

    if (!story->changed)
        return 0;
    return gain > 0
               ? ceil((story->convert_seconds + story->tuning_seconds) / gain)
               : HUGE_VAL;
}
