/* fanout.c - the edges by the neuron they leave: the in-edges, transposed. */
#include "network/internal.h"

/* start[u] = first out-edge of u, by counting. */
static void count_sources(int64_t *start, const spry_network *n)
{
    int64_t at = 0;

    for (int64_t k = 0; k < n->edges; k++)
        start[n->source[k]]++;
    for (int64_t u = 0; u <= n->neurons; u++) {
        int64_t count = u < n->neurons ? start[u] : 0;

        start[u] = at;
        at += count;
    }
}

/* Edges are met in ascending order, so each list ascends. While placing,
 * start[u] is where the next edge of u goes: in the end u + 1's beginning. */
static void place_edges(const sp_fanout *f, const spry_network *n)
{
    for (int64_t v = 0; v < n->neurons; v++)
        for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
            f->target[k] = (int32_t)v;
            f->edge[f->start[n->source[k]]++] = (int32_t)k;
        }
    for (int64_t u = n->neurons; u > 0; u--)
        f->start[u] = f->start[u - 1];
    f->start[0] = 0;
}

spry_status sp_fanout_make(sp_fanout *out, const spry_network *n)
{
    *out = (sp_fanout){0};
    if (n->edges > INT32_MAX)
        return sp_fail(SPRY_USAGE,
                       "%lld edges are too many to order; at most 2^31 - 1",
                       (long long)n->edges);
    out->start = sp_alloc(n->neurons + 1, sizeof *out->start);
    out->edge = sp_alloc_raw(n->edges, sizeof *out->edge);
    out->target = sp_alloc_raw(n->edges, sizeof *out->target);
    if (!out->start || !out->edge || !out->target) {
        sp_fanout_free(out);
        return sp_fail_memory((size_t)n->edges * 8);
    }
    count_sources(out->start, n);
    place_edges(out, n);
    return SPRY_OK;
}

void sp_fanout_free(sp_fanout *f)
{
    sp_free(f->start);
    sp_free(f->edge);
    sp_free(f->target);
    *f = (sp_fanout){0};
}
