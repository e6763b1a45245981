/* order.h - the order in which a network's edges run, and what it costs.
 *
 * An order names every edge once, the in-edges of a neuron before all of its
 * out-edges. */
#ifndef SPRY_ORDER_H
#define SPRY_ORDER_H

#include "spry/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== experimental ==== */

typedef struct {
    size_t size;    /* of this struct */
    int64_t window; /* edges that GO, EGO look back to */
    int64_t memory; /* neurons of fast memory to order for */
    int64_t block;  /* outputs held at once; 0: memory / 2, or fewer when
                       their sums would not stay in memory */
    uint64_t seed;
    double seconds; /* time to improve an order in, for those that do */
    /* Called now and then; nonzero stops with SPRY_STOPPED, but an order that
     * is being improved ends well, as good as it is by then. May be NULL. */
    int (*progress)(int64_t done, int64_t of, void *payload);
    void *payload;
    int64_t moves; /* tries at improving; 0: as many as the time allows. Only
                      a number makes the same order each time */
    const char *model; /* file of what eon learned; NULL: the one shipped */
} spry_order_options;
#define SPRY_ORDER_DEFAULTS                                               \
    {                                                                     \
        sizeof(spry_order_options), 5, 128, 0, 1, 10, NULL, NULL, 0, NULL \
    }

/* Fill edge[n->edges] with the order called `name`. options NULL: the
 * defaults. */
spry_status spry_order_make(int32_t *edge, const spry_network *n,
                            const char *name,
                            const spry_order_options *options);
/* SPRY_OK when it is a valid order, else SPRY_WRONG and why; O(n + m). */
spry_status spry_order_check(const int32_t *edge, const spry_network *n);

/* The i-th order's name and one line about it, or NULL past the last. */
const char *spry_order_name(int i);
const char *spry_order_help(int i);

/* The vertices of a graph so that neighbours, and those with common
 * in-neighbours, lie within `window` places of each other: GO of Wei et al.,
 * 2016. Row i of the square matrix m has an edge to each of its columns;
 * vertex[m->rows] becomes the vertices, first to last. */
spry_status spry_vertices_order(int32_t *vertex, const spry_matrix *m,
                                int64_t window);

/* ---- simulated I/O ----
 *
 * Only what is in fast memory can be computed with. An edge needs its source
 * and its target there; what is missing is read, first of all the inputs and
 * biases, and what must leave is written if it was changed since and is still
 * needed; what is not needed any more leaves at once, for nothing. Weights
 * stream by and are counted apart, unless edges share them, as those of a
 * convolution do: then an edge is a triple of source, target and weight, and
 * needs all three there. */

typedef enum {
    SPRY_LRU, /* the one not used for longest leaves */
    SPRY_RR,  /* they leave in the order they came: round-robin */
    SPRY_MIN  /* the one not needed for longest leaves, as Belady would */
} spry_policy;

typedef struct {
    size_t size;    /* of this struct */
    int64_t memory; /* neurons that fast memory holds, at least two lines */
    int64_t line;   /* neurons that travel together, next to each other */
    spry_policy policy;
    /* [edges] the number, below `weights`, of the weight that an edge has;
     * they lie next to each other and are held and read as neurons are. NULL:
     * every edge has its own, which streams by. */
    const int32_t *weight;
    int64_t weights;
} spry_simulate_options;
#define SPRY_SIMULATE_DEFAULTS                                   \
    {                                                            \
        sizeof(spry_simulate_options), 128, 1, SPRY_LRU, NULL, 0 \
    }

/* Lines of neurons, and what the theory of Gleinig et al., 2023 says of
 * them. With a read of each weight the bounds on the sum of reads and writes
 * are those of the paper: W + N + S and 2 (W + N - I). */
typedef struct {
    size_t size; /* sizeof (spry_io) */
    int64_t reads, writes;
    int64_t weight_reads; /* of the reads, those of shared weights */
    int64_t least_reads, least_writes; /* any order needs as many */
    int64_t most_reads, most_writes;   /* some order needs no more: one neuron
                                          after the other */
    int64_t stream_bytes; /* sources, targets and weights, read once */
    int64_t total_bytes;  /* the stream and the lines */
} spry_io;

/* Run `edge`, a valid order, through such a memory. options NULL: the
 * defaults. */
spry_status spry_simulate(spry_io *out, const spry_network *n,
                          const int32_t *edge,
                          const spry_simulate_options *options);

/* Weights that are equal get one number: weight[edges], how many in *weights.
 * So the layers of a convolution, written as edges, share what they shared. */
spry_status spry_weights_shared(int32_t *weight, int64_t *weights,
                                const spry_network *n);

/* "lru", "rr", "min"; NULL past the last. */
const char *spry_policy_name(spry_policy p);

#ifdef __cplusplus
}
#endif
#endif
