/* graph_operands.h - random inputs of a graph, and room for its outputs. */
#ifndef SPRY_GRAPH_OPERANDS_H
#define SPRY_GRAPH_OPERANDS_H

#include <stdlib.h>

#include "base/base.h"
#include "check.h"
#include "spry/graph.h"

typedef struct {
    void *in[4], *out[4];
    spry_graph_value to[4];
} graph_operands;

static inline graph_operands make_operands(const spry_graph *g, uint64_t seed)
{
    sp_rng rng = sp_rng_seed(seed);
    graph_operands o = {0};
    spry_graph_value v = {.size = sizeof v};

    for (int i = 0; i < spry_graph_inputs(g); i++) {
        check_ok(spry_graph_input(g, i, &v));
        o.in[i] = calloc((size_t)v.count, 8);
        assert_non_null(o.in[i]);
        for (int64_t k = 0; k < v.count; k++)
            if (v.whole)
                ((int64_t *)o.in[i])[k] = (int64_t)sp_rng_below(&rng, 2);
            else
                ((float *)o.in[i])[k] = (float)(2 * sp_rng_unit(&rng) - 1);
    }
    for (int i = 0; i < spry_graph_outputs(g); i++) {
        o.to[i].size = sizeof o.to[i];
        check_ok(spry_graph_output(g, i, &o.to[i]));
        o.out[i] = calloc((size_t)o.to[i].count, 8);
        assert_non_null(o.out[i]);
    }
    return o;
}

static inline void free_operands(graph_operands *o)
{
    for (int i = 0; i < 4; i++) {
        free(o->in[i]);
        free(o->out[i]);
    }
}

static inline void run_reference(const spry_graph *g, graph_operands *o)
{
    check_ok(spry_graph_reference(g, (const void *const *)o->in, o->out));
}

static inline spry_graph *open_graph(const char *source)
{
    spry_graph *g;

    check_ok(spry_graph_read(&g, source, NULL));
    return g;
}

#endif
