/* go.c - GO: next the vertex that has most to do with the last ones.
 *
 * Algorithm GO-PQ of Wei, Yu, Lu, Lin, 2016 (Algorithm 2 of Kamatar, 2023,
 * which prints the vertex that enters where the one that leaves is meant). A
 * vertex's key counts, over the last `window` vertices placed, the edges to
 * and from it and the in-neighbours in common. When a vertex is placed, the
 * keys of its neighbours and of its in-neighbours' out-neighbours go up; when
 * it leaves the window they go down again.
 *
 * Vertices wait in one list for each key, so a key that changes by one costs
 * O(1). An in-neighbour with very many out-neighbours says little about any
 * of them and is passed over, as in the paper; so is one in common to the
 * vertex that enters and the one that leaves. */
#include "order/go.h"

#include <string.h>

enum { REPORT_EVERY = 1 << 12, NONE = -1, FEW = 128 };

typedef enum { BLOCKED, WAITING, PLACED } stage;

typedef struct {
    const sp_graph *graph;
    int64_t window, many; /* out-neighbours that are too many */
    int along;
    uint8_t *stage;        /* [vertices] */
    int32_t *key;          /* [vertices] */
    int32_t *next, *prior; /* [vertices] in the list of its key */
    int32_t *head;         /* [keys] the first waiting vertex of each key */
    int64_t keys, top;     /* no vertex waits above top */
    int64_t *mark;         /* [vertices] in-neighbours of who leaves, below */
    int32_t *lacks;        /* [vertices] in-neighbours not placed yet */
} queue;

/* ---- lists by key ---- */

static void put(queue *q, int32_t v)
{
    int32_t first = q->head[q->key[v]];

    q->prior[v] = NONE;
    q->next[v] = first;
    if (first != NONE)
        q->prior[first] = v;
    q->head[q->key[v]] = v;
    if (q->key[v] > q->top)
        q->top = q->key[v];
}

static void take(queue *q, int32_t v)
{
    if (q->prior[v] == NONE)
        q->head[q->key[v]] = q->next[v];
    else
        q->next[q->prior[v]] = q->next[v];
    if (q->next[v] != NONE)
        q->prior[q->next[v]] = q->prior[v];
}

static void change_key(queue *q, int32_t v, int by)
{
    if (q->stage[v] == WAITING) {
        take(q, v);
        q->key[v] += by;
        put(q, v);
    } else {
        q->key[v] += by;
    }
}

/* The waiting vertex of the largest key; of several, the one whose key
 * changed last. */
static int32_t take_best(queue *q)
{
    int32_t v;

    while (q->head[q->top] == NONE)
        q->top--;
    v = q->head[q->top];
    take(q, v);
    return v;
}

/* ---- the window ---- */

static int64_t out_degree(const sp_graph *g, int32_t u)
{
    return g->out_start[u + 1] - g->out_start[u];
}

/* v enters (by = 1) or leaves (-1). In-neighbours whose mark is `skip` are
 * in common with the other one. */
static void change_window(queue *q, int32_t v, int by, int64_t skip)
{
    const sp_graph *g = q->graph;

    for (int64_t i = g->out_start[v]; i < g->out_start[v + 1]; i++)
        change_key(q, g->out[i], by);
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
        int32_t u = g->in[i];

        change_key(q, u, by);
        if (q->mark[u] == skip || out_degree(g, u) > q->many)
            continue;
        for (int64_t j = g->out_start[u]; j < g->out_start[u + 1]; j++)
            change_key(q, g->out[j], by);
    }
}

/* Mark the in-neighbours in common with `common`. */
static void mark_common(queue *q, int32_t a, int32_t b, int64_t common)
{
    const sp_graph *g = q->graph;

    for (int64_t i = g->in_start[a]; i < g->in_start[a + 1]; i++)
        q->mark[g->in[i]] = common - 1;
    for (int64_t i = g->in_start[b]; i < g->in_start[b + 1]; i++)
        if (q->mark[g->in[i]] == common - 1)
            q->mark[g->in[i]] = common;
}

static void move_window(queue *q, const int32_t *vertex, int64_t i)
{
    int64_t common = 2 * i + 2;

    if (i < q->window) {
        change_window(q, vertex[i], 1, common);
        return;
    }
    mark_common(q, vertex[i], vertex[i - q->window], common);
    change_window(q, vertex[i], 1, common);
    change_window(q, vertex[i - q->window], -1, common);
}

/* ---- the order ---- */

static void unblock(queue *q, int32_t v)
{
    const sp_graph *g = q->graph;

    for (int64_t i = g->out_start[v]; q->along && i < g->out_start[v + 1]; i++)
        if (--q->lacks[g->out[i]] == 0) {
            q->stage[g->out[i]] = WAITING;
            put(q, g->out[i]);
        }
}

/* The paper begins at the vertex of most in-neighbours. */
static int32_t take_first(queue *q)
{
    const sp_graph *g = q->graph;
    int64_t best = -1;
    int32_t first = 0;

    if (q->along)
        return take_best(q);
    for (int32_t v = 0; v < g->vertices; v++)
        if (g->in_start[v + 1] - g->in_start[v] > best) {
            best = g->in_start[v + 1] - g->in_start[v];
            first = v;
        }
    take(q, first);
    return first;
}

static spry_status place_vertices(int32_t *vertex, queue *q,
                                  const spry_order_options *o)
{
    int64_t n = q->graph->vertices;
    spry_status s = SPRY_OK;

    for (int64_t i = 0; s == SPRY_OK && i < n; i++) {
        int32_t v = i == 0 ? take_first(q) : take_best(q);

        vertex[i] = v;
        q->stage[v] = PLACED;
        unblock(q, v);
        move_window(q, vertex, i);
        if (i % REPORT_EVERY == 0)
            s = sp_order_progress(o, i, n);
    }
    return s;
}

/* ---- setting up ---- */

/* No key reaches this: a vertex's edges, and what each of its in-neighbours
 * can add. */
static int64_t count_keys(const queue *q)
{
    const sp_graph *g = q->graph;
    int64_t most = 0;

    for (int32_t v = 0; v < g->vertices; v++) {
        int64_t sum = out_degree(g, v) + 1;

        for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
            int64_t degree = out_degree(g, g->in[i]);

            if (degree > q->many)
                degree = 0;
            sum += 1 + (degree < q->window + 1 ? degree : q->window + 1);
        }
        most = sum > most ? sum : most;
    }
    return most + 1;
}

static spry_status alloc(queue *q)
{
    int64_t n = q->graph->vertices;

    q->keys = count_keys(q);
    q->stage = sp_alloc(n, sizeof *q->stage);
    q->key = sp_alloc(n, sizeof *q->key);
    q->next = sp_alloc_raw(n, sizeof *q->next);
    q->prior = sp_alloc_raw(n, sizeof *q->prior);
    q->head = sp_alloc_raw(q->keys, sizeof *q->head);
    q->mark = sp_alloc(n, sizeof *q->mark);
    q->lacks = sp_alloc(n, sizeof *q->lacks);
    if (q->stage && q->key && q->next && q->prior && q->head && q->mark &&
        q->lacks)
        return SPRY_OK;
    return sp_fail_memory((size_t)(n * 25 + q->keys * 4));
}

static void release(queue *q)
{
    sp_free(q->stage);
    sp_free(q->key);
    sp_free(q->next);
    sp_free(q->prior);
    sp_free(q->head);
    sp_free(q->mark);
    sp_free(q->lacks);
}

/* Lists grow at the front: going backwards, the smallest number is first. */
static void fill(queue *q)
{
    const sp_graph *g = q->graph;

    memset(q->head, NONE, (size_t)q->keys * sizeof *q->head);
    for (int64_t v = g->vertices; v-- > 0;) {
        q->lacks[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
        if (q->along && q->lacks[v] > 0)
            continue;
        q->stage[v] = WAITING;
        put(q, (int32_t)v);
    }
}

spry_status sp_go_order(int32_t *vertex, const sp_graph *g, int along,
                        const spry_order_options *o)
{
    queue q = {.graph = g, .along = along, .many = FEW, .window = o->window};
    spry_status s;

    while (q.many * q.many < g->vertices)
        q.many++;
    s = alloc(&q);
    if (s == SPRY_OK) {
        fill(&q);
        s = place_vertices(vertex, &q, o);
    }
    release(&q);
    return s;
}
