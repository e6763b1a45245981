/* internal.h - the orders, and what several of them share. */
#ifndef SP_ORDER_INTERNAL_H
#define SP_ORDER_INTERNAL_H

#include "order/order.h"

extern const sp_order sp_order_destination, sp_order_source, sp_order_blocked,
    sp_order_clustered, sp_order_go, sp_order_ego, sp_order_anneal;

#endif
