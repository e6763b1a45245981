/* layers.c - operators with weights, and how many of those are 0. */
#include <string.h>

#include "graph/internal.h"

/* The weights of a node; NULL: it has none that are known. */
static const sp_opvalue *weights_of(const spry_graph *g, const sp_opnode *n)
{
    const sp_opvalue *v;

    if (n->inputs < 2 || n->input[1] < 0 ||
        (strcmp(n->op->name, "Conv") != 0 && strcmp(n->op->name, "Gemm") != 0 &&
         strcmp(n->op->name, "MatMul") != 0))
        return NULL;
    v = &g->value[n->input[1]];
    return v->data && !v->whole && v->count > 0 ? v : NULL;
}

int spry_graph_layers(const spry_graph *g)
{
    int count = 0;

    for (int i = 0; g && i < g->nodes; i++)
        count += weights_of(g, &g->node[i]) != NULL;
    return count;
}

static void tell(spry_graph_layer *out, const spry_graph *g, const sp_opnode *n,
                 const sp_opvalue *w)
{
    const float *x = w->data;

    *out = (spry_graph_layer){.name = g->value[n->output[0]].name,
                              .op = n->op->name,
                              .dims = w->shape.dims,
                              .weights = w->count,
                              .macs = sp_node_macs(g, n)};
    for (int i = 0; i < w->shape.dims; i++)
        out->dim[i] = w->shape.dim[i];
    for (int64_t i = 0; i < w->count; i++)
        out->zeros += x[i] == 0;
}

spry_status spry_graph_layer_of(const spry_graph *g, int i,
                                spry_graph_layer *out)
{
    spry_graph_layer whole;

    if (!g || !out || i < 0)
        return sp_fail(SPRY_USAGE, "there is no such layer");
    SP_ROOM(out);
    for (int k = 0; k < g->nodes; k++) {
        const sp_opvalue *w = weights_of(g, &g->node[k]);

        if (!w || i-- > 0)
            continue;
        tell(&whole, g, &g->node[k], w);
        SP_GIVE(out, &whole);
        return SPRY_OK;
    }
    return sp_fail(SPRY_USAGE, "there is no such layer");
}
