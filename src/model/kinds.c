/* kinds.c - the table of cost models. */
#include "model/kinds.h"

#include <string.h>

const sp_cost_kind *const sp_cost_kinds[] = {
    &sp_cost_spry,          &sp_cost_waconet,   &sp_cost_mlp,
    &sp_cost_gbdt,          &sp_cost_gbdt_leaf, &sp_cost_sequence,
    &sp_cost_sequence_rank, &sp_cost_analytic,  NULL,
};

const sp_cost_kind *sp_cost_kind_find(const char *name)
{
    for (int i = 0; sp_cost_kinds[i]; i++)
        if (!strcmp(sp_cost_kinds[i]->name, name))
            return sp_cost_kinds[i];
    return NULL;
}
