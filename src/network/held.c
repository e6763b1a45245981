/* held.c - the layers of a network in memory, as a source like any other. */
#include "spry/network.h"

#include <string.h>

#include "network/internal.h"

typedef struct {
    const spry_network *net;
    spry_network *owned; /* the same when it is ours to free, else NULL */
} held;

/* Starts counted from the layer's first edge, sources from the first neuron
 * of the layer before. */
static spry_status next(spry_layers *s)
{
    const spry_network *n = ((held *)s->state)->net;
    int64_t v = n->first[s->at], before = s->at ? n->first[s->at - 1] : 0;
    int64_t outputs = n->first[s->at + 1] - v, k = n->start[v];
    int64_t edges = n->start[v + outputs] - k;
    spry_status status = sp_layers_reserve(s, outputs, edges, 0);

    if (status != SPRY_OK)
        return status;
    for (int64_t j = 0; j <= outputs; j++)
        s->start[j] = n->start[v + j] - k;
    for (int64_t e = 0; e < edges; e++)
        s->from[e] = (int32_t)(n->source[k + e] - before);
    if (edges)
        memcpy(s->weight, n->weight + k, (size_t)edges * sizeof *s->weight);
    memcpy(s->bias, n->bias + v, (size_t)outputs * sizeof *s->bias);
    s->layer.activation = n->activation[s->at];
    return SPRY_OK;
}

static void close_held(void *state)
{
    held *h = state;

    if (h)
        spry_network_free(h->owned);
    sp_free(h);
}

static const sp_source held_source = {.next = next, .close = close_held};

static spry_status hold(spry_layers *s, const spry_network *n)
{
    held *h = s->state = sp_alloc(1, sizeof *h);

    s->source = &held_source;
    if (!h)
        return sp_fail_memory(sizeof *h);
    h->net = n;
    s->inputs = n->inputs;
    s->outputs = n->outputs;
    s->depth = n->layers;
    s->edges = n->edges;
    s->layer.bias_on_nonzero = n->bias_on_nonzero;
    if (!n->chained)
        return sp_fail(SPRY_USAGE, "the network has edges that skip layers; it "
                                   "cannot be walked one layer at a time");
    return SPRY_OK;
}

spry_status sp_layers_hold(spry_layers *s, spry_network *n)
{
    spry_status status = hold(s, n);

    if (s->state)
        ((held *)s->state)->owned = n;
    else
        spry_network_free(n);
    return status;
}

spry_status spry_layers_of(spry_layers **out, const spry_network *n)
{
    SP_NEED_NEW(out, n);

    spry_layers *s = sp_alloc(1, sizeof *s);
    spry_status status = s ? hold(s, n) : sp_fail_memory(sizeof *s);

    if (status == SPRY_OK)
        *out = s;
    else
        spry_layers_close(s);
    return status;
}
