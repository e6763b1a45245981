/* order_ego.c - EGO: next the edge that has most to do with the last ones.
 *
 * Algorithm 3 of Kamatar, 2023. Its queue is ordered by (k1, k2): k1 is 0
 * once all edges into an edge's source are out, and k2 counts the edges among
 * the last `window` ones that have the same source, the same target, or lead
 * to this one's source. With
 *
 *     S(x) = edges in the window with source x,  D(x) = with target x
 *
 * k2 of an edge is a sum over its ends:  k2(a, b) = S(a) + D(a) + D(b).
 * So there is no queue of edges: an edge that enters or leaves the window
 * changes one S and one D, and the best ready edge is the best of
 *
 *   - the edges between the vertices with S + D > 0 and those with D > 0,
 *     of which there are at most 2 window and window,
 *   - the first edge left out of each of the former,
 *   - the first ready edge left into each of the latter,
 *   - the first ready edge of all, if every k2 is 0.
 *
 * "First" settles ties: of two edges with the same k2 that one goes first
 * whose source became ready earlier, then the one with the smaller number.
 * Sources become ready when the last edge into them is out; those without
 * in-edges at the beginning, by number. Time O(m window^2) at worst, less by
 * far since most pairs cannot win; memory O(n + m). */
#include "order/internal.h"

enum { REPORT_EVERY = 1 << 16, NONE = -1 };

typedef struct {
    const spry_network *net;
    sp_fanout out;
    int64_t *out_at; /* [neurons] the first out-edge that may be left */
    int64_t *in_at;  /* [neurons] the same of ready in-edges, */
    int64_t *in_end; /* [neurons] and behind the last of them */
    int32_t
        *in_edge;   /* [edges] ready in-edges from start[v] on, as they came */
    int32_t *rank;  /* [neurons] the how-many-th to become ready, or NONE */
    int32_t *queue; /* [neurons] the ready ones by rank */
    int64_t ready, front;
    int32_t *waits;    /* [neurons] in-edges not out yet */
    uint8_t *gone;     /* [edges] already out */
    int32_t *near_out; /* [neurons] S + D */
    int32_t *near_in;  /* [neurons] D */
    int32_t *active;   /* [2 window + 2] vertices with S + D > 0 */
    int32_t *place;    /* [neurons] where in active */
    int64_t actives;
    int32_t *from, *into; /* [2 window + 2] ends of edges that may be best */
} ego;

/* ---- what is left ---- */

/* The first edge left out of u, or NONE. */
static int32_t first_out(ego *g, int32_t u)
{
    int64_t end = g->out.start[u + 1];

    while (g->out_at[u] < end && g->gone[g->out.edge[g->out_at[u]]])
        g->out_at[u]++;
    return g->out_at[u] < end ? g->out.edge[g->out_at[u]] : NONE;
}

/* The first ready edge left into v, or NONE. */
static int32_t first_in(ego *g, int32_t v)
{
    while (g->in_at[v] < g->in_end[v] && g->gone[g->in_edge[g->in_at[v]]])
        g->in_at[v]++;
    return g->in_at[v] < g->in_end[v] ? g->in_edge[g->in_at[v]] : NONE;
}

/* The first ready edge of all. */
static int32_t first_ready(ego *g)
{
    while (first_out(g, g->queue[g->front]) == NONE)
        g->front++;
    return first_out(g, g->queue[g->front]);
}

static void become_ready(ego *g, int32_t u)
{
    g->rank[u] = (int32_t)g->ready;
    g->queue[g->ready++] = u;
    for (int64_t i = g->out.start[u]; i < g->out.start[u + 1]; i++) {
        int32_t k = g->out.edge[i];

        g->in_edge[g->in_end[g->out.target[k]]++] = k;
    }
}

/* The edge from a to b if it is left, else NONE. */
static int32_t edge_between(const ego *g, int32_t a, int32_t b)
{
    int64_t low = g->net->start[b], high = g->net->start[b + 1];

    while (low < high) {
        int64_t middle = (low + high) / 2;

        if (g->net->source[middle] < a)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == g->net->start[b + 1] || g->net->source[low] != a)
        return NONE;
    return g->gone[low] ? NONE : (int32_t)low;
}

/* ---- the window ---- */

/* `by` is 1 or -1; a vertex is active while S + D > 0. */
static void change_near(ego *g, int32_t x, int32_t by)
{
    if (g->near_out[x] == 0) {
        g->place[x] = (int32_t)g->actives;
        g->active[g->actives++] = x;
    }
    g->near_out[x] += by;
    if (g->near_out[x] == 0) {
        int32_t last = g->active[--g->actives];

        g->active[g->place[x]] = last;
        g->place[last] = g->place[x];
    }
}

static void change_window(ego *g, int32_t k, int32_t by)
{
    g->near_in[g->out.target[k]] += by;
    change_near(g, g->net->source[k], by);
    change_near(g, g->out.target[k], by);
}

/* ---- the best edge ---- */

typedef struct {
    int32_t edge, key, rank;
} choice;

static int beats(const choice *x, const choice *y)
{
    if (x->key != y->key)
        return x->key > y->key;
    return x->rank != y->rank ? x->rank < y->rank : x->edge < y->edge;
}

static void consider(const ego *g, choice *best, int32_t k)
{
    int32_t a = g->net->source[k];
    choice x = {k, g->near_out[a] + g->near_in[g->out.target[k]], g->rank[a]};

    if (best->edge == NONE || beats(&x, best))
        *best = x;
}

/* Edges between from[] and into[]; a look-up only where one could win. */
static void consider_pairs(const ego *g, choice *best, int64_t froms,
                           int64_t intos, int32_t most_in)
{
    for (int64_t i = 0; i < froms; i++) {
        int32_t a = g->from[i], near = g->near_out[a];

        if (near + most_in < best->key)
            continue;
        for (int64_t j = 0; j < intos; j++) {
            int32_t key = near + g->near_in[g->into[j]], k;

            if (key < best->key ||
                (key == best->key && g->rank[a] > best->rank))
                continue;
            k = edge_between(g, a, g->into[j]);
            if (k != NONE)
                consider(g, best, k);
        }
    }
}

static int32_t best_edge(ego *g)
{
    choice best = {NONE, 0, 0};
    int64_t froms = 0, intos = 0;
    int32_t most_in = 0;

    for (int64_t i = 0; i < g->actives; i++) {
        int32_t x = g->active[i];
        int32_t out = g->rank[x] == NONE ? NONE : first_out(g, x);
        int32_t in = g->near_in[x] == 0 ? NONE : first_in(g, x);

        if (out != NONE) {
            g->from[froms++] = x;
            consider(g, &best, out);
        }
        if (in != NONE) {
            g->into[intos++] = x;
            most_in = g->near_in[x] > most_in ? g->near_in[x] : most_in;
            consider(g, &best, in);
        }
    }
    consider_pairs(g, &best, froms, intos, most_in);
    return best.edge == NONE ? first_ready(g) : best.edge;
}

/* ---- the order ---- */

static void begin(ego *g)
{
    const spry_network *n = g->net;

    for (int64_t v = 0; v < n->neurons; v++) {
        g->out_at[v] = g->out.start[v];
        g->in_at[v] = g->in_end[v] = n->start[v];
        g->waits[v] = (int32_t)(n->start[v + 1] - n->start[v]);
        g->rank[v] = NONE;
    }
    for (int64_t v = 0; v < n->neurons; v++)
        if (g->waits[v] == 0)
            become_ready(g, (int32_t)v);
}

static spry_status emit_edges(int32_t *edge, ego *g,
                              const spry_order_options *o)
{
    spry_status s = SPRY_OK;

    begin(g);
    for (int64_t i = 0; s == SPRY_OK && i < g->net->edges; i++) {
        int32_t k = best_edge(g), v = g->out.target[k];

        edge[i] = k;
        g->gone[k] = 1;
        change_window(g, k, 1);
        if (i >= o->window)
            change_window(g, edge[i - o->window], -1);
        if (--g->waits[v] == 0)
            become_ready(g, v);
        if (i % REPORT_EVERY == 0)
            s = sp_order_progress(o, i, g->net->edges);
    }
    return s;
}

static spry_status alloc(ego *g, int64_t window)
{
    int64_t n = g->net->neurons, m = g->net->edges;
    int64_t most = 2 * (window < m ? window : m) + 2;

    g->out_at = sp_alloc_raw(n, sizeof *g->out_at);
    g->in_at = sp_alloc_raw(n, sizeof *g->in_at);
    g->in_end = sp_alloc_raw(n, sizeof *g->in_end);
    g->in_edge = sp_alloc_raw(m, sizeof *g->in_edge);
    g->rank = sp_alloc_raw(n, sizeof *g->rank);
    g->queue = sp_alloc_raw(n, sizeof *g->queue);
    g->waits = sp_alloc_raw(n, sizeof *g->waits);
    g->gone = sp_alloc(m, sizeof *g->gone);
    g->near_out = sp_alloc(n, sizeof *g->near_out);
    g->near_in = sp_alloc(n, sizeof *g->near_in);
    g->place = sp_alloc(n, sizeof *g->place);
    g->active = sp_alloc_raw(most, sizeof *g->active);
    g->from = sp_alloc_raw(most, sizeof *g->from);
    g->into = sp_alloc_raw(most, sizeof *g->into);
    if (g->out_at && g->in_at && g->in_end && g->in_edge && g->rank &&
        g->queue && g->waits && g->gone && g->near_out && g->near_in &&
        g->place && g->active && g->from && g->into)
        return SPRY_OK;
    return sp_fail_memory((size_t)(m * 5 + n * 48));
}

static void release(ego *g)
{
    void *all[] = {g->out_at, g->in_at,  g->in_end, g->in_edge,  g->rank,
                   g->queue,  g->waits,  g->gone,   g->near_out, g->near_in,
                   g->place,  g->active, g->from,   g->into};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_free(all[i]);
    sp_fanout_free(&g->out);
}

static spry_status ego_order(int32_t *edge, const spry_network *n,
                             const spry_order_options *o)
{
    ego g = {.net = n};
    spry_status s = sp_fanout_make(&g.out, n);

    if (s == SPRY_OK)
        s = alloc(&g, o->window);
    if (s == SPRY_OK)
        s = emit_edges(edge, &g, o);
    release(&g);
    return s;
}

const sp_order sp_order_ego = {
    "ego", "next the edge most akin to the last ones of the window", ego_order};
