/* rows_pack.c - layers laid out for many inputs at a time: outputs that read
 * the same sources lie together, and so do their values. In the network's own
 * order they are often a power of two apart, and fight for one set of the
 * cache: RadiX-Nets ran at half the speed. */
#include "form/rows.h"

#include <stdlib.h>
#include <string.h>

/* A neuron and what to sort it by: a hash of its sources, or their number. */
typedef struct {
    uint64_t key;
    int32_t neuron;
} mark;

static uint64_t hash_sources(const spry_network *n, int64_t v)
{
    uint64_t h = 0x9e3779b97f4a7c15u;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        h = (h ^ (uint64_t)n->source[k]) * 0xff51afd7ed558ccdu;
        h ^= h >> 29;
    }
    return h;
}

static int by_key(const void *a, const void *b)
{
    const mark *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->neuron > y->neuron) - (x->neuron < y->neuron);
}

static int same_sources(const spry_network *n, int64_t v, int64_t w)
{
    int64_t count = n->start[v + 1] - n->start[v];

    if (count != n->start[w + 1] - n->start[w])
        return 0;
    return count == 0 ||
           memcmp(n->source + n->start[v], n->source + n->start[w],
                  (size_t)count * sizeof *n->source) == 0;
}

/* group[i] = the smallest neuron of the layer with the sources of i, or one
 * of few when hashes collide. */
static void find_groups(int32_t *group, mark *m, const spry_network *n,
                        int64_t first, int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        m[i] = (mark){hash_sources(n, first + i), (int32_t)(first + i)};
    qsort(m, (size_t)width, sizeof *m, by_key);
    for (int64_t i = 0; i < width; i++) {
        int same = i > 0 && same_sources(n, m[i - 1].neuron, m[i].neuron);

        group[m[i].neuron - first] =
            same ? group[m[i - 1].neuron - first] : m[i].neuron;
    }
}

/* Where a layer's arrays are filled to. */
typedef struct {
    sp_share *share;
    float *bias, *weight;
    uint16_t *near;
    uint32_t *far;
    int64_t shares, outputs; /* of this layer */
} filling;

/* One share: `count` neurons with the same sources. */
static void put_share(filling *f, const sp_rows *r, const sp_rows_layer *l,
                      const int32_t *neuron, int count)
{
    const spry_network *n = r->net;
    int64_t k = n->start[neuron[0]];
    int32_t sources = (int32_t)(n->start[neuron[0] + 1] - k);

    *f->share++ = (sp_share){count, sources};
    f->shares++;
    for (int i = 0; i < count; i++) {
        r->places.home[neuron[i]] = (int32_t)(l->to + f->outputs++);
        *f->bias++ = n->bias[neuron[i]];
    }
    for (int32_t j = 0; j < sources; j++) {
        int64_t slot = r->places.home[n->source[k + j]] - l->from;

        if (l->far)
            *f->far++ = (uint32_t)slot;
        else
            *f->near++ = (uint16_t)slot;
        for (int i = 0; i < count; i++)
            *f->weight++ = n->weight[n->start[neuron[i]] + j];
    }
}

/* A group of any size, as shares of about equal size that fit registers. */
static void put_group(filling *f, const sp_rows *r, const sp_rows_layer *l,
                      const int32_t *neuron, int64_t count)
{
    int limit = l->far ? 1 : sp_share_limit(r->tile);
    int64_t shares = (count + limit - 1) / limit;

    for (int64_t i = 0; i < shares; i++) {
        int64_t from = count * i / shares, to = count * (i + 1) / shares;

        put_share(f, r, l, neuron + from, (int)(to - from));
    }
}

/* The members of each group, ascending: next[] chains them behind the
 * smallest, -1 at the end. */
static void chain_groups(int32_t *next, const int32_t *group, int64_t first,
                         int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        next[i] = -1;
    for (int64_t i = width; i-- > 0;) {
        int64_t head = group[i] - first;

        if (head != i) {
            next[i] = next[head];
            next[head] = (int32_t)i;
        }
    }
}

/* The heads of all groups into m[], those with few sources first: loops of
 * equal length follow each other, whose ends the CPU can foresee. */
static int64_t sort_heads(mark *m, const int32_t *group, const spry_network *n,
                          int64_t first, int64_t width)
{
    int64_t heads = 0;

    for (int64_t i = 0; i < width; i++)
        if (group[i] == first + i)
            m[heads++] = (mark){
                (uint64_t)(n->start[first + i + 1] - n->start[first + i]),
                group[i]};
    qsort(m, (size_t)heads, sizeof *m, by_key);
    return heads;
}

static void put_groups(filling *f, const sp_rows *r, const sp_rows_layer *l,
                       const mark *head, int64_t heads, const int32_t *next,
                       int32_t *member, int64_t first)
{
    for (int64_t i = 0; i < heads; i++) {
        int64_t count = 0;

        for (int64_t j = head[i].neuron - first; j >= 0; j = next[j])
            member[count++] = (int32_t)(first + j);
        put_group(f, r, l, member, count);
    }
}

typedef struct {
    mark *marks;
    int32_t *group, *next, *member;
} scratch;

static void put_layer(sp_rows *r, int64_t number, filling *f, scratch *w)
{
    const spry_network *n = r->net;
    sp_rows_layer *l = &r->layer[number];
    int64_t first = n->first[number], width = n->first[number + 1] - first;
    int64_t span, heads;

    *l = (sp_rows_layer){.from = sp_places_base(&span, &r->places, n, number),
                         .to = r->places.slot[number + 1],
                         .share = f->share,
                         .bias = f->bias,
                         .weight = f->weight,
                         .activation = n->activation[number],
                         .bias_on_nonzero = n->bias_on_nonzero};
    if (span <= UINT16_MAX)
        l->near = f->near;
    else
        l->far = f->far;
    f->shares = f->outputs = 0;
    find_groups(w->group, w->marks, n, first, width);
    chain_groups(w->next, w->group, first, width);
    heads = sort_heads(w->marks, w->group, n, first, width);
    put_groups(f, r, l, w->marks, heads, w->next, w->member, first);
    l->shares = f->shares;
}

/* Only layers that reach far back or are very wide need 32 bits. */
static int64_t far_edges(const sp_rows *r)
{
    const spry_network *n = r->net;
    int64_t edges = 0, span;

    for (int64_t l = 0; l < n->layers; l++) {
        sp_places_base(&span, &r->places, n, l);
        if (span > UINT16_MAX)
            edges += n->start[n->first[l + 1]] - n->start[n->first[l]];
    }
    return edges;
}

static spry_status alloc_arrays(sp_rows *r)
{
    const spry_network *n = r->net;
    int64_t own = n->neurons - n->inputs, far = far_edges(r);

    r->bytes = (double)n->layers * sizeof *r->layer +
               (double)own * (sizeof *r->share + sizeof *r->bias) +
               (double)n->edges * (sizeof *r->weight + sizeof *r->near) +
               (double)far * (sizeof *r->far - sizeof *r->near);
    r->layer = sp_alloc(n->layers, sizeof *r->layer);
    r->share = sp_alloc(own, sizeof *r->share);
    r->bias = sp_alloc(own, sizeof *r->bias);
    r->weight = sp_alloc(n->edges, sizeof *r->weight);
    r->near = sp_alloc(n->edges - far, sizeof *r->near);
    r->far = sp_alloc(far, sizeof *r->far);
    if (r->layer && r->share && r->bias && r->weight && r->near && r->far)
        return SPRY_OK;
    return sp_fail_memory((size_t)n->edges * 6);
}

spry_status sp_rows_pack(sp_rows *r)
{
    int64_t most = sp_network_widest(r->net);
    scratch w = {
        sp_alloc(most, sizeof *w.marks), sp_alloc(most, sizeof *w.group),
        sp_alloc(most, sizeof *w.next), sp_alloc(most, sizeof *w.member)};
    spry_status s = w.marks && w.group && w.next && w.member
                        ? alloc_arrays(r)
                        : sp_fail_memory((size_t)most * 24);

    if (s == SPRY_OK) {
        filling f = {r->share, r->bias, r->weight, r->near, r->far, 0, 0};

        for (int64_t l = 0; l < r->net->layers; l++)
            put_layer(r, l, &f, &w);
    }
    sp_free(w.marks);
    sp_free(w.group);
    sp_free(w.next);
    sp_free(w.member);
    return s;
}

/* One layer tells: the middle one. */
spry_status sp_form_sharing(double *outputs, const spry_network *n)
{
    int64_t first = n->first[n->layers / 2], groups = 0;
    int64_t width = n->first[n->layers / 2 + 1] - first;
    mark *marks = sp_alloc(width, sizeof *marks);
    int32_t *group = sp_alloc(width, sizeof *group);
    spry_status s =
        marks && group ? SPRY_OK : sp_fail_memory((size_t)width * 20);

    if (s == SPRY_OK)
        find_groups(group, marks, n, first, width);
    for (int64_t i = 0; s == SPRY_OK && i < width; i++)
        groups += group[i] == first + i;
    *outputs = groups > 0 ? (double)width / (double)groups : 1;
    sp_free(marks);
    sp_free(group);
    return s;
}

spry_status sp_rows_choose(int *tile, const spry_network *n)
{
    double outputs;
    spry_status s = sp_form_sharing(&outputs, n);

    *tile = outputs < 2 ? 32 : 16;
    return s;
}
