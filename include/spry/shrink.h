/* shrink.h - a network made smaller that computes the same.
 *
 * A pass is a map from networks to networks. "The same" means: for every
 * input, every output is the same real number. Passes regroup sums and leave
 * out what cannot matter; a weight or a bias is only changed where its new
 * value is exact in float. So where sums are exact, as with small integers,
 * the outputs are equal bit for bit, and else they differ as two orders of
 * summation do. Values are taken to be finite.
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

/* Which passes: "all" (NULL is the same), "none", or names: "merge,dead".
 * Bit i of *out is pass i; SPRY_USAGE when there is no such name. */
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

/* Passes are bits as above; report may be NULL. */
spry_status spry_network_compile(spry_network **out, const spry_network *n,
                                 unsigned passes, spry_graph_report *report);
/* The same of layers as they come: what is held is some layers of the source
 * and the result, not the network. */
spry_status spry_layers_compile(spry_network **out, spry_layers *from,
                                unsigned passes, spry_graph_report *report);

/* ---- where values come to rest ----
 *
 * In a chained network an input can come to a state that no later layer
 * changes. Layers count from 0; n->layers where it is not so. */
typedef struct {
    size_t size;  /* sizeof (spry_rest) */
    int64_t zero; /* all values of this layer or a later one are 0: so will
                     be all outputs */
    int64_t full; /* all values of this layer or a later one, if it clamps,
                     are at its limit: all outputs will be `limit` */
    float limit;  /* of the last layer */
} spry_rest;

/* Proved for any order of summation in float; one walk over the edges. */
spry_status spry_network_rest(spry_rest *out, const spry_network *n);

#ifdef __cplusplus
}
#endif
#endif
