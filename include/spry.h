/* spry.h - all doors of spry.
 *
 * Every function stands under a tier, a line "==== tier ====" above it:
 *
 *   simple        what most programs need: read a matrix, state the problem,
 *                 tune, run, free. These stay as they are from version to
 *                 version.
 *   advanced      for programs that look inside or steer: machines, schedules,
 *                 predictions, records, forms of networks. They may grow; what
 *                 changes is said in the changelog.
 *   experimental  for research: WACO's space, collecting, learning, orders of
 *                 edges. They may change with every version.
 *
 * An options struct begins with its `size`, so that programs built against an
 * older header go on working. Read in this order: status, matrix, problem,
 * tune, plan. */
#ifndef SPRY_H
#define SPRY_H

/* Simple, with more advanced things further down in each of them. */
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
