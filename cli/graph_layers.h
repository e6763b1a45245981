/* graph_layers.h - what is said of each layer of an operator graph. */
#ifndef CLI_GRAPH_LAYERS_H
#define CLI_GRAPH_LAYERS_H

#include "cli.h"

/* Weights and zeros, a line each or a list "layers". */
void graph_layers_print(const spry_graph *g);
void graph_layers_json(json *j, const spry_graph *g);

/* All of it (graph_inspect.c). */
spry_status graph_inspect(const spry_graph *g);

/* Dense or sparse, and how: of every stage that has weights. */
void graph_chosen_print(const spry_executor *e);
void graph_chosen_json(json *j, const spry_executor *e);
/* "dense" or "sparse"; "" where nothing is multiplied. */
const char *graph_chosen(const spry_executor_stage *x);

/* What every stage of an executor that was profiled takes, and its share of the
 * peak. */
void graph_explain(const spry_executor *e);

#endif
