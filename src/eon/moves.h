/* moves.h - an order made by large moves, each chosen by a small scorer.
 *
 * Some neurons are *open*: their sums are being made. A move opens one more
 * neuron, or runs a source: all its edges into open neurons, one after the
 * other. A neuron closes when its last edge has run. Blocked is one way to
 * move (open a block, run its sources in turn, open the next), so whoever
 * chooses well is at least as good. */
#ifndef SP_EON_MOVES_H
#define SP_EON_MOVES_H

#include "eon/memory.h"

/* Sources that may run, by how many edges they have into open neurons. */
typedef struct {
    int32_t *first, *last; /* [most + 1] of each gain's list */
    int32_t *next, *prev;  /* [neurons] */
    int64_t most, top;     /* largest gain there can be; there is now, or 0 */
} sp_gains;

typedef struct {
    const spry_network *net;
    sp_fanout out;
    sp_memory memory;
    int32_t *edge; /* [edges] the order as far as it is made; not owned */
    int64_t made;  /* edges in it */
    /* Edges still to run, first in the list of each end. */
    int32_t *out_edge, *out_place; /* [edges] of a source; where it is */
    int32_t *out_to;               /* [edges] where out_edge leads */
    int32_t *in_edge, *in_place;   /* [edges] of a target; where it is */
    int32_t *waits;                /* [neurons] in-edges not ready to run */
    uint8_t *open;                 /* [neurons] */
    int32_t *gain;                 /* [neurons] edges to open neurons */
    sp_gains gains;                /* of ready sources with a gain */
    int64_t open_count, open_edges, gaining; /* sources with a gain */
    sp_linked openable; /* neurons whose sources are all ready */
    int64_t clock;      /* grows with every neuron that is used */
    int64_t *touched;   /* [neurons] when it was used last */
    int32_t last_run;   /* the source that ran last */
    int32_t last_opened;
    int upwards; /* which way the sweep goes */
    int opening; /* the last move opened a neuron */
} sp_moves;

/* Borrows n. */
spry_status sp_moves_open(sp_moves *m, const spry_network *n, int64_t memory);
void sp_moves_close(sp_moves *m);
/* Nothing is run; the order goes into edge[edges], which is borrowed. */
void sp_moves_begin(sp_moves *m, int32_t *edge);

static inline int sp_moves_done(const sp_moves *m)
{
    return m->made == m->net->edges;
}

/* v is openable. */
void sp_moves_open_neuron(sp_moves *m, int32_t v);
/* u has a gain. */
void sp_moves_run_source(sp_moves *m, int32_t u);

/* Reads and writes of the whole order, once it is made. */
int64_t sp_moves_io(const sp_moves *m);

#endif
