/* network.h - sparse feed-forward networks: read, make, order, run.
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

/* By the name's ending: FILE.spnet, or a folder that becomes a Graph
 * Challenge one (chained, equal widths), made when missing. */
spry_status spry_network_write(const spry_network *n, const char *path);

/* DIR/NAME.c and .h: the network with its weights as C that needs nothing but
 * the C library. SPRY_USAGE when NAME is no name of C or the network has
 * more edges than a compiler would take. */
spry_status spry_network_export(const spry_network *n, const char *dir,
                                const char *name);

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

/* ---- edge orders ----
 *
 * An order names every edge once, the in-edges of a neuron before all of its
 * out-edges. */

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

/* ---- orders that are learned: EON ----
 *
 * Moves: a small scorer picks among a few large moves; for networks of any
 * size, and what is learned on small ones serves large ones. Attention: as
 * Kamatar, 2023 has it, every edge is chosen by attention over the frontier
 * and fast memory; for small networks, and best on the one it learned from. */
typedef enum { SPRY_EON_MOVES, SPRY_EON_ATTENTION } spry_eon;

/* What attention knows of a neuron: entries of the Laplacian's eigenvectors
 * with the largest eigenvalues, or what GraphSAGE learns of it. */
typedef enum { SPRY_LAPLACIAN, SPRY_SAGE } spry_embedding;

/* How far it is. Shares are reads and writes divided by those of the blocked
 * order, geometric means over networks and memories. */
typedef struct {
    int64_t episodes; /* orders made to learn from */
    double seconds;
    double reward; /* minus reads and writes, mean over the last orders */
    double share;  /* of what it would do now */
    double best;   /* the least share so far: what is kept */
} spry_lesson;

typedef struct {
    size_t size; /* of this struct */
    spry_eon form;
    spry_embedding embedding;
    const int64_t *memory; /* [memories] each 3 or more; NULL: 128 */
    int64_t memories;
    int64_t episodes; /* at least so many; 0: as the time allows. Only a
                         number makes the same model each time */
    double seconds;
    uint64_t seed;
    const char *model; /* to go on from; NULL: from the beginning */
    /* Called for every lesson; nonzero ends it there, well. May be NULL. */
    int (*progress)(const spry_lesson *now, void *payload);
    void *payload;
} spry_train_options;
#define SPRY_TRAIN_DEFAULTS                                                  \
    {                                                                        \
        sizeof(spry_train_options), SPRY_EON_MOVES, SPRY_LAPLACIAN, NULL, 0, \
            0, 60, 1, NULL, NULL, NULL                                       \
    }

/* Learn to order these networks, each for each memory, and write the best
 * that was met to the file `path`. */
spry_status spry_order_train(const char *path, const spry_network *const *nets,
                             int64_t count, const spry_train_options *options);

/* "moves", "attention"; "laplacian", "sage"; NULL past the last. */
const char *spry_eon_name(spry_eon f);
const char *spry_embedding_name(spry_embedding e);
/* What finds eigenvectors: "ARPACK" or "own iteration". */
const char *spry_eigen(void);

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
 * stream by and are counted apart. */

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
} spry_simulate_options;
#define SPRY_SIMULATE_DEFAULTS                          \
    {                                                   \
        sizeof(spry_simulate_options), 128, 1, SPRY_LRU \
    }

/* Lines of neurons, and what the theory of Gleinig et al., 2023 says of
 * them. With a read of each weight the bounds on the sum of reads and writes
 * are those of the paper: W + N + S and 2 (W + N - I). */
typedef struct {
    int64_t reads, writes;
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

/* "lru", "rr", "min"; NULL past the last. */
const char *spry_policy_name(spry_policy p);

/* ---- Algorithm 1: edges one after the other, in any valid order ---- */

typedef struct spry_stream spry_stream;

/* Lays the edges out in this order; borrows n. The order is checked. */
spry_status spry_stream_make(spry_stream **out, const spry_network *n,
                             const int32_t *edge);
/* In float; x and y as above. Any number of threads may run one stream. */
spry_status spry_stream_run(const spry_stream *s, float *y, const float *x,
                            int64_t batch);
void spry_stream_free(spry_stream *s);

/* ---- ready to run ----
 *
 * A form says how a network is laid out and run: a name from the table of
 * forms and what it can be told, one line of text:
 *
 *     plain threads=2         neuron by neuron, as anyone would write it
 *     edges order=blocked     Algorithm 1
 *     gather threads=2        one input at a time, sums held in registers
 *     rows tile=8 threads=2   inputs side by side in vectors */

enum { SPRY_FORM_NAME = 16, SPRY_FORM_TEXT = 96 };

typedef struct {
    char name[SPRY_FORM_NAME];
    char order[SPRY_FORM_NAME]; /* of edges; "": the fastest plain one */
    int tile;    /* inputs side by side: 8, 16, 32, 64; 0: as fits the cache */
    int threads; /* 0: as many as OpenMP would start */
    int rest;    /* of rows: inputs whose values no later layer changes stop
                    there (graph.h) */
} spry_form;

/* SPRY_USAGE when the text is no form. */
spry_status spry_form_parse(spry_form *out, const char *text);
/* The text that parses to the same; parameters that are not set are left
 * out. */
void spry_form_text(char out[SPRY_FORM_TEXT], const spry_form *f);
/* The one that suits a batch of so many inputs. */
spry_form spry_form_for(const spry_network *n, int64_t batch);
/* The i-th form's name and one line about it, or NULL past the last. */
const char *spry_form_name(int i);
const char *spry_form_help(int i);

typedef struct spry_runner spry_runner;

/* Lays the network out in this form; borrows n. */
spry_status spry_runner_make(spry_runner **out, const spry_network *n,
                             const spry_form *form);
/* In float; x is [batch][inputs], y is [batch][outputs]. Any number of
 * threads may run one runner. */
spry_status spry_runner_run(const spry_runner *r, float *y, const float *x,
                            int64_t batch);
/* Which of the rows of m, first .. first + count - 1, padded with zeros, give
 * an output that is not 0: any[count] becomes 1 or 0. What the Graph
 * Challenge asks for, without the outputs in between. */
spry_status spry_runner_categories(const spry_runner *r, uint8_t *any,
                                   const spry_matrix *m, int64_t first,
                                   int64_t count);
/* The form it has, what was left open filled in. */
const spry_form *spry_runner_form(const spry_runner *r);
void spry_runner_free(spry_runner *r);

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
