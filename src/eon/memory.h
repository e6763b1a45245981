/* memory.h - fast memory under LRU, one edge at a time. */
#ifndef SP_EON_MEMORY_H
#define SP_EON_MEMORY_H

#include "eon/eon.h"
#include "spry/eon.h"

enum { SP_NOBODY = -1 };

/* Memory as spry_simulate has it, neuron by neuron: the same reads and
 * writes, while the order is still being made. */
typedef struct {
    const spry_network *net;
    const sp_fanout *out;
    int64_t room, held;
    int32_t *older, *newer; /* [neurons] neighbours among those present */
    int32_t oldest, newest; /* SP_NOBODY: memory is empty */
    uint8_t *present;       /* [neurons] */
    uint8_t *changed;       /* [neurons] since it was read */
    uint8_t *is_output;     /* [neurons] */
    int32_t *ins, *outs;    /* [neurons] edges still to come */
    int64_t reads, writes;
} sp_memory;

/* Borrows n and out. */
spry_status sp_memory_open(sp_memory *m, const spry_network *n,
                           const sp_fanout *out, int64_t room);
void sp_memory_close(sp_memory *m);
/* Empty again, all edges to come. */
void sp_memory_reset(sp_memory *m);

/* Reads and writes that running the edge u -> v would cost. */
int sp_memory_cost(const sp_memory *m, int32_t u, int32_t v);
/* Run it; what it did cost. */
int sp_memory_run(sp_memory *m, int32_t u, int32_t v);
/* Writes that are owed behind the last edge. */
int64_t sp_memory_owed(const sp_memory *m);

#endif
