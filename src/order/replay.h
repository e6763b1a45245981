/* replay.h - the I/O of an order that keeps changing a little. */
#ifndef SP_ORDER_REPLAY_H
#define SP_ORDER_REPLAY_H

#include "order/internal.h"
#include "order/linked.h"

/* Memory under LRU as spry_simulate has it, neuron by neuron. Its state is
 * kept before every `every`-th edge; so a change is run from the state before
 * it until the states agree again, and no further. */
typedef struct {
    const spry_network *net;
    const int32_t *target; /* [edges] by edge */
    const int32_t *edge;   /* [edges] the order; its owner changes it */
    int64_t room;          /* neurons that fit into memory */
    int64_t every, blocks; /* edges from a kept state to the next */
    int64_t total;         /* reads and writes of the whole order */
    int32_t *last;         /* [neurons] the last place that uses each */
    uint8_t *worth;        /* [neurons] what it is needed for at all */
    /* What is known of each block: the neurons in memory before it, newest
     * first, each as 2 neuron + changed; and its reads and writes. The one
     * behind the last holds the writes in the end. */
    int32_t *kept, *kept_count, *cost;
    int32_t *tried, *tried_count, *tried_cost; /* the same after a change */
    int64_t tried_first, tried_end, tried_total;
    /* The memory. */
    sp_linked by_use; /* neurons, the one used last at its end */
    uint8_t *state;   /* [neurons] */
    int64_t held;
} sp_replay;

/* Borrows all but itself. */
spry_status sp_replay_open(sp_replay *r, const spry_network *n,
                           const int32_t *target, const int32_t *edge,
                           int64_t memory);
void sp_replay_close(sp_replay *r);

/* The edges at places from .. end - 1 were changed: how much more is read
 * and written? Given up, as INT64_MAX, when it turns out to be more than
 * `most`. Follow it by one of the other two. */
int64_t sp_replay_try(sp_replay *r, int64_t from, int64_t end, int64_t most);
void sp_replay_keep(sp_replay *r);
/* After the edges were changed back. */
void sp_replay_forget(sp_replay *r, int64_t from, int64_t end);

#endif
