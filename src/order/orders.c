/* orders.c - the table of plain edge orders, and what makes one valid. */
#include <string.h>

#include "order/internal.h"

static const sp_order *const orders[] = {
    &sp_order_destination, &sp_order_source, &sp_order_blocked,
    &sp_order_clustered,   &sp_order_go,     &sp_order_ego,
    &sp_order_anneal,
};
enum { ORDERS = sizeof orders / sizeof orders[0] };

const sp_order *sp_plain_order(int i)
{
    return i >= 0 && i < ORDERS ? orders[i] : NULL;
}

/* The caller's options as far as its struct reaches, defaults behind. */
static spry_status fill_options(spry_order_options *o,
                                const spry_order_options *given)
{
    static const spry_order_options defaults = SPRY_ORDER_DEFAULTS;

    *o = defaults;
    if (SP_TAKE_OPTIONS(o, given) != SPRY_OK)
        return SPRY_USAGE;
    if (o->window < 1 || o->window > INT32_MAX || o->memory < 3 ||
        o->block < 0 || !(o->seconds >= 0) || o->moves < 0)
        return sp_fail(SPRY_USAGE,
                       "an order needs a window of 1 to 2^31 - 1, a memory of "
                       "3, and no negative block, time or moves");
    return SPRY_OK;
}

spry_status sp_order_make(int32_t *edge, const spry_network *n,
                          const sp_order *order,
                          const spry_order_options *given)
{
    spry_order_options o;
    spry_status s;

    if (n->edges > INT32_MAX)
        return sp_fail(SPRY_USAGE,
                       "%lld edges are too many to order; at most 2^31 - 1",
                       (long long)n->edges);
    s = fill_options(&o, given);
    if (s == SPRY_OK)
        s = order->make(edge, n, &o);
    return s == SPRY_OK ? spry_order_check(edge, n) : s;
}

spry_status sp_order_progress(const spry_order_options *o, int64_t done,
                              int64_t of)
{
    if (o->progress && o->progress(done, of, o->payload))
        return sp_fail(SPRY_STOPPED, "stopped after %lld of %lld",
                       (long long)done, (long long)of);
    return SPRY_OK;
}

/* ---- validity ---- */

typedef struct {
    const spry_network *n;
    int32_t *target; /* [edges], -1 once the edge was met */
    int32_t *left;   /* [neurons] in-edges not met yet */
} checking;

static void set_up(const checking *c)
{
    const spry_network *n = c->n;

    for (int64_t v = 0; v < n->neurons; v++) {
        c->left[v] = (int32_t)(n->start[v + 1] - n->start[v]);
        for (int64_t k = n->start[v]; k < n->start[v + 1]; k++)
            c->target[k] = (int32_t)v;
    }
}

static spry_status walk(const checking *c, const int32_t *edge)
{
    for (int64_t i = 0; i < c->n->edges; i++) {
        int32_t k = edge[i];

        if (k < 0 || k >= c->n->edges || c->target[k] < 0)
            return sp_fail(SPRY_WRONG,
                           "place %lld of the order holds edge %d, which is "
                           "none or was there before",
                           (long long)i, k);
        if (c->left[c->n->source[k]] > 0)
            return sp_fail(SPRY_WRONG,
                           "place %lld of the order needs neuron %d, which "
                           "still waits for %d edges",
                           (long long)i, c->n->source[k],
                           c->left[c->n->source[k]]);
        c->left[c->target[k]]--;
        c->target[k] = -1;
    }
    return SPRY_OK;
}

spry_status spry_order_check(const int32_t *edge, const spry_network *n)
{
    SP_NEED(edge, n);

    checking c = {n, sp_alloc_raw(n->edges, sizeof *c.target),
                  sp_alloc_raw(n->neurons, sizeof *c.left)};
    spry_status s = SPRY_OK;

    if (!c.target || !c.left)
        s = sp_fail_memory((size_t)(n->edges + n->neurons) * 4);
    if (s == SPRY_OK) {
        set_up(&c);
        s = walk(&c, edge);
    }
    sp_free(c.target);
    sp_free(c.left);
    return s;
}
