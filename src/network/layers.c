/* layers.c - a source of layers: walked one by one, or gathered whole.
 *
 * The arrays of a layer are kept and filled anew for the next, so a walk
 * holds one layer whatever the depth. */
#include "spry/network.h"

#include <string.h>

#include "network/internal.h"

/* Let *array hold `want`; what it held need not stay. */
static int make_room(void *array, int64_t *room, int64_t want, size_t size)
{
    void *old, *fresh;

    if (want <= *room)
        return 1;
    memcpy(&old, array, sizeof old);
    fresh = sp_alloc_raw(want, size);
    if (!fresh)
        return 0;
    sp_free(old);
    memcpy(array, &fresh, sizeof fresh);
    *room = want;
    return 1;
}

spry_status sp_layers_reserve(spry_layers *s, int64_t outputs, int64_t edges,
                              float bias)
{
    if (!make_room(&s->start, &s->start_room, outputs + 1, sizeof *s->start) ||
        !make_room(&s->from, &s->from_room, edges, sizeof *s->from) ||
        !make_room(&s->weight, &s->weight_room, edges, sizeof *s->weight) ||
        !make_room(&s->bias, &s->bias_room, outputs, sizeof *s->bias))
        return sp_fail_memory((size_t)edges * 8 + (size_t)outputs * 12);
    for (int64_t j = 0; j < outputs; j++)
        s->bias[j] = bias;
    s->layer.outputs = outputs;
    s->layer.edges = edges;
    s->layer.start = s->start;
    s->layer.source = s->from;
    s->layer.weight = s->weight;
    s->layer.bias = s->bias;
    return SPRY_OK;
}

spry_status spry_layers_next(spry_layers *s, const spry_layer **out)
{
    spry_status status;

    *out = NULL;
    if (s->at == s->depth)
        return SPRY_OK;
    s->layer.inputs = s->at ? s->layer.outputs : s->inputs;
    status = s->source->next(s);
    if (status != SPRY_OK)
        return status;
    s->at++;
    s->walked += s->layer.edges;
    if (s->at == s->depth)
        s->edges = s->walked;
    *out = &s->layer;
    return SPRY_OK;
}

spry_status spry_layers_rewind(spry_layers *s)
{
    s->at = s->walked = 0;
    return s->source->rewind ? s->source->rewind(s) : SPRY_OK;
}

int64_t spry_layers_depth(const spry_layers *s)
{
    return s->depth;
}

int64_t spry_layers_inputs(const spry_layers *s)
{
    return s->inputs;
}

spry_status spry_layers_outputs(int64_t *out, spry_layers *s)
{
    const spry_layer *layer = NULL;
    spry_status status = SPRY_OK;

    if (s->outputs == 0)
        status = spry_layers_rewind(s);
    for (int64_t l = 0; s->outputs == 0 && status == SPRY_OK && l < s->depth;
         l++)
        status = spry_layers_next(s, &layer);
    if (status == SPRY_OK && layer)
        s->outputs = layer->outputs;
    *out = s->outputs;
    return status;
}

int64_t spry_layers_edges(const spry_layers *s)
{
    return s->edges;
}

void spry_layers_close(spry_layers *s)
{
    if (!s)
        return;
    if (s->source && s->source->close)
        s->source->close(s->state);
    else
        sp_free(s->state);
    sp_free(s->start);
    sp_free(s->from);
    sp_free(s->weight);
    sp_free(s->bias);
    sp_free(s);
}

/* ---- gathering ---- */

/* What is gathered so far, and how much the arrays would hold. */
typedef struct {
    sp_parts net;
    int64_t neuron_room, edge_room;
} gathering;

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

static spry_status grow_neurons(gathering *g, int64_t more)
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

static spry_status grow_edges(gathering *g, int64_t more)
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

static spry_status add_inputs(gathering *g, int64_t inputs)
{
    spry_status s = grow_neurons(g, inputs);

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
static spry_status add_layer(gathering *g, const spry_layer *layer, int64_t l)
{
    int64_t before = l ? g->net.first[l - 1] : 0, v = g->net.neurons;
    int64_t k = g->net.edges;
    spry_status s = grow_neurons(g, layer->outputs);

    if (s == SPRY_OK)
        s = grow_edges(g, layer->edges);
    if (s != SPRY_OK)
        return s;
    for (int64_t j = 0; j < layer->outputs; j++) {
        g->net.start[v + j + 1] = k + layer->start[j + 1];
        g->net.bias[v + j] = layer->bias[j];
    }
    for (int64_t i = 0; i < layer->edges; i++)
        g->net.source[k + i] = (int32_t)(before + layer->source[i]);
    if (layer->edges)
        memcpy(g->net.weight + k, layer->weight,
               (size_t)layer->edges * sizeof *g->net.weight);
    g->net.activation[l] = layer->activation;
    g->net.bias_on_nonzero = layer->bias_on_nonzero;
    g->net.neurons += layer->outputs;
    g->net.edges += layer->edges;
    g->net.first[l + 1] = g->net.neurons;
    return SPRY_OK;
}

static spry_status mark_outputs(gathering *g)
{
    int64_t last = g->net.first[g->net.layers - 1];

    g->net.outputs = g->net.neurons - last;
    g->net.output = sp_alloc_raw(g->net.outputs, sizeof *g->net.output);
    if (!g->net.output)
        return sp_fail_memory((size_t)g->net.outputs * sizeof *g->net.output);
    for (int64_t i = 0; i < g->net.outputs; i++)
        g->net.output[i] = (int32_t)(last + i);
    return SPRY_OK;
}

static spry_status gather_all(gathering *g, spry_layers *from)
{
    spry_status s = spry_layers_rewind(from);
    const spry_layer *layer;

    g->net.layers = from->depth;
    g->net.first = sp_alloc(from->depth + 1, sizeof *g->net.first);
    g->net.activation = sp_alloc(from->depth, sizeof *g->net.activation);
    if (!g->net.first || !g->net.activation)
        return sp_fail_memory((size_t)from->depth * 16);
    if (s == SPRY_OK)
        s = add_inputs(g, from->inputs);
    if (s == SPRY_OK && from->edges > 0)
        s = grow_edges(g, from->edges);
    for (int64_t l = 0; s == SPRY_OK && l < from->depth; l++) {
        s = spry_layers_next(from, &layer);
        if (s == SPRY_OK)
            s = add_layer(g, layer, l);
    }
    return s == SPRY_OK ? mark_outputs(g) : s;
}

spry_status spry_layers_gather(spry_network **out, spry_layers *from)
{
    gathering g = {0};
    spry_status s = gather_all(&g, from);

    *out = NULL;
    if (s == SPRY_OK)
        return sp_network_adopt(out, &g.net, NULL, "network");
    sp_parts_free(&g.net);
    return s;
}
