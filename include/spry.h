/* spry.h - all doors of spry. Start with matrix, problem, tune and plan. */
#ifndef SPRY_H
#define SPRY_H

#include "spry/collect.h"
#include "spry/eon.h"
#include "spry/form.h"
#include "spry/import.h"
#include "spry/jit.h"
#include "spry/machine.h"
#include "spry/matrix.h"
#include "spry/model.h"
#include "spry/network.h"
#include "spry/order.h"
#include "spry/plan.h"
#include "spry/problem.h"
#include "spry/records.h"
#include "spry/report.h"
#include "spry/schedule.h"
#include "spry/shrink.h"
#include "spry/space.h"
#include "spry/status.h"
#include "spry/tensor.h"
#include "spry/train.h"
#include "spry/tune.h"

#endif
