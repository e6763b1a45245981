/* stream.c - Algorithm 1: one multiply and add for each edge, in any order.
 *
 *     for each edge (u, v, w) in order:
 *         value(v) += w value(u)
 *         if it is the last into v: value(v) = activation(value(v) + bias)
 *
 * Which edge is the last is known once the order is: a bit of the record.
 * Neurons without in-edges have no last one; they are set before the first
 * edge runs. Several inputs run in step as a tile, a vector for each neuron. */
#include <string.h>

#include "form/internal.h"

enum { TILE = 16 };
#define LAST 0x80000000u

typedef struct {
    uint32_t source; /* with LAST */
    int32_t target;
    float weight;
} edge_record;

struct sp_stream {
    const spry_network *net;
    edge_record *edge; /* [edges] */
    int32_t *layer;    /* [neurons] */
    int32_t *lone;     /* [lones] neurons that no edge reaches */
    int64_t lones;
    int threads;
};

/* ---- making ---- */

/* The edges in order; walking backwards, the first into v is its last. */
static void lay_out(const sp_stream *s, const int32_t *order,
                    const int32_t *target)
{
    const spry_network *n = s->net;
    int32_t *done = s->layer; /* not needed yet: 1 once v's last is known */

    memset(done, 0, (size_t)n->neurons * sizeof *done);
    for (int64_t i = n->edges; i-- > 0;) {
        int32_t k = order[i], v = target[k];

        s->edge[i].source = (uint32_t)n->source[k] | (done[v] ? 0 : LAST);
        s->edge[i].target = v;
        s->edge[i].weight = n->weight[k];
        done[v] = 1;
    }
}

static void find_lones(sp_stream *s)
{
    const spry_network *n = s->net;

    for (int64_t v = n->inputs; v < n->neurons; v++)
        if (n->start[v] == n->start[v + 1])
            s->lone[s->lones++] = (int32_t)v;
}

static spry_status fill(sp_stream *s, const int32_t *order)
{
    sp_fanout f;
    spry_status status = sp_fanout_make(&f, s->net);

    if (status != SPRY_OK)
        return status;
    lay_out(s, order, f.target);
    sp_fanout_free(&f);
    find_lones(s);
    sp_network_layer_of(s->layer, s->net);
    return SPRY_OK;
}

spry_status sp_stream_make(sp_stream **out, const spry_network *n,
                           const int32_t *order, int threads)
{
    SP_NEED_NEW(out, n, order);

    spry_status status = spry_order_check(order, n);
    sp_stream *s;

    if (status != SPRY_OK)
        return status;
    s = sp_alloc(1, sizeof *s);
    if (!s)
        return sp_fail_memory(sizeof *s);
    s->net = n;
    s->threads = threads;
    s->edge = sp_alloc_raw(n->edges, sizeof *s->edge);
    s->layer = sp_alloc_raw(n->neurons, sizeof *s->layer);
    s->lone = sp_alloc_raw(n->neurons, sizeof *s->lone);
    if (!s->edge || !s->layer || !s->lone)
        status = sp_fail_memory((size_t)n->edges * sizeof *s->edge);
    if (status == SPRY_OK)
        status = fill(s, order);
    if (status == SPRY_OK)
        *out = s;
    else
        sp_stream_free(s);
    return status;
}

double sp_stream_bytes(const sp_stream *s)
{
    return (double)s->net->edges * sizeof *s->edge +
           (double)s->net->neurons * (sizeof *s->layer + sizeof *s->lone);
}

void sp_stream_free(sp_stream *s)
{
    if (!s)
        return;
    sp_free(s->edge);
    sp_free(s->layer);
    sp_free(s->lone);
    sp_free(s);
}

/* ---- running ---- */

static float finish(const sp_stream *s, int64_t v, float sum)
{
    const spry_network *n = s->net;

    return sp_finish(n->activation[s->layer[v]], sum, n->bias[v],
                     n->bias_on_nonzero);
}

/* value[neurons], of which the inputs are set. */
static void run_edges(float *value, const sp_stream *s)
{
    const edge_record *e = s->edge, *end = e + s->net->edges;

    for (; e < end; e++) {
        uint32_t u = e->source & ~LAST;

        value[e->target] += e->weight * value[u];
        if (e->source & LAST)
            value[e->target] = finish(s, e->target, value[e->target]);
    }
}

/* No neuron feeds itself: the two do not overlap. */
static inline void add_scaled(float *restrict to, const float *restrict from,
                              float weight)
{
    for (int b = 0; b < TILE; b++)
        to[b] += weight * from[b];
}

/* The same for value[neurons][TILE]. */
static void run_edges_tiled(float (*value)[TILE], const sp_stream *s)
{
    const edge_record *e = s->edge, *end = e + s->net->edges;

    for (; e < end; e++) {
        float *to = value[e->target];

        add_scaled(to, value[e->source & ~LAST], e->weight);
        if (e->source & LAST)
            for (int b = 0; b < TILE; b++)
                to[b] = finish(s, e->target, to[b]);
    }
}

static void run_one(float *value, const sp_stream *s, float *y, const float *x)
{
    const spry_network *n = s->net;

    memcpy(value, x, (size_t)n->inputs * sizeof *value);
    memset(value + n->inputs, 0,
           (size_t)(n->neurons - n->inputs) * sizeof *value);
    for (int64_t i = 0; i < s->lones; i++)
        value[s->lone[i]] = finish(s, s->lone[i], 0);
    run_edges(value, s);
    for (int64_t i = 0; i < n->outputs; i++)
        y[i] = value[n->output[i]];
}

/* `count` inputs at x, at most TILE; the rest of the tile is zero. */
static void run_tile(float (*value)[TILE], const sp_stream *s, float *y,
                     const float *x, int64_t count)
{
    const spry_network *n = s->net;

    memset(value, 0, (size_t)n->neurons * sizeof *value);
    for (int64_t b = 0; b < count; b++)
        for (int64_t v = 0; v < n->inputs; v++)
            value[v][b] = x[b * n->inputs + v];
    for (int64_t i = 0; i < s->lones; i++)
        for (int b = 0; b < TILE; b++)
            value[s->lone[i]][b] = finish(s, s->lone[i], 0);
    run_edges_tiled(value, s);
    for (int64_t b = 0; b < count; b++)
        for (int64_t i = 0; i < n->outputs; i++)
            y[b * n->outputs + i] = value[n->output[i]][b];
}

static spry_status run_single(const sp_stream *s, float *y, const float *x)
{
    float *value = sp_alloc_raw(s->net->neurons, sizeof *value);

    if (!value)
        return sp_fail_memory((size_t)s->net->neurons * sizeof *value);
    run_one(value, s, y, x);
    sp_free(value);
    return SPRY_OK;
}

spry_status sp_stream_run(const sp_stream *s, float *y, const float *x,
                          int64_t batch)
{
    SP_NEED(s, y, x);
    SP_REFUSE(batch < 0, "a batch cannot have %lld inputs", (long long)batch);

    const spry_network *n = s->net;
    int64_t tiles = (batch + TILE - 1) / TILE;
    int short_of_memory = 0;

    SP_REFUSE(sp_overlap(x, (size_t)(batch * n->inputs) * sizeof *x, y,
                         (size_t)(batch * n->outputs) * sizeof *y),
              "the outputs y lie over the inputs x");
    if (batch == 1)
        return run_single(s, y, x);
#pragma omp parallel num_threads(s->threads) \
    reduction(|                              \
              : short_of_memory) if (tiles > 1)
    {
        float(*value)[TILE] = sp_alloc_raw(n->neurons, sizeof *value);

        short_of_memory = !value;
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < tiles; t++)
            if (value)
                run_tile(value, s, y + t * TILE * n->outputs,
                         x + t * TILE * n->inputs,
                         batch - t * TILE < TILE ? batch - t * TILE : TILE);
        sp_free(value);
    }
    if (short_of_memory)
        return sp_fail_memory((size_t)n->neurons * TILE * sizeof(float));
    return SPRY_OK;
}
