/* network.h - sparse feed-forward networks: read, made, written.
 *
 * A network is a directed graph of neurons, numbered so that every edge goes
 * from a smaller to a larger number: the inputs first, then layer by layer.
 * It is immutable once made, every index and weight checked, so rooms and
 * threads share one freely. A neuron's value is
 *
 *     value(v) = activation(bias(v) + sum over in-edges of weight * value(u))
 *
 * A *layer source* yields the same network one layer at a time and never
 * holds more: for networks larger than memory. */
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

/* Edge k is one of source[] and weight[]; its number is its name everywhere.
 * Layer l is the neurons first[l] .. first[l + 1] - 1. No edge stays within
 * a layer: all sources of layer l lie below first[l]. */
typedef struct spry_network {
    int64_t neurons, inputs, outputs, layers, edges;
    const int64_t *first;  /* [layers + 1] first[0] = inputs */
    const int64_t *start;  /* [neurons + 1] first in-edge; inputs have none */
    const int32_t *source; /* [edges] ascending within a neuron, no repeats */
    const float *weight;   /* [edges] finite */
    const float *bias;     /* [neurons] finite; of inputs 0 */
    const spry_activation *activation; /* [layers] */
    const int32_t *output; /* [outputs] the neurons that are the answer */
    int bias_on_nonzero;   /* a sum that is 0 gets no bias, as in the Graph
                              Challenge */
    int chained; /* every edge comes from the layer right before, and the
                    outputs are the last layer, in order */
    int64_t reserved[4]; /* 0 */
} spry_network;

/* How to understand what a file does not say. Start from
 * SPRY_NETWORK_DEFAULTS; NULL stands for it. */
typedef struct {
    size_t size;                /* of this struct */
    uint64_t seed;              /* of generators and of seeded weights */
    int64_t depth;              /* at most so many layers; 0: all there are */
    spry_activation activation; /* of matrices as layers */
    float bias;                 /* the same */
    int rows_are_outputs;       /* of matrices as layers, as PyTorch has them */
    int seeded_weights; /* pattern files (.smtx) hold no weights: draw them
                           instead of taking ones */
} spry_network_options;
#define SPRY_NETWORK_DEFAULTS                                       \
    {                                                               \
        sizeof(spry_network_options), 1, 0, {SPRY_RELU, 0}, 0, 0, 0 \
    }

/* ---- from somewhere to a network ---- */

/* path is one of
 *   gen:KIND,key=value     a generated network
 *   a folder               n1024-l1.tsv, n1024-l2.tsv...: a Graph Challenge
 *                          network; else one matrix file for each layer, in
 *                          the order of the numbers in their names
 *   a file                 .spnet, or a list of edges of any acyclic graph
 * Fails with SPRY_INPUT and a sentence that names file and line. */
spry_status spry_network_read(spry_network **out, const char *path,
                              const spry_network_options *options);

/* Copies and checks; of `parts`, `chained` is worked out anew. */
spry_status spry_network_make(spry_network **out, const spry_network *parts);

void spry_network_free(spry_network *n);

/* ==== advanced ==== */

/* By the name's ending: FILE.spnet, or a folder that becomes a Graph
 * Challenge one (chained, equal widths), made when missing. */
spry_status spry_network_write(const spry_network *n, const char *path);

/* 32 hex digits that tell networks apart, weights and biases included. */
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

/* The same paths, if what is there is chained. */
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
/* Of the last layer; walks them all when nothing else tells. */
spry_status spry_layers_outputs(int64_t *out, spry_layers *s);
/* Edges of all layers as far as known without reading them, else -1. */
int64_t spry_layers_edges(const spry_layers *s);
void spry_layers_close(spry_layers *s);

/* All layers as one network. */
spry_status spry_layers_gather(spry_network **out, spry_layers *s);
/* As spry_network_write, holding one layer at a time. */
spry_status spry_layers_write(spry_layers *s, const char *path);

/* ---- running, plainly ----
 *
 * x is [batch][inputs], y is [batch][outputs], both rows first. */

/* In double, neuron by neuron: what every other way is checked against. */
spry_status spry_network_reference(double *y, const spry_network *n,
                                   const float *x, int64_t batch);

/* In float, from the first layer on to the last, rewinding before; holds two
 * layers' values. */
spry_status spry_layers_run(float *y, spry_layers *s, const float *x,
                            int64_t batch);

/* ==== experimental ==== */

/* ---- inputs ----
 *
 * A batch of sparse inputs is a matrix, one row each. */

/* Rows first .. first + count - 1 as x[count][width], padded with zeros.
 * SPRY_USAGE when the matrix has more columns than width. */
spry_status spry_inputs_dense(float *x, const spry_matrix *m, int64_t first,
                              int64_t count, int64_t width);
/* `count` images of pen strokes, 0 or 1, of width pixels (a square number),
 * about as many set as the Graph Challenge's: 106 of 1024. */
spry_status spry_inputs_strokes(spry_matrix **out, int64_t count, int64_t width,
                                uint64_t seed);
/* The rows over and over, `count` in all, in float. */
spry_status spry_inputs_repeat(spry_matrix **out, const spry_matrix *m,
                               int64_t count);
/* Square images, each pixel repeated to fill `width` pixels: 4, 16, 64...
 * times as many. */
spry_status spry_inputs_enlarge(spry_matrix **out, const spry_matrix *m,
                                int64_t width);

/* ---- the Graph Challenge ---- */

/* The bias of a width: -0.3 at 1024, -0.35, -0.4, -0.45 at 65536; 0 for
 * others. */
float spry_challenge_bias(int64_t width);

/* Four counters that published programs print of a network: outputs in
 * blocks of 256, the inputs of a block in buffers of 512, outputs of a
 * buffer in warps of 32. They tell whether a network is the official one. */
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
