/* graph.h - operator graphs: the networks that frameworks write.
 *
 * A graph is read from an ONNX file or is one of the built-in networks. It
 * does not change once made, so threads share it. */
#ifndef SPRY_GRAPH_H
#define SPRY_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

typedef struct spry_graph spry_graph;

typedef struct {
    size_t size;     /* sizeof (spry_graph_options) */
    int64_t unknown; /* what a dimension without a number, such as a batch,
                        is taken for; 0: 1 */
} spry_graph_options;

/* An ONNX file, or "net:NAME": one of the built-in networks with random
 * weights, "net:resnet50,size=224,seed=1". options NULL: as usual.
 * SPRY_INPUT says what is wrong with a file, by the operator's name if it is
 * one that is not known. */
spry_status spry_graph_read(spry_graph **out, const char *source,
                            const spry_graph_options *options);
void spry_graph_free(spry_graph *g);

/* As an ONNX file of opset 13, weights within. */
spry_status spry_graph_write(const spry_graph *g, const char *path);

/* "resnet50", ...; NULL behind the last. */
const char *spry_graph_builtin(int i);

enum { SPRY_GRAPH_DIMS = 8 };

/* One input or output. */
typedef struct {
    const char *name;
    int whole; /* int64_t elements, else float */
    int dims;
    int64_t dim[SPRY_GRAPH_DIMS];
    int64_t count; /* elements */
} spry_graph_value;

int spry_graph_inputs(const spry_graph *g);
int spry_graph_outputs(const spry_graph *g);
/* SPRY_USAGE when there is no input, or output, i. */
spry_status spry_graph_input(const spry_graph *g, int i, spry_graph_value *out);
spry_status spry_graph_output(const spry_graph *g, int i,
                              spry_graph_value *out);

/* Operators, learned numbers (means and variances of batch norms are not
 * counted) and multiply-adds of one run. */
int spry_graph_nodes(const spry_graph *g);
int64_t spry_graph_params(const spry_graph *g);
int64_t spry_graph_macs(const spry_graph *g);

/* The slow right answer, summed in double: input[i] and output[i] hold the
 * elements of input and output i, float or int64_t. */
spry_status spry_graph_reference(const spry_graph *g, const void *const *input,
                                 void *const *output);

#ifdef __cplusplus
}
#endif
#endif
