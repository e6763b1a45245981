/* order_plain.c - the orders that need no thought: by destination, which is
 * how edges are stored, and by source. Both are valid because neurons are
 * numbered along the edges. */
#include <string.h>

#include "order/internal.h"

static spry_status by_destination(int32_t *edge, const spry_network *n,
                                  const spry_order_options *o)
{
    (void)o;
    for (int64_t k = 0; k < n->edges; k++)
        edge[k] = (int32_t)k;
    return SPRY_OK;
}

static spry_status by_source(int32_t *edge, const spry_network *n,
                             const spry_order_options *o)
{
    sp_fanout f;
    spry_status s = sp_fanout_make(&f, n);

    (void)o;
    if (s == SPRY_OK && n->edges > 0)
        memcpy(edge, f.edge, (size_t)n->edges * sizeof *edge);
    sp_fanout_free(&f);
    return s;
}

const sp_order sp_order_destination = {
    "destination", "all edges into a neuron together, neurons by number",
    by_destination};

const sp_order sp_order_source = {
    "source", "all edges out of a neuron together, neurons by number",
    by_source};
