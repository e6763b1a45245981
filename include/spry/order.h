/* order.h - the order in which a network's edges run, and its simulated I/O.
 *
 * An order lists every edge once, with the in-edges of a neuron before all of
 * its out-edges. */
#ifndef SPRY_ORDER_H
#define SPRY_ORDER_H

#include "spry/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== experimental ==== */

typedef struct {
    size_t size;    /* of this struct */
    int64_t window; /* how many edges the orders GO and EGO look back */
    int64_t memory; /* neurons that the fast memory to order for holds */
    int64_t block;  /* outputs held at once; 0: memory / 2, or fewer when
                       their sums would not stay in memory */
    uint64_t seed;
    double seconds; /* for orders that are improved step by step */
    /* Called now and then; return nonzero to stop: with SPRY_STOPPED or, if an
     * order is being improved, with SPRY_OK and the best so far. May be NULL.
     */
    int (*progress)(int64_t done, int64_t of, void *payload);
    void *payload;
    int64_t moves; /* attempts at improving; 0: as many as the time allows. Only
                      a fixed number gives the same order each time */
    const char *model; /* model file of the order eon; NULL: the shipped one */
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

/* Order the vertices of a graph so that neighbours, and vertices with common
 * in-neighbours, are within `window` places of each other: GO of Wei et al.,
 * 2016. Row i of the square matrix m has an edge to each of its columns;
 * vertex[m->rows] becomes the vertices, first to last. */
spry_status spry_vertices_order(int32_t *vertex, const spry_matrix *m,
                                int64_t window);

/* ---- simulated I/O ----
 *
 * To run an edge, its source and its target must be in fast memory. What is
 * missing is read (initially an input or a bias). What is evicted is written if
 * it was changed since it was read and is still needed; what is not needed any
 * more is dropped at once, at no cost. Weights are streamed and counted apart,
 * unless edges share them, as those of a convolution do: then the weight, too,
 * must be in fast memory. */

typedef enum {
    SPRY_LRU, /* evict the least recently used */
    SPRY_RR,  /* evict in the order of arrival: round-robin */
    SPRY_MIN  /* evict the one whose next use is furthest away (Belady) */
} spry_policy;

typedef struct {
    size_t size;    /* of this struct */
    int64_t memory; /* neurons that fast memory holds, at least two lines */
    int64_t line;   /* neurons per line: neighbours that are moved together */
    spry_policy policy;
    /* [edges] for shared weights: the number, below `weights`, of each edge's
     * weight. They are stored contiguously, and read and held as neurons are.
     * NULL: every edge has its own, which is streamed. */
    const int32_t *weight;
    int64_t weights;
} spry_simulate_options;
#define SPRY_SIMULATE_DEFAULTS                                   \
    {                                                            \
        sizeof(spry_simulate_options), 128, 1, SPRY_LRU, NULL, 0 \
    }

/* The I/O of an order in lines of neurons, and the bounds of Gleinig et al.,
 * 2023. With one read of each weight added, the bounds on reads plus writes are
 * those of the paper: W + N + S and 2 (W + N - I). */
typedef struct {
    size_t size; /* sizeof (spry_io) */
    int64_t reads, writes;
    int64_t weight_reads; /* of the reads, those of shared weights */
    int64_t least_reads, least_writes; /* every order needs at least these */
    int64_t most_reads, most_writes;   /* one neuron after the other needs no
                                          more than these */
    int64_t stream_bytes; /* sources, targets and weights, read once */
    int64_t total_bytes;  /* the stream and the lines */
} spry_io;

/* Simulate a valid order. options NULL: the defaults. */
spry_status spry_simulate(spry_io *out, const spry_network *n,
                          const int32_t *edge,
                          const spry_simulate_options *options);

/* Number the distinct weights: weight[edges] for spry_simulate_options, and
 * their count in *weights. So edges of a convolution share weights again. */
spry_status spry_weights_shared(int32_t *weight, int64_t *weights,
                                const spry_network *n);

/* "lru", "rr", "min"; NULL past the last. */
const char *spry_policy_name(spry_policy p);

#ifdef __cplusplus
}
#endif
#endif
