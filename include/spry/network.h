/* network.h - sparse feed-forward networks: read, generate, write, run plainly.
 *
 * A network is a directed graph of neurons, numbered so that every edge goes
 * from a smaller to a larger number: the inputs first, then layer by layer.
 * It is immutable once created, every index and weight checked, so threads may
 * share one without locks. A neuron's value is
 *
 *     value(v) = activation(bias(v) + sum over in-edges of weight * value(u))
 *
 * A layer source (spry_layers) yields a network one layer at a time and holds
 * no more than that: for networks larger than memory. */
#ifndef SPRY_NETWORK_H
#define SPRY_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "spry/matrix.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== simple ==== */

typedef enum {
    SPRY_LINEAR, /* x */
    SPRY_RELU,   /* max(x, 0) */
    SPRY_CLAMP,  /* min(max(x, 0), limit) */
    SPRY_TANH,
    SPRY_SIGMOID /* 1 / (1 + exp(-x)) */
} spry_curve;

typedef struct {
    spry_curve curve;
    float limit; /* of SPRY_CLAMP, else 0 */
} spry_activation;

/* Edge k comes from neuron source[k] and has weight[k]. Layer l is the neurons
 * first[l] .. first[l + 1] - 1. No edge stays within a layer: all sources of
 * layer l are below first[l]. */
typedef struct spry_network {
    int64_t neurons, inputs, outputs, layers, edges;
    const int64_t *first;  /* [layers + 1] first[0] = inputs */
    const int64_t *start;  /* [neurons + 1] first in-edge; inputs have none */
    const int32_t *source; /* [edges] ascending within a neuron, no repeats */
    const float *weight;   /* [edges] finite */
    const float *bias;     /* [neurons] finite; of inputs 0 */
    const spry_activation *activation; /* [layers] */
    const int32_t *output;             /* [outputs] the output neurons */
    int bias_on_nonzero; /* a sum that is 0 gets no bias, as in the Graph
                              Challenge */
    int chained; /* every edge comes from the preceding layer, and the outputs
                    are the last layer, in order */
    int64_t reserved[4]; /* 0 */
} spry_network;

/* What a file itself does not say. Start from SPRY_NETWORK_DEFAULTS; NULL means
 * the same. */
typedef struct {
    size_t size;                /* of this struct */
    uint64_t seed;              /* of generators and of seeded weights */
    int64_t depth;              /* read at most so many layers; 0: all */
    spry_activation activation; /* for layers that are matrix files */
    float bias;                 /* the same */
    int rows_are_outputs;       /* the same; rows are outputs, as in PyTorch */
    int seeded_weights; /* draw random weights for pattern files (.smtx), which
                           have none, instead of ones */
} spry_network_options;
#define SPRY_NETWORK_DEFAULTS                                       \
    {                                                               \
        sizeof(spry_network_options), 1, 0, {SPRY_RELU, 0}, 0, 0, 0 \
    }

/* ---- creating networks ---- */

/* path is one of
 *   gen:KIND,key=value     a generated network
 *   a folder               n1024-l1.tsv, n1024-l2.tsv...: a Graph Challenge
 *                          network; else one matrix file for each layer, in
 *                          the order of the numbers in their names
 *   a file                 .spnet, or a list of edges of any acyclic graph
 * A malformed file fails with SPRY_INPUT; the message names file and line. */
spry_status spry_network_read(spry_network **out, const char *path,
                              const spry_network_options *options);

/* Copies and checks `parts`; its `chained` is ignored and computed. */
spry_status spry_network_make(spry_network **out, const spry_network *parts);

void spry_network_free(spry_network *n);

/* ==== advanced ==== */

/* Write FILE.spnet or, for any other name, a folder in the format of the Graph
 * Challenge, created when missing: chained networks of equal widths with the
 * Challenge's bias and activation, since only weights are in it. */
spry_status spry_network_write(const spry_network *n, const char *path);

/* 32 hex digits that identify the network, weights and biases included. */
void spry_network_key(char out[33], const spry_network *n);

/* The i-th generator's name, one-line description and parameters with their
 * defaults, or NULL past the last. */
const char *spry_network_generator_name(int i);
const char *spry_network_generator_help(int i);
const char *spry_network_generator_params(int i);

/* "linear", "relu", "clamp", "tanh", "sigmoid"; NULL past the last. */
const char *spry_curve_name(spry_curve c);

/* ---- one layer at a time ---- */

typedef struct {
    int64_t inputs, outputs, edges;
    const int64_t *start;  /* [outputs + 1] */
    const int32_t *source; /* [edges] counted within the layer before */
    const float *weight;   /* [edges] */
    const float *bias;     /* [outputs] */
    spry_activation activation;
    int bias_on_nonzero;
} spry_layer;

typedef struct spry_layers spry_layers;

/* As spry_network_read, for chained networks. */
spry_status spry_layers_open(spry_layers **out, const char *path,
                             const spry_network_options *options);
/* The layers of a chained network in memory, which is borrowed. */
spry_status spry_layers_of(spry_layers **out, const spry_network *n);
/* The next layer, valid until the next call; NULL behind the last. */
spry_status spry_layers_next(spry_layers *s, const spry_layer **out);
/* Back to the first layer. */
spry_status spry_layers_rewind(spry_layers *s);
int64_t spry_layers_depth(const spry_layers *s);
int64_t spry_layers_inputs(const spry_layers *s);
/* Outputs of the last layer; reads all layers if it must. */
spry_status spry_layers_outputs(int64_t *out, spry_layers *s);
/* Edges of all layers if known without reading them, else -1. */
int64_t spry_layers_edges(const spry_layers *s);
void spry_layers_close(spry_layers *s);

/* All layers as one network. */
spry_status spry_layers_gather(spry_network **out, spry_layers *s);
/* As spry_network_write, holding one layer at a time. */
spry_status spry_layers_write(spry_layers *s, const char *path);

/* ---- running without tuning ----
 *
 * x is [batch][inputs], y is [batch][outputs], both row-major. */

/* In double, neuron by neuron: the reference for every other way to run. */
spry_status spry_network_reference(double *y, const spry_network *n,
                                   const float *x, int64_t batch);

/* In float, from the first layer to the last, after rewinding; holds the values
 * of two layers. */
spry_status spry_layers_run(float *y, spry_layers *s, const float *x,
                            int64_t batch);

/* ==== experimental ==== */

/* ---- inputs ----
 *
 * A batch of sparse inputs is a matrix, one row each. */

/* Rows first .. first + count - 1 of m as x[count][width], padded with zeros.
 * SPRY_USAGE when the matrix has more columns than width. */
spry_status spry_inputs_dense(float *x, const spry_matrix *m, int64_t first,
                              int64_t count, int64_t width);
/* `count` square images of pen strokes with `width` pixels each, 0 or 1; about
 * as many are set as in those of the Graph Challenge: 106 of 1024. */
spry_status spry_inputs_strokes(spry_matrix **out, int64_t count, int64_t width,
                                uint64_t seed);
/* The rows of m repeated until there are `count`, in float. */
spry_status spry_inputs_repeat(spry_matrix **out, const spry_matrix *m,
                               int64_t count);
/* Square images enlarged to `width` pixels, 4, 16, 64... times as many, by
 * repeating pixels. */
spry_status spry_inputs_enlarge(spry_matrix **out, const spry_matrix *m,
                                int64_t width);

/* ---- the Graph Challenge ---- */

/* The bias that the challenge prescribes for a width: -0.3 for 1024, -0.35 for
 * 4096, -0.4 for 16384, -0.45 for 65536; 0 for others. */
float spry_challenge_bias(int64_t width);

/* Four counters that published programs print for a network, with outputs in
 * blocks of 256, the inputs of a block in buffers of 512 and the outputs of a
 * buffer in warps of 32. They show whether a network is the official one. */
typedef struct {
    size_t size;        /* sizeof (spry_counters) */
    int64_t buffers;    /* all buffers */
    int64_t map;        /* all inputs of all blocks */
    int64_t warpnz;     /* sum over warps and buffers of the longest output */
    int64_t weight_max; /* 32 times the largest warpnz of a layer */
} spry_counters;
spry_status spry_layers_counters(spry_counters *out, spry_layers *s);

#ifdef __cplusplus
}
#endif
#endif
