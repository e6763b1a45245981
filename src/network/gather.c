/* gather.c - layers, one after the other, into one chained network. */
#include <string.h>

#include "network/internal.h"

/* Grow *array from `held` to `room` elements. */
static int grow(void *array, int64_t held, int64_t room, size_t size)
{
    void *old, *more;

    memcpy(&old, array, sizeof old);
    more = sp_grow(old, held, room, size);
    if (more)
        memcpy(array, &more, sizeof more);
    return more != NULL;
}

static int64_t doubled(int64_t room, int64_t want)
{
    return 2 * room > want ? 2 * room : want;
}

static spry_status grow_neurons(sp_gather *g, int64_t more)
{
    int64_t held = g->net.neurons, want = held + more;

    if (want > INT32_MAX)
        return sp_fail(SPRY_INPUT, "%lld neurons are too many",
                       (long long)want);
    if (want <= g->neuron_room)
        return SPRY_OK;
    want = doubled(g->neuron_room, want);
    if (!grow(&g->net.start, held + 1, want + 1, sizeof *g->net.start) ||
        !grow(&g->net.bias, held, want, sizeof *g->net.bias))
        return sp_fail_memory((size_t)want * 12);
    g->neuron_room = want;
    return SPRY_OK;
}

static spry_status grow_edges(sp_gather *g, int64_t more)
{
    int64_t held = g->net.edges, want = held + more;

    if (want <= g->edge_room)
        return SPRY_OK;
    want = doubled(g->edge_room, want);
    if (!grow(&g->net.source, held, want, sizeof *g->net.source) ||
        !grow(&g->net.weight, held, want, sizeof *g->net.weight))
        return sp_fail_memory((size_t)want * 8);
    g->edge_room = want;
    return SPRY_OK;
}

static spry_status grow_layers(sp_gather *g)
{
    int64_t held = g->net.layers, want = held + 1;

    if (want <= g->layer_room)
        return SPRY_OK;
    want = doubled(g->layer_room, want);
    if (!grow(&g->net.first, held + 1, want + 1, sizeof *g->net.first) ||
        !grow(&g->net.activation, held, want, sizeof *g->net.activation))
        return sp_fail_memory((size_t)want * 16);
    g->layer_room = want;
    return SPRY_OK;
}

spry_status sp_gather_begin(sp_gather *g, int64_t inputs, int64_t edges)
{
    spry_status s;

    *g = (sp_gather){0};
    s = grow_layers(g);
    if (s == SPRY_OK)
        s = grow_neurons(g, inputs);
    if (s == SPRY_OK && edges > 0)
        s = grow_edges(g, edges);
    if (s != SPRY_OK)
        return s;
    memset(g->net.start, 0, (size_t)(inputs + 1) * sizeof *g->net.start);
    for (int64_t v = 0; v < inputs; v++)
        g->net.bias[v] = 0;
    g->net.neurons = g->net.inputs = g->net.first[0] = inputs;
    return SPRY_OK;
}

/* The layer's neurons behind all others, its sources counted from the first
 * of the layer before. */
static void append(sp_gather *g, const spry_layer *layer)
{
    sp_parts *n = &g->net;
    int64_t l = n->layers, before = l ? n->first[l - 1] : 0;
    int64_t v = n->neurons, k = n->edges;

    for (int64_t j = 0; j < layer->outputs; j++) {
        n->start[v + j + 1] = k + layer->start[j + 1];
        n->bias[v + j] = layer->bias[j];
    }
    for (int64_t i = 0; i < layer->edges; i++)
        n->source[k + i] = (int32_t)(before + layer->source[i]);
    if (layer->edges)
        memcpy(n->weight + k, layer->weight,
               (size_t)layer->edges * sizeof *n->weight);
    n->activation[l] = layer->activation;
    n->bias_on_nonzero = layer->bias_on_nonzero;
    n->neurons += layer->outputs;
    n->edges += layer->edges;
    n->first[++n->layers] = n->neurons;
}

spry_status sp_gather_add(sp_gather *g, const spry_layer *layer)
{
    spry_status s = grow_layers(g);

    if (s == SPRY_OK)
        s = grow_neurons(g, layer->outputs);
    if (s == SPRY_OK)
        s = grow_edges(g, layer->edges);
    if (s == SPRY_OK)
        append(g, layer);
    return s;
}

/* The neurons of the last layer. */
static spry_status mark_outputs(sp_parts *n)
{
    int64_t last = n->first[n->layers - 1];

    n->outputs = n->neurons - last;
    n->output = sp_alloc_raw(n->outputs, sizeof *n->output);
    if (!n->output)
        return sp_fail_memory((size_t)n->outputs * sizeof *n->output);
    for (int64_t i = 0; i < n->outputs; i++)
        n->output[i] = (int32_t)(last + i);
    return SPRY_OK;
}

spry_status sp_gather_end(spry_network **out, sp_gather *g)
{
    spry_status s = mark_outputs(&g->net);

    *out = NULL;
    if (s == SPRY_OK)
        return sp_network_adopt(out, &g->net, NULL, "network");
    sp_gather_free(g);
    return s;
}

void sp_gather_free(sp_gather *g)
{
    sp_parts_free(&g->net);
    *g = (sp_gather){0};
}
