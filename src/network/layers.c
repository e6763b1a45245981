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
    SP_NEED(s, out);

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
    SP_NEED(s);
    s->at = s->walked = 0;
    return s->source->rewind ? s->source->rewind(s) : SPRY_OK;
}

int64_t spry_layers_depth(const spry_layers *s)
{
    SP_NEED_OR(0, s);
    return s->depth;
}

int64_t spry_layers_inputs(const spry_layers *s)
{
    SP_NEED_OR(0, s);
    return s->inputs;
}

spry_status spry_layers_outputs(int64_t *out, spry_layers *s)
{
    SP_NEED(out, s);

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
    SP_NEED_OR(0, s);
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

static spry_status gather_all(sp_gather *g, spry_layers *from)
{
    spry_status s = spry_layers_rewind(from);
    const spry_layer *layer;

    if (s == SPRY_OK)
        s = sp_gather_begin(g, from->inputs, from->edges);
    for (int64_t l = 0; s == SPRY_OK && l < from->depth; l++) {
        s = spry_layers_next(from, &layer);
        if (s == SPRY_OK)
            s = sp_gather_add(g, layer);
    }
    return s;
}

spry_status spry_layers_gather(spry_network **out, spry_layers *from)
{
    SP_NEED_NEW(out, from);

    sp_gather g = {0};
    spry_status s = gather_all(&g, from);

    if (s == SPRY_OK)
        return sp_gather_end(out, &g);
    sp_gather_free(&g);
    return s;
}
