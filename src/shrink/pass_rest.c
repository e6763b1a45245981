/* pass_rest.c - states that no later layer changes, proved beforehand.
 *
 * Two states are followed through the layers: all values 0, and all values
 * at the limit of a layer that clamps. A layer keeps a state when each of
 * its neurons, reading it, is sure to have it too, in whatever order it
 * sums. Linear layers in between (shared sums) need not keep a state, only
 * know what it becomes. Backwards from the end, the layers that all keep it
 * are where an input that is in it can stop. */
#include "shrink/passes.h"

typedef struct {
    const spry_network *n;
    sp_range *range; /* [neurons] */
} resting;

static void set_layer(const resting *r, int64_t l, double value)
{
    for (int64_t v = r->n->first[l]; v < r->n->first[l + 1]; v++)
        r->range[v] = (sp_range){value, value};
}

/* Are all of layer l sure to be `value`, the layer before being known? */
static int layer_is(const resting *r, int64_t l, double value)
{
    const spry_network *n = r->n;
    int constant = 1;

    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++) {
        r->range[v] = sp_range_of(r->range, n, v, l);
        constant =
            constant && r->range[v].low >= value && r->range[v].high <= value;
    }
    return constant;
}

/* The first layer from which on a 0 stays. */
static int64_t zero_from(const resting *r)
{
    int64_t from = 0;

    set_layer(r, 0, 0);
    for (int64_t l = 1; l < r->n->layers; l++)
        if (!layer_is(r, l, 0)) {
            set_layer(r, l, 0);
            from = l;
        }
    return from;
}

/* The first layer that clamps from which on a limit stays; n->layers when
 * the last one does not clamp. */
static int64_t full_from(const resting *r)
{
    const spry_network *n = r->n;
    int64_t from = n->layers;

    for (int64_t l = 0; l < n->layers; l++) {
        spry_activation a = n->activation[l];

        if (a.curve == SPRY_CLAMP) {
            if (from == n->layers || !layer_is(r, l, (double)a.limit))
                from = l;
            set_layer(r, l, (double)a.limit);
        } else if (a.curve == SPRY_LINEAR && from < n->layers) {
            layer_is(r, l, 0);
        } else {
            from = n->layers;
        }
    }
    return n->activation[n->layers - 1].curve == SPRY_CLAMP ? from : n->layers;
}

spry_status spry_network_rest(spry_rest *out, const spry_network *n)
{
    SP_NEED(out, n);
    SP_ROOM(out);

    spry_rest whole = {.zero = n->layers, .full = n->layers};
    resting r = {n, NULL};

    SP_GIVE(out, &whole);
    if (!n->chained)
        return SPRY_OK;
    r.range = sp_alloc_raw(n->neurons, sizeof *r.range);
    if (!r.range)
        return sp_fail_memory((size_t)n->neurons * sizeof *r.range);
    whole.zero = zero_from(&r);
    whole.full = full_from(&r);
    whole.limit = n->activation[n->layers - 1].limit;
    SP_GIVE(out, &whole);
    sp_free(r.range);
    return SPRY_OK;
}

const sp_pass sp_pass_rest = {
    "rest", "inputs whose values no later layer changes stop there", NULL, 1};
