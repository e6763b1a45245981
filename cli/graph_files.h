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

/* Inputs from "a.npy,b.npy", random ones when files is NULL; room for the
 * outputs. Close also after a failure, which was said. */
spry_status graph_arrays_open(graph_arrays *a, const spry_graph *g,
                              const char *files);
void graph_arrays_close(graph_arrays *a);
/* Output i, as [first][all others]. */
spry_status graph_write(const graph_arrays *a, int i, const char *path);

#endif
