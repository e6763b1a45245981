/* counters.c - four numbers that tell an official network from a near miss.
 *
 * The 2020 champion's program prints them for every network it loads. They
 * come from its layout: 256 outputs are a block; the inputs a block needs,
 * ascending, are cut into buffers of 512; for each buffer and each 32 outputs
 * (a warp), as many weights are laid out as the longest of the 32 has there.
 * Any other permutation of the inputs changes them. */
#include "spry/network.h"

#include <string.h>

#include "network/internal.h"

enum { BLOCK = 256, BUFFER = 512, WARP = 32 };

typedef struct {
    int32_t *rank;    /* [inputs] place among the block's inputs, or -1 */
    int32_t *longest; /* [buffers] of the warp at hand */
    int32_t *length;  /* [buffers] of the output at hand */
} ranking;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rank the inputs that outputs from .. to - 1 need; how many. */
static int64_t rank_inputs(const ranking *r, const spry_layer *l, int64_t from,
                           int64_t to)
{
    int32_t count = 0;

    for (int64_t i = 0; i < l->inputs; i++)
        r->rank[i] = -1;
    for (int64_t k = l->start[from]; k < l->start[to]; k++)
        r->rank[l->source[k]] = 0;
    for (int64_t i = 0; i < l->inputs; i++)
        if (r->rank[i] == 0)
            r->rank[i] = count++;
    return count;
}

/* Sum over buffers of the longest output of the warp from .. to - 1. */
static int64_t count_warp(const ranking *r, const spry_layer *l, int64_t from,
                          int64_t to, int64_t buffers)
{
    int64_t sum = 0;

    memset(r->longest, 0, (size_t)buffers * sizeof *r->longest);
    for (int64_t j = from; j < to; j++) {
        memset(r->length, 0, (size_t)buffers * sizeof *r->length);
        for (int64_t k = l->start[j]; k < l->start[j + 1]; k++)
            r->length[r->rank[l->source[k]] / BUFFER]++;
        for (int64_t b = 0; b < buffers; b++)
            if (r->length[b] > r->longest[b])
                r->longest[b] = r->length[b];
    }
    for (int64_t b = 0; b < buffers; b++)
        sum += r->longest[b];
    return sum;
}

static void count_layer(spry_counters *c, const ranking *r, const spry_layer *l)
{
    int64_t warpnz = 0;

    for (int64_t from = 0; from < l->outputs; from += BLOCK) {
        int64_t to = least(from + BLOCK, l->outputs);
        int64_t inputs = rank_inputs(r, l, from, to);
        int64_t buffers = (inputs + BUFFER - 1) / BUFFER;

        c->map += inputs;
        c->buffers += buffers;
        for (int64_t w = from; w < to; w += WARP)
            warpnz += count_warp(r, l, w, least(w + WARP, to), buffers);
    }
    c->warpnz += warpnz;
    if (WARP * warpnz > c->weight_max)
        c->weight_max = WARP * warpnz;
}

static spry_status count_one(spry_counters *c, const spry_layer *l)
{
    int64_t buffers = l->inputs / BUFFER + 1;
    ranking r = {sp_alloc_raw(l->inputs, sizeof *r.rank),
                 sp_alloc_raw(buffers, sizeof *r.longest),
                 sp_alloc_raw(buffers, sizeof *r.length)};
    spry_status s = SPRY_OK;

    if (r.rank && r.longest && r.length)
        count_layer(c, &r, l);
    else
        s = sp_fail_memory((size_t)l->inputs * sizeof *r.rank);
    sp_free(r.rank);
    sp_free(r.longest);
    sp_free(r.length);
    return s;
}

spry_status spry_layers_counters(spry_counters *out, spry_layers *from)
{
    SP_NEED(out, from);
    SP_ROOM(out);

    spry_counters whole = {0};
    const spry_layer *layer = NULL;
    spry_status s = spry_layers_rewind(from);

    if (s == SPRY_OK)
        s = spry_layers_next(from, &layer);
    while (s == SPRY_OK && layer) {
        s = count_one(&whole, layer);
        if (s == SPRY_OK)
            s = spry_layers_next(from, &layer);
    }
    SP_GIVE(out, &whole);
    return s;
}
