/* best.c - of the orders that are made at once, the one that moves least. */
#include <string.h>

#include "order/internal.h"

spry_status sp_order_count(int64_t *io, const int32_t *edge,
                           const spry_network *n, int64_t memory)
{
    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;
    spry_io counted = {.size = sizeof counted};
    spry_status s;

    o.memory = memory;
    s = spry_simulate(&counted, n, edge, &o);
    *io = counted.reads + counted.writes;
    return s;
}

/* Annealing takes as long as it is given. */
static int is_made_at_once(const sp_order *order)
{
    return order != &sp_order_anneal;
}

static spry_status find_best(int64_t *io, int32_t *edge, int32_t *other,
                             const spry_network *n, const spry_order_options *o)
{
    spry_status s = SPRY_OK;

    *io = INT64_MAX;
    for (int i = 0; s == SPRY_OK && sp_plain_order(i); i++) {
        int64_t count = 0;

        if (!is_made_at_once(sp_plain_order(i)))
            continue;
        s = sp_plain_order(i)->make(other, n, o);
        if (s == SPRY_OK)
            s = sp_order_count(&count, other, n, o->memory);
        if (s == SPRY_OK && count < *io) {
            *io = count;
            memcpy(edge, other, (size_t)n->edges * sizeof *edge);
        }
    }
    return s;
}

spry_status sp_order_best(int64_t *io, int32_t *edge, const spry_network *n,
                          const spry_order_options *o)
{
    int32_t *other = sp_alloc_raw(n->edges, sizeof *other);
    spry_status s = other ? find_best(io, edge, other, n, o)
                          : sp_fail_memory((size_t)n->edges * sizeof *other);

    sp_free(other);
    return s;
}
