/* whole_network.h - networks whose weights are small integers, drawn by chance. */
#ifndef SPRY_WHOLE_NETWORK_H
#define SPRY_WHOLE_NETWORK_H

#include "base/base.h"
#include "network/internal.h"

typedef struct {
    int64_t width, depth;
    int twins; /* of how many neurons one has the row of another */
    int skips; /* do edges skip layers? */
    int on_nonzero;
    spry_activation activation;
} recipe;

static inline int32_t draw_source(const recipe *c, int64_t l, sp_rng *r)
{
    int64_t from = c->skips ? 0 : l * c->width;
    int64_t count = (l + 1) * c->width - from;

    return (int32_t)(from + (int64_t)sp_rng_below(r, (uint64_t)count));
}

/* The row of neuron v: drawn, or that of the neuron before. */
static inline void draw_row(sp_parts *p, const recipe *c, int64_t v, sp_rng *r)
{
    int64_t l = v / c->width - 1, at = p->edges, before = p->start[v - 1];
    int copy = v % c->width > 0 && sp_rng_below(r, (uint64_t)c->twins) > 0;
    int64_t count = copy ? at - before : (int64_t)sp_rng_below(r, 6);

    for (int64_t i = 0; i < count; i++) {
        p->source[at + i] = copy ? p->source[before + i] : draw_source(c, l, r);
        p->weight[at + i] =
            copy ? p->weight[before + i] : (float)sp_rng_below(r, 7) - 3;
    }
    if (!copy) {
        int64_t kept = 0;

        sp_sort_sources(p->source + at, count);
        for (int64_t i = 0; i < count; i++)
            if (i == 0 || p->source[at + i] != p->source[at + i - 1])
                p->source[at + kept++] = p->source[at + i];
        count = kept;
    }
    p->bias[v] = copy ? p->bias[v - 1] : (float)sp_rng_below(r, 5) - 2;
    p->edges += count;
    p->start[v + 1] = p->edges;
}

static inline spry_network *integers(const recipe *c, uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);
    sp_parts p = {.neurons = c->width * (c->depth + 1),
                  .inputs = c->width,
                  .outputs = c->width,
                  .layers = c->depth,
                  .edges = 6 * c->width * c->depth,
                  .bias_on_nonzero = c->on_nonzero};
    spry_network *n;

    check_ok(sp_parts_alloc(&p));
    p.edges = 0;
    for (int64_t l = 0; l <= c->depth; l++)
        p.first[l] = (l + 1) * c->width;
    for (int64_t l = 0; l < c->depth; l++)
        p.activation[l] = c->activation;
    for (int64_t v = c->width; v < p.neurons; v++)
        draw_row(&p, c, v, &r);
    for (int64_t i = 0; i < c->width; i++)
        p.output[i] = (int32_t)(c->depth * c->width + i);
    if (c->skips)
        p.output[0] = (int32_t)c->width; /* an inner neuron, too */
    check_ok(sp_network_adopt(&n, &p, NULL, "integers"));
    return n;
}

#endif
