/* order.h - what other rooms may do with edge orders beyond the public door.
 *
 * The table here holds the orders that need no model; eon/orders.c adds the
 * learned one and is where names are looked up for users. */
#ifndef SP_ORDER_H
#define SP_ORDER_H

#include "network/network.h"
#include "spry/order.h"

typedef struct {
    const char *name, *help;
    /* Fill edge[n->edges] with a valid order. Every option is set. */
    spry_status (*make)(int32_t *edge, const spry_network *n,
                        const spry_order_options *o);
} sp_order;

/* The i-th order that needs no model; NULL past the last. */
const sp_order *sp_plain_order(int i);

/* Fill edge[n->edges] with this order and check it. Of the options, what the
 * caller's struct does not reach, or all when it is NULL, is at its default. */
spry_status sp_order_make(int32_t *edge, const spry_network *n,
                          const sp_order *order,
                          const spry_order_options *given);

/* Reads and writes of a valid order under LRU with so many neurons. */
spry_status sp_order_count(int64_t *io, const int32_t *edge,
                           const spry_network *n, int64_t memory);

/* Fill edge[n->edges] with the order, of those that need neither a model nor
 * a time, that moves least; and what it moves. Every option is set. */
spry_status sp_order_best(int64_t *io, int32_t *edge, const spry_network *n,
                          const spry_order_options *o);

/* Tell the caller how far it is; SPRY_STOPPED when that is far enough. */
spry_status sp_order_progress(const spry_order_options *o, int64_t done,
                              int64_t of);

#endif
