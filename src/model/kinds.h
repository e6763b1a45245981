/* kinds.h - one cost model per file; the table names them. */
#ifndef SP_KINDS_H
#define SP_KINDS_H

#include "model/cost.h"

extern const sp_cost_kind sp_cost_analytic;

#endif
