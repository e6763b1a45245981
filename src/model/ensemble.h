/* ensemble.h - the trees of the model spry. */
#ifndef SP_ENSEMBLE_H
#define SP_ENSEMBLE_H

#include "model/dataset.h"
#include "model/trees.h"

/* Trees whose sum, added to the bound, is the log of time over the baseline's;
 * test, which may have no rows, says when to stop. */
spry_status sp_ensemble_grow(sp_trees *out, const sp_dataset *train,
                             const sp_dataset *test, const sp_fitting *l);

#endif
