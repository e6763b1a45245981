/* network.h - what other rooms may do with networks beyond the public door.
 *
 * Chained networks come from a layer source, which yields one layer at a
 * time; gather.c makes one network of them. Graphs of any shape come from
 * dag.c. Both end in sp_network_adopt, the one place where a network is
 * checked. */
#ifndef SP_NETWORK_H
#define SP_NETWORK_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "spry/network.h"

/* ---- networks (network.c) ---- */

/* A network in the making: the fields of spry_network, still writable. */
typedef struct {
    int64_t neurons, inputs, outputs, layers, edges;
    int64_t *first, *start;
    int32_t *source;
    float *weight, *bias;
    spry_activation *activation;
    int32_t *output;
    int bias_on_nonzero;
} sp_parts;

/* All arrays for the counts that are set in p; zeroed, but for the edges. */
spry_status sp_parts_alloc(sp_parts *p);
void sp_parts_free(sp_parts *p);

/* Check the parts and make them a network, which owns the arrays from then
 * on; on failure they are freed. When `file` is not NULL the arrays lie in
 * it, and it is owned or freed instead. `name` begins sentences. */
spry_status sp_network_adopt(spry_network **out, sp_parts *p, sp_file *file,
                             const char *name);

/* Neurons of the widest layer, inputs not counted; in-edges of the neuron
 * that has most. */
int64_t sp_network_widest(const spry_network *n);
int64_t sp_network_most_edges(const spry_network *n);

/* The layer of each neuron, -1 of inputs, into layer[neurons]. */
void sp_network_layer_of(int32_t *layer, const spry_network *n);

/* ReLU and clamp let NaN through, as NumPy and PyTorch do. */
static inline float sp_activate(spry_activation a, float x)
{
    switch (a.curve) {
    case SPRY_RELU: return x < 0 ? 0 : x;
    case SPRY_CLAMP: return x < 0 ? 0 : x > a.limit ? a.limit : x;
    case SPRY_TANH: return tanhf(x);
    case SPRY_SIGMOID: return 1 / (1 + expf(-x));
    case SPRY_LINEAR: break;
    }
    return x;
}

static inline double sp_activate_exactly(spry_activation a, double x)
{
    switch (a.curve) {
    case SPRY_RELU: return x < 0 ? 0 : x;
    case SPRY_CLAMP:
        return x < 0 ? 0 : x > (double)a.limit ? (double)a.limit : x;
    case SPRY_TANH: return tanh(x);
    case SPRY_SIGMOID: return 1 / (1 + exp(-x));
    case SPRY_LINEAR: break;
    }
    return x;
}

/* What a neuron makes of the sum over its in-edges. */
static inline float sp_finish(spry_activation a, float sum, float bias,
                              int bias_on_nonzero)
{
    return sp_activate(a, sum + (bias_on_nonzero && sum == 0 ? 0 : bias));
}

/* For comparing floats as they are stored. */
static inline uint32_t sp_float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* sp_fail_memory, for those who have to see that it is not SPRY_OK. */
static inline spry_status sp_no_memory(size_t bytes)
{
    (void)sp_fail_memory(bytes);
    return SPRY_SYSTEM;
}

/* ---- out-edges (fanout.c) ---- */

/* The other side of the in-edges: edges by the neuron they leave. */
typedef struct {
    int64_t *start;  /* [neurons + 1] */
    int32_t *edge;   /* [edges] numbers of edges, ascending within a neuron */
    int32_t *target; /* [edges] where edge k leads to, k its number */
} sp_fanout;
spry_status sp_fanout_make(sp_fanout *out, const spry_network *n);
void sp_fanout_free(sp_fanout *f);

/* ---- layers into a network (gather.c) ---- */

/* What is gathered so far, and how much the arrays would hold. */
typedef struct {
    sp_parts net;
    int64_t layer_room, neuron_room, edge_room;
} sp_gather;

/* `edges`: how many there will be, as far as known. After a failure of any
 * of these, sp_gather_free; sp_gather_end frees in any case. */
spry_status sp_gather_begin(sp_gather *g, int64_t inputs, int64_t edges);
spry_status sp_gather_add(sp_gather *g, const spry_layer *layer);
spry_status sp_gather_end(spry_network **out, sp_gather *g);
void sp_gather_free(sp_gather *g);

#endif
