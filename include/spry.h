/* spry.h - the whole C interface: every header of include/spry.
 *
 * Every function belongs to a tier, named by a line "==== tier ====" above it:
 *
 *   simple        what most programs need: read a matrix, state the problem,
 *                 tune, run, free. These do not change between versions.
 *   advanced      for programs that inspect or control what spry does:
 *                 machines, schedules, predictions, records, forms of
 *                 networks. These may change; CHANGELOG.md says how.
 *   experimental  for research: the SuperSchedule space of WACO (Won et al.,
 *                 ASPLOS 2023), collecting measurements, training, orders of
 *                 a network's edges. These may change with every version.
 *
 * An options struct begins with its `size`, so that programs built against an
 * older header keep working. Read the headers in this order: status, matrix,
 * problem, tune, plan. */
#ifndef SPRY_H
#define SPRY_H

/* Simple; the advanced functions come further down in each. */
#include "spry/inference.h"
#include "spry/matrix.h"
#include "spry/network.h"
#include "spry/plan.h"
#include "spry/problem.h"
#include "spry/status.h"
#include "spry/tensor.h"
#include "spry/tune.h"

/* Advanced. */
#include "spry/dense.h"
#include "spry/form.h"
#include "spry/jit.h"
#include "spry/machine.h"
#include "spry/model.h"
#include "spry/records.h"
#include "spry/report.h"
#include "spry/schedule.h"
#include "spry/shrink.h"

/* Experimental. */
#include "spry/collect.h"
#include "spry/eon.h"
#include "spry/fleet.h"
#include "spry/graph.h"
#include "spry/import.h"
#include "spry/order.h"
#include "spry/space.h"
#include "spry/train.h"

#endif
