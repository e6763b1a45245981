/* place.c - where the values of a network lie while it runs.
 *
 * Layers come one after the other, and each is needed until its last reader
 * is done. Its slots are then free for others: a chain of any depth lives in
 * the room of its two widest neighbours, which stay in the cache. */
#include <string.h>

#include "form/internal.h"

/* Blocks begin at a multiple of so many slots: whole lines, whatever a slot
 * holds. */
enum { ROUND = 16 };

typedef struct {
    const spry_network *n;
    sp_places *p;
    int64_t *until; /* [layers + 1] the last layer that needs a block */
    int64_t *live;  /* [lives] blocks in use, ascending by slot */
    int64_t lives;
} placing;

static int64_t width_of(const spry_network *n, int64_t block)
{
    int64_t w = block ? n->first[block] - n->first[block - 1] : n->inputs;

    return (w + ROUND - 1) / ROUND * ROUND;
}

/* The block of a neuron; blocks begin at 0, first[0], first[1]... */
static int64_t block_of(const spry_network *n, int64_t v)
{
    int64_t low = 0, high = n->layers; /* block low begins at or before v */

    while (low < high) {
        int64_t mid = (low + high + 1) / 2;

        if (n->first[mid - 1] <= v)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* Sources ascend, so most lie in the block of the one before. */
static void find_ends(placing *g)
{
    const spry_network *n = g->n;
    int64_t b = 0;

    for (int64_t l = 0; l <= n->layers; l++)
        g->until[l] = l - 1; /* when nobody reads it: until it is made */
    for (int64_t l = 0; l < n->layers; l++)
        for (int64_t k = n->start[n->first[l]]; k < n->start[n->first[l + 1]];
             k++) {
            int64_t v = n->source[k];

            if (v < (b ? n->first[b - 1] : 0) || v >= n->first[b])
                b = block_of(n, v);
            g->until[b] = l;
        }
    for (int64_t i = 0; i < n->outputs; i++)
        g->until[block_of(n, n->output[i])] = n->layers;
}

/* The first gap between live blocks that is wide enough. */
static void put(placing *g, int64_t block)
{
    int64_t width = width_of(g->n, block), at = 0, i = 0;

    for (; i < g->lives; i++) {
        int64_t next = g->p->slot[g->live[i]];

        if (next - at >= width)
            break;
        at = next + width_of(g->n, g->live[i]);
    }
    memmove(g->live + i + 1, g->live + i,
            (size_t)(g->lives - i) * sizeof *g->live);
    g->live[i] = block;
    g->lives++;
    g->p->slot[block] = at;
    if (at + width > g->p->slots)
        g->p->slots = at + width;
}

/* Blocks that nobody needs once layer l is done. */
static void drop(placing *g, int64_t l)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < g->lives; i++)
        if (g->until[g->live[i]] > l)
            g->live[kept++] = g->live[i];
    g->lives = kept;
}

static void place_all(placing *g)
{
    const spry_network *n = g->n;

    put(g, 0);
    for (int64_t l = 0; l < n->layers; l++) {
        put(g, l + 1);
        drop(g, l);
        g->p->alone[l] = g->lives == 1 && g->live[0] == l + 1;
    }
    for (int64_t b = 0; b <= n->layers; b++) {
        int64_t begin = b ? n->first[b - 1] : 0;

        for (int64_t v = begin; v < n->first[b]; v++)
            g->p->home[v] = (int32_t)(g->p->slot[b] + v - begin);
    }
}

spry_status sp_places_make(sp_places *out, const spry_network *n)
{
    placing g = {n, out, sp_alloc(n->layers + 1, sizeof *g.until),
                 sp_alloc(n->layers + 1, sizeof *g.live), 0};
    spry_status s = SPRY_OK;

    *out = (sp_places){sp_alloc(n->layers + 1, sizeof *out->slot),
                       sp_alloc(n->layers, sizeof *out->alone),
                       sp_alloc_raw(n->neurons, sizeof *out->home), 0};
    if (!g.until || !g.live || !out->slot || !out->alone || !out->home)
        s = sp_fail_memory((size_t)n->neurons * sizeof *out->home);
    if (s == SPRY_OK) {
        find_ends(&g);
        place_all(&g);
        if (out->slots > INT32_MAX)
            s = sp_fail(SPRY_USAGE, "the network is too wide to be laid out");
    }
    sp_free(g.until);
    sp_free(g.live);
    if (s != SPRY_OK)
        sp_places_free(out);
    return s;
}

void sp_places_free(sp_places *p)
{
    sp_free(p->slot);
    sp_free(p->alone);
    sp_free(p->home);
    *p = (sp_places){0};
}

int64_t sp_places_base(int64_t *span, const sp_places *p, const spry_network *n,
                       int64_t l)
{
    int64_t low = INT32_MAX, high = 0;

    for (int64_t k = n->start[n->first[l]]; k < n->start[n->first[l + 1]];
         k++) {
        int64_t at = p->home[n->source[k]];

        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    *span = high > low ? high - low : 0;
    return low < INT32_MAX ? low : 0;
}
