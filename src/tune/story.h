/* story.h - what is told about a tune, owned by its plan. */
#ifndef SP_STORY_H
#define SP_STORY_H

#include "spry/tune.h"

/* Copy the story and its trials onto the plan. */
spry_status sp_story_attach(spry_plan *plan, const spry_tuning *story,
                            const spry_trial *trial, int trials);

/* Runs until packing and tuning are paid for by the faster runs. */
double sp_break_even(const spry_tuning *story);

#endif
