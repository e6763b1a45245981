/* graph_files.h - inputs and outputs of operator graphs, from and to .npy. */
#ifndef CLI_GRAPH_FILES_H
#define CLI_GRAPH_FILES_H

#include "cli.h"

enum { GRAPH_VALUES = 16 };

typedef struct {
    void *in[GRAPH_VALUES], *out[GRAPH_VALUES];
    spry_graph_value from[GRAPH_VALUES], to[GRAPH_VALUES];
    int inputs, outputs;
} graph_arrays;

/* Shapes from "2x3x224x224,2x10", or those that "a.npy,b.npy" have; as many as
 * there are, at most GRAPH_VALUES. What is no shape, or cannot be read again
 * later, such as a pipe, has none. */
int graph_shapes_parse(spry_graph_value *out, const char *text);
int graph_shapes_peek(spry_graph_value *out, const char *files);
/* Inputs from "a.npy,b.npy", random ones when `from` is NULL; room for the
 * outputs, the first of which `to` may name files for. Close also after a
 * failure, which was said. */
spry_status graph_arrays_open(graph_arrays *a, const spry_graph *g,
                              const char *from, const char *to);
void graph_arrays_close(graph_arrays *a);
/* The first outputs to the files of "a.npy,b.npy". */
spry_status graph_arrays_write(const graph_arrays *a, const char *files);

#endif
