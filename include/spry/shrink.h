/* shrink.h - passes that make a network smaller and keep what it computes.
 *
 * A pass turns a network into another one that has, for every input, the same
 * outputs as real numbers. Passes regroup sums and remove what cannot affect an
 * output; a weight or a bias is only changed where its new value is exact in
 * float. So where sums are exact, as with small integers, the outputs are equal
 * bit for bit; elsewhere they differ as two orders of summation do. Values are
 * assumed to be finite.
 *
 * Inputs and outputs stay as they are, in number and order, and a chained
 * network stays chained. */
#ifndef SPRY_SHRINK_H
#define SPRY_SHRINK_H

#include "spry/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

/* The i-th pass's name and one line about it, or NULL past the last. */
const char *spry_pass_name(int i);
const char *spry_pass_help(int i);

/* Parse a choice of passes: "all" (or NULL), "none", or names as in
 * "merge,dead". Bit i of *out is pass i; SPRY_USAGE for an unknown name. */
spry_status spry_passes_parse(unsigned *out, const char *passes);

enum { SPRY_PASSES_MOST = 8 };

typedef struct {
    size_t size; /* sizeof (spry_graph_report) */
    int64_t nominal_layers, nominal_neurons, nominal_edges; /* before, */
    int64_t layers, neurons, edges;                         /* and after */
    struct {
        int64_t neurons, edges; /* removed; below 0: added */
        double seconds;
    } pass[SPRY_PASSES_MOST];
    double seconds; /* of all, reading layers included */
} spry_graph_report;

/* Run the passes, bits as above; report may be NULL. */
spry_status spry_network_compile(spry_network **out, const spry_network *n,
                                 unsigned passes, spry_graph_report *report);
/* The same, layer by layer: only some layers of the source and the result are
 * held, never the whole network. */
spry_status spry_layers_compile(spry_network **out, spry_layers *from,
                                unsigned passes, spry_graph_report *report);

/* ---- when values stop changing ----
 *
 * In a chained network the values can reach a state that no later layer
 * changes. These are the layers, from 0, from which on that holds; n->layers
 * where it never does. */
typedef struct {
    size_t size;  /* sizeof (spry_rest) */
    int64_t zero; /* if all values of this layer or a later one are 0, all
                     outputs will be */
    int64_t full; /* if all values of this layer or a later one that clamps
                     are at its limit, all outputs will be `limit` */
    float limit;  /* of the last layer */
} spry_rest;

/* Proved for any order of summation in float, in O(edges). */
spry_status spry_network_rest(spry_rest *out, const spry_network *n);

#ifdef __cplusplus
}
#endif
#endif
