/* kinds.h - one cost model per file; the table names them. */
#ifndef SP_KINDS_H
#define SP_KINDS_H

#include "model/cost.h"

extern const sp_cost_kind sp_cost_analytic, sp_cost_gbdt, sp_cost_gbdt_leaf,
    sp_cost_mlp, sp_cost_sequence, sp_cost_sequence_rank, sp_cost_spry,
    sp_cost_waconet;

#endif
