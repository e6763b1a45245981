/* eon.h - what other rooms may do with all orders, the learned one too. */
#ifndef SP_EON_H
#define SP_EON_H

#include "order/order.h"

/* Reads and writes under LRU of the order called `name`; NULL: of the plain
 * one that moves least. */
spry_status sp_order_io(int64_t *out, const spry_network *n, const char *name,
                        int64_t memory);

#endif
