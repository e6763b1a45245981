/* passes.h - what the passes over a network share. */
#ifndef SP_SHRINK_PASSES_H
#define SP_SHRINK_PASSES_H

#include "network/network.h"
#include "spry/shrink.h"

typedef struct {
    const char *name, *help;
    /* A smaller network, or NULL in *out when it would be the same. NULL: it
     * is no map, but something the running does. */
    spry_status (*map)(spry_network **out, const spry_network *n);
    int whole; /* over all layers at once only, not over some of them */
} sp_pass;

extern const sp_pass sp_pass_factor, sp_pass_merge, sp_pass_inline,
    sp_pass_dead, sp_pass_renumber, sp_pass_rest;

const sp_pass *sp_pass_at(int i); /* NULL past the last */

/* *sum += x, if that is exact. */
static inline int sp_add_exactly(float *sum, float x)
{
    float total = *sum + x, part = total - *sum;
    float lost = (*sum - (total - part)) + (x - part);

    if (!isfinite(total) || lost < 0 || lost > 0)
        return 0;
    *sum = total;
    return 1;
}

/* ---- rows (rows.c) ---- */

typedef struct {
    int32_t source;
    float weight;
} sp_edge;

/* Ascending by source. */
void sp_edges_sort(sp_edge *edge, int64_t count);

/* Numbers by hash, -1 where there is none. */
typedef struct {
    int32_t *slot; /* [mask + 1] */
    uint64_t mask;
} sp_table;

/* Room for tables of up to `most` numbers; free slot with sp_free. */
spry_status sp_table_alloc(sp_table *t, int64_t most);
/* Empty, for `count` numbers. */
void sp_table_clear(sp_table *t, int64_t count);

static inline uint64_t sp_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* Of each neuron of layer l the first one with the same sources and weights,
 * into like[], and how many these are, into rows[] of the first; hash[] is
 * room. All are [neurons]. */
void sp_rows_alike(int32_t *like, int32_t *rows, uint64_t *hash,
                   const spry_network *n, int64_t l, sp_table *t);

/* ---- ranges (range.c) ---- */

/* All that a neuron's value can be, however its sum is ordered. */
typedef struct {
    double low, high;
} sp_range;

/* Of neuron v in layer l, from the ranges of its sources. */
sp_range sp_range_of(const sp_range *range, const spry_network *n, int64_t v,
                     int64_t l);

#endif
