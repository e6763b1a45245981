/* distil.h - a dataset for the factored head, given by the trees. */
#ifndef SP_DISTIL_H
#define SP_DISTIL_H

#include "model/dataset.h"
#include "model/trees.h"

/* The rows of t and, for each subject whose matrix is at hand, nests and
 * relatives of its schedules that nobody measured. `slower` is what the trees
 * say; where it was measured, halfway to that. out->from is not set. */
spry_status sp_distil(sp_dataset *out, const sp_dataset *t,
                      const sp_trees *trees, uint64_t seed, int threads);

#endif
