/* go.h - GO, an order of a graph's vertices. */
#ifndef SP_ORDER_GO_H
#define SP_ORDER_GO_H

#include "order/internal.h"

/* A directed graph, both ways. */
typedef struct {
    int64_t vertices;
    const int64_t *out_start, *in_start; /* [vertices + 1] */
    const int32_t *out, *in;             /* neighbours */
} sp_graph;

/* Fill vertex[g->vertices]. With `along`, every vertex comes behind all its
 * in-neighbours; g is then acyclic. Of o, window and progress count. */
spry_status sp_go_order(int32_t *vertex, const sp_graph *g, int along,
                        const spry_order_options *o);

#endif
