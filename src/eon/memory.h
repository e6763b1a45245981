/* memory.h - fast memory under LRU, one edge at a time. */
#ifndef SP_EON_MEMORY_H
#define SP_EON_MEMORY_H

#include "eon/eon.h"
#include "order/linked.h"
#include "spry/eon.h"

/* Memory as spry_simulate has it, neuron by neuron: the same reads and
 * writes, while the order is still being made. */
typedef struct {
    const spry_network *net;
    const sp_fanout *out;
    int64_t room, held;
    sp_linked by_use;    /* the neurons present, the one used last at its end */
    uint8_t *present;    /* [neurons] */
    uint8_t *changed;    /* [neurons] since it was read */
    uint8_t *is_output;  /* [neurons] */
    int32_t *ins, *outs; /* [neurons] edges still to come */
    int64_t reads, writes;
} sp_memory;

/* Borrows n and out. */
spry_status sp_memory_open(sp_memory *m, const spry_network *n,
                           const sp_fanout *out, int64_t room);
void sp_memory_close(sp_memory *m);
/* Empty again, all edges to come. */
void sp_memory_reset(sp_memory *m);

/* Run the edge u -> v; the reads and writes that it cost. */
int sp_memory_run(sp_memory *m, int32_t u, int32_t v);
/* Writes that are owed behind the last edge. */
int64_t sp_memory_owed(const sp_memory *m);

#endif
