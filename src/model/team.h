/* team.h - the trees of the model spry. */
#ifndef SP_TEAM_H
#define SP_TEAM_H

#include "model/lesson.h"
#include "model/trees.h"

/* Trees whose sum, added to the bound, is the log of time over the baseline's;
 * test, which may have no rows, says when to stop. */
spry_status sp_team_grow(sp_trees *out, const sp_lesson_table *train,
                         const sp_lesson_table *test, const sp_lesson *l);

#endif
