/* internal.h - the orders, and what several of them share. */
#ifndef SP_ORDER_INTERNAL_H
#define SP_ORDER_INTERNAL_H

#include "order/order.h"

extern const sp_order sp_order_destination, sp_order_source, sp_order_blocked,
    sp_order_clustered, sp_order_go, sp_order_ego, sp_order_anneal;

/* Edges by the block of their target, blocks ascending; by source within,
 * descending in the first block, ascending in the next, and so on.
 * Valid when no block's neurons depend on each other or on a later block;
 * block[neurons] of inputs is not looked at. O(n + m) */
spry_status sp_order_by_block(int32_t *edge, const spry_network *n,
                              const int32_t *block, int64_t blocks);

#endif
