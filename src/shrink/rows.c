/* rows.c - rows of edges: sorted, hashed, compared. */
#include <stdlib.h>
#include <string.h>

#include "shrink/passes.h"

static int by_source(const void *a, const void *b)
{
    int32_t x = ((const sp_edge *)a)->source, y = ((const sp_edge *)b)->source;

    return (x > y) - (x < y);
}

void sp_edges_sort(sp_edge *edge, int64_t count)
{
    int64_t i = 1;

    while (i < count && edge[i - 1].source < edge[i].source)
        i++;
    if (i < count)
        qsort(edge, (size_t)count, sizeof *edge, by_source);
}

/* ---- tables ---- */

static uint64_t mask_for(int64_t count)
{
    uint64_t mask = 15;

    while (mask < 2 * (uint64_t)count)
        mask = 2 * mask + 1;
    return mask;
}

spry_status sp_table_alloc(sp_table *t, int64_t most)
{
    int64_t slots = (int64_t)mask_for(most) + 1;

    t->slot = sp_alloc_raw(slots, sizeof *t->slot);
    return t->slot ? SPRY_OK : sp_fail_memory((size_t)slots * sizeof *t->slot);
}

void sp_table_clear(sp_table *t, int64_t count)
{
    t->mask = mask_for(count);
    memset(t->slot, -1, (size_t)(t->mask + 1) * sizeof *t->slot);
}

/* ---- equal rows ---- */

/* Four chains: a multiplication need not wait for the one before. */
static uint64_t hash_row(const spry_network *n, int64_t v)
{
    uint64_t h[4] = {1, 2, 3, 4};
    int64_t from = n->start[v], count = n->start[v + 1] - from;

    for (int64_t i = 0; i < count; i++) {
        uint64_t w = sp_float_bits(n->weight[from + i]);

        h[i & 3] = sp_mix(h[i & 3], w << 32 | (uint32_t)n->source[from + i]);
    }
    return sp_mix(sp_mix(h[0], h[1]), sp_mix(h[2], h[3]) + 1);
}

static int same_row(const spry_network *n, int64_t a, int64_t b)
{
    int64_t x = n->start[a], y = n->start[b], count = n->start[a + 1] - x;

    return count == n->start[b + 1] - y &&
           (count == 0 || (memcmp(n->source + x, n->source + y,
                                  (size_t)count * sizeof *n->source) == 0 &&
                           memcmp(n->weight + x, n->weight + y,
                                  (size_t)count * sizeof *n->weight) == 0));
}

void sp_rows_alike(int32_t *like, int32_t *rows, uint64_t *hash,
                   const spry_network *n, int64_t l, sp_table *t)
{
    int64_t from = n->first[l], end = n->first[l + 1];

    sp_table_clear(t, end - from);
#pragma omp parallel for schedule(static) if (end - from > 4096)
    for (int64_t v = from; v < end; v++)
        hash[v] = hash_row(n, v);
    for (int64_t v = from; v < end; v++) {
        uint64_t i = hash[v] & t->mask;

        while (t->slot[i] >= 0 &&
               (hash[t->slot[i]] != hash[v] || !same_row(n, t->slot[i], v)))
            i = (i + 1) & t->mask;
        if (t->slot[i] < 0) {
            t->slot[i] = (int32_t)v;
            rows[v] = 0;
        }
        like[v] = t->slot[i];
        rows[like[v]]++;
    }
}
