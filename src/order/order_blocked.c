/* order_blocked.c - output-stationary orders: the outputs of a layer in
 * blocks, and for each block the sources streamed by once.
 *
 * A block's partial sums stay in fast memory while its inputs pass, so each
 * input is read once for each block that needs it. They pass to and fro: a
 * block begins with those that the one before ended with. Blocks are cut from the
 * outputs as numbered, or from the outputs sorted so that those with common
 * inputs meet: by min-hashes, numbers that two sets share with a probability
 * equal to their overlap. Either way O(n + m), and sorting. */
#include <stdlib.h>
#include <string.h>

#include "order/internal.h"

/* Move through the edges by source and drop each into its block's part of
 * the order: inside a block, sources ascend. next[b] ends behind block b. */
static void place_edges(int32_t *edge, int64_t *next, const sp_fanout *f,
                        const spry_network *n, const int32_t *block)
{
    for (int64_t i = 0; i < n->edges; i++) {
        int32_t k = f->edge[i];

        edge[next[block[f->target[k]]]++] = k;
    }
}

static void reverse(int32_t *edge, int64_t count)
{
    for (int64_t i = 0, j = count - 1; i < j; i++, j--) {
        int32_t k = edge[i];

        edge[i] = edge[j];
        edge[j] = k;
    }
}

/* Edges by the block of their target, blocks ascending; by source within,
 * descending in the first block, ascending in the next, and so on.
 * Valid when no block's neurons depend on each other or on a later block;
 * block[neurons] of inputs is not looked at. O(n + m) */
static spry_status sort_by_block(int32_t *edge, const spry_network *n,
                                 const int32_t *block, int64_t blocks)
{
    int64_t *next = sp_alloc(blocks + 1, sizeof *next);
    sp_fanout f;
    spry_status s;

    if (!next)
        return sp_fail_memory((size_t)blocks * sizeof *next);
    s = sp_fanout_make(&f, n);
    if (s == SPRY_OK) {
        for (int64_t v = n->inputs; v < n->neurons; v++)
            next[block[v] + 1] += n->start[v + 1] - n->start[v];
        for (int64_t b = 0; b < blocks; b++)
            next[b + 1] += next[b];
        place_edges(edge, next, &f, n, block);
        for (int64_t b = 0; b < blocks; b += 2)
            reverse(edge + (b ? next[b - 1] : 0),
                    next[b] - (b ? next[b - 1] : 0));
    }
    sp_fanout_free(&f);
    sp_free(next);
    return s;
}

/* ---- which outputs make a block ---- */

enum { HASHES = 4 };

typedef struct {
    uint64_t hash[HASHES];
    int32_t neuron;
} sketch;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The least of each hash over the inputs of v. */
static sketch sketch_of(const spry_network *n, int64_t v, uint64_t seed)
{
    sketch s = {.neuron = (int32_t)v};

    for (int h = 0; h < HASHES; h++) {
        uint64_t salt = mix(seed + (uint64_t)h + 1);

        s.hash[h] = UINT64_MAX;
        for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
            uint64_t x = mix((uint64_t)n->source[k] + salt);

            s.hash[h] = x < s.hash[h] ? x : s.hash[h];
        }
    }
    return s;
}

static int compare_sketches(const void *a, const void *b)
{
    const sketch *x = a, *y = b;

    for (int h = 0; h < HASHES; h++)
        if (x->hash[h] != y->hash[h])
            return x->hash[h] < y->hash[h] ? -1 : 1;
    return x->neuron < y->neuron ? -1 : 1;
}

/* Neurons first .. end - 1 into order[], neighbours alike. */
static void sort_by_sketch(int32_t *order, sketch *s, const spry_network *n,
                           int64_t layer, uint64_t seed)
{
    int64_t from = n->first[layer], count = n->first[layer + 1] - from;

    for (int64_t i = 0; i < count; i++)
        s[i] = sketch_of(n, from + i, seed);
    qsort(s, (size_t)count, sizeof *s, compare_sketches);
    for (int64_t i = 0; i < count; i++)
        order[i] = s[i].neuron;
}

/* ---- how many outputs make a block ---- */

enum { SAMPLES = 4 };

/* Outputs of a layer in the order that blocks are cut from, and a place for
 * each neuron to note when it was last met. */
typedef struct {
    const spry_network *net;
    const int32_t *output;
    int64_t count;
    int32_t *met;
    int32_t now;
} cutting;

/* The sources of `size` outputs from `first` on: how many, and their edges. */
static int64_t count_sources(cutting *c, int64_t first, int64_t size,
                             int64_t *edges)
{
    int64_t sources = 0;

    c->now++;
    for (int64_t i = first; i < first + size; i++) {
        int32_t v = c->output[i];

        *edges += c->net->start[v + 1] - c->net->start[v];
        for (int64_t k = c->net->start[v]; k < c->net->start[v + 1]; k++) {
            int32_t u = c->net->source[k];

            sources += c->met[u] != c->now;
            c->met[u] = c->now;
        }
    }
    return sources;
}

/* What an output costs in blocks of `size`, from a few of them: its share of
 * the sources read, and a write and a read whenever its sum left memory. A
 * source that passes by reaches it with the same chance each time; the sum
 * is lost when as many as fit beside the block pass without reaching it. */
static double cost_of_block(cutting *c, int64_t size, int64_t memory)
{
    int64_t blocks = c->count / size, sampled, sources = 0, edges = 0;
    double outputs, chance;

    sampled = blocks < SAMPLES ? blocks : SAMPLES;
    for (int64_t i = 0; i < sampled; i++)
        sources += count_sources(c, blocks * i / sampled * size, size, &edges);
    if (sources == 0)
        return 0;
    outputs = (double)(sampled * size);
    chance = (double)edges / (double)size / (double)sources;
    return (double)sources / outputs +
           2 * (double)edges / outputs *
               pow(chance < 1 ? 1 - chance : 0, (double)(memory - size));
}

/* Do all sources of the layer stay in memory, each used again and again
 * while neurons are finished one after the other? */
static int sources_stay(cutting *c, int64_t memory)
{
    int64_t edges = 0, all = count_sources(c, 0, c->count, &edges);
    double apart = (double)all * (double)c->count / (double)(edges + 1);

    return (double)all + 4 * apart <= (double)memory;
}

/* Half of memory, or fewer when their sums would not stay, or when nothing
 * needs to leave at all. */
static int64_t choose_block(cutting *c, int64_t memory)
{
    int64_t half = (memory + 1) / 2, best = half;
    double least = HUGE_VAL;

    if (half > c->count)
        return half;
    if (sources_stay(c, memory))
        return 1;
    for (int64_t size = half; size > 0; size = size * 3 / 4) {
        double cost = cost_of_block(c, size, memory);

        if (cost < 0.95 * least) { /* it is an estimate */
            least = cost;
            best = size;
        }
    }
    return best;
}

/* block[v] for all neurons, layer by layer; how many. With sketches they
 * decide who is whose neighbour. */
static int64_t cut_blocks(int32_t *block, int32_t *order, sketch *sketches,
                          cutting *c, const spry_order_options *o)
{
    const spry_network *n = c->net;
    int64_t blocks = 0;

    for (int64_t l = 0; l < n->layers; l++) {
        int64_t from = n->first[l], count = n->first[l + 1] - from, size;

        if (sketches)
            sort_by_sketch(order, sketches, n, l, o->seed);
        for (int64_t i = 0; !sketches && i < count; i++)
            order[i] = (int32_t)(from + i);
        c->output = order;
        c->count = count;
        size = o->block > 0 ? o->block : choose_block(c, o->memory);
        for (int64_t i = 0; i < count; i++)
            block[order[i]] = (int32_t)(blocks + i / size);
        blocks += (count + size - 1) / size;
    }
    return blocks;
}

static spry_status order_in_blocks(int32_t *edge, const spry_network *n,
                                   const spry_order_options *o, int clustered)
{
    int64_t widest = sp_network_widest(n), blocks;
    int32_t *block = sp_alloc(n->neurons, sizeof *block);
    int32_t *order = sp_alloc(widest, sizeof *order);
    sketch *sketches = sp_alloc(clustered ? widest : 0, sizeof *sketches);
    cutting c = {.net = n, .met = sp_alloc(n->neurons, sizeof *c.met)};
    spry_status s;

    if (block && order && sketches && c.met) {
        blocks = cut_blocks(block, order, clustered ? sketches : NULL, &c, o);
        s = sort_by_block(edge, n, block, blocks);
    } else {
        s = sp_fail_memory((size_t)n->neurons * sizeof *block);
    }
    sp_free(block);
    sp_free(order);
    sp_free(sketches);
    sp_free(c.met);
    return s;
}

static spry_status blocked(int32_t *edge, const spry_network *n,
                           const spry_order_options *o)
{
    return order_in_blocks(edge, n, o, 0);
}

static spry_status clustered(int32_t *edge, const spry_network *n,
                             const spry_order_options *o)
{
    return order_in_blocks(edge, n, o, 1);
}

const sp_order sp_order_blocked = {
    "blocked", "a block of outputs at a time, its sources streamed by",
    blocked};

const sp_order sp_order_clustered = {
    "clustered", "blocked, outputs with common inputs in one block", clustered};
