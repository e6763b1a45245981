/* least.h - a bound from below on the seconds of a problem. */
#ifndef SP_LEAST_H
#define SP_LEAST_H

#include "problem/sparse.h"
#include "spry/machine.h"

/* No schedule of p runs faster on m; 0: nothing to do. Holds within what a
 * middling core differs from m where that was not probed. */
double sp_model_least(const sp_sparse *p, const spry_machine *m);

#endif
