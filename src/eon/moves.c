/* moves.c - open neurons, sources and what they gain; O(1) for each edge that
 * opens, runs or becomes ready. */
#include "eon/moves.h"

#include <string.h>

/* ---- sources by gain ---- */

static void put_source(sp_gains *g, int32_t u, int32_t gain)
{
    g->next[u] = SP_NOBODY;
    g->prev[u] = g->last[gain];
    if (g->last[gain] == SP_NOBODY)
        g->first[gain] = u;
    else
        g->next[g->last[gain]] = u;
    g->last[gain] = u;
    if (gain > g->top)
        g->top = gain;
}

static void take_source(sp_gains *g, int32_t u, int32_t gain)
{
    int32_t prev = g->prev[u], next = g->next[u];

    if (prev == SP_NOBODY)
        g->first[gain] = next;
    else
        g->next[prev] = next;
    if (next == SP_NOBODY)
        g->last[gain] = prev;
    else
        g->prev[next] = prev;
    while (g->top > 0 && g->first[g->top] == SP_NOBODY)
        g->top--;
}

static void change_gain(sp_moves *m, int32_t u, int by)
{
    if (m->gain[u] > 0)
        take_source(&m->gains, u, m->gain[u]);
    else
        m->gaining++;
    m->gain[u] += by;
    if (m->gain[u] > 0)
        put_source(&m->gains, u, m->gain[u]);
    else
        m->gaining--;
}

/* All edges into v have run: those out of it may. */
static void make_ready(sp_moves *m, int32_t v)
{
    for (int64_t i = m->out.start[v]; i < m->out.start[v + 1]; i++) {
        int32_t w = m->out.target[m->out.edge[i]];

        if (--m->waits[w] == 0)
            sp_linked_append(&m->openable, w);
    }
}

/* ---- moves ---- */

/* Swap edge k to the end of the edges still to run of this list. */
static void retire(int32_t *list, int32_t *place, int64_t last, int32_t k)
{
    int32_t other = list[last];
    int32_t at = place[k];

    list[at] = other;
    place[other] = at;
    list[last] = k;
    place[k] = (int32_t)last;
}

static void touch(sp_moves *m, int32_t x)
{
    m->touched[x] = ++m->clock;
}

static void run_edge(sp_moves *m, int32_t k, int32_t u, int32_t v)
{
    sp_memory *y = &m->memory;

    m->edge[m->made++] = k;
    m->out_to[m->out_place[k]] = m->out_to[m->out.start[u] + y->outs[u] - 1];
    retire(m->out_edge, m->out_place, m->out.start[u] + y->outs[u] - 1, k);
    retire(m->in_edge, m->in_place, m->net->start[v] + y->ins[v] - 1, k);
    change_gain(m, u, -1);
    sp_memory_run(y, u, v);
    m->open_edges--;
    touch(m, v);
    if (y->ins[v] == 0) {
        m->open[v] = 0;
        m->open_count--;
        make_ready(m, v);
    }
}

void sp_moves_open_neuron(sp_moves *m, int32_t v)
{
    sp_linked_remove(&m->openable, v);
    m->opening = 1;
    m->last_opened = v;
    m->open[v] = 1;
    m->open_count++;
    m->open_edges += m->net->start[v + 1] - m->net->start[v];
    for (int64_t k = m->net->start[v]; k < m->net->start[v + 1]; k++)
        change_gain(m, m->net->source[k], 1);
}

/* The place of the edge to the open neuron not used for longest: it runs
 * first, for it would be the one to leave when u comes in. */
static int64_t oldest_target(const sp_moves *m, int32_t u)
{
    int64_t first = m->out.start[u], end = first + m->memory.outs[u];
    int64_t best = -1, since = INT64_MAX;

    for (int64_t i = first; i < end; i++) {
        int32_t v = m->out_to[i];

        if (m->open[v] && m->memory.present[v] && m->touched[v] < since) {
            since = m->touched[v];
            best = i;
        }
    }
    return best;
}

void sp_moves_run_source(sp_moves *m, int32_t u)
{
    int64_t oldest = oldest_target(m, u), first = m->out.start[u];

    m->opening = 0;
    touch(m, u);
    if (oldest >= 0) {
        int32_t k = m->out_edge[oldest];

        run_edge(m, k, u, m->out.target[k]);
    }
    /* From the end: an edge that runs changes place with the last. */
    for (int64_t i = first + m->memory.outs[u] - 1; i >= first; i--) {
        int32_t v = m->out_to[i];

        if (m->open[v])
            run_edge(m, m->out_edge[i], u, v);
    }
    if (u != m->last_run)
        m->upwards = u > m->last_run;
    m->last_run = u;
}

int64_t sp_moves_io(const sp_moves *m)
{
    return m->memory.reads + m->memory.writes + sp_memory_owed(&m->memory);
}

/* ---- from beginning to end ---- */

static void list_edges(sp_moves *m)
{
    for (int64_t i = 0; i < m->net->edges; i++) {
        m->out_edge[i] = m->out.edge[i];
        m->out_place[m->out.edge[i]] = (int32_t)i;
        m->out_to[i] = m->out.target[m->out.edge[i]];
        m->in_edge[i] = m->in_place[i] = (int32_t)i;
    }
}

/* Sources without in-edges are ready from the beginning. */
static void count_waits(sp_moves *m)
{
    const spry_network *n = m->net;

    for (int64_t v = 0; v < n->neurons; v++) {
        m->waits[v] = 0;
        for (int64_t k = n->start[v]; k < n->start[v + 1]; k++)
            m->waits[v] += n->start[n->source[k]] < n->start[n->source[k] + 1];
        if (m->waits[v] == 0 && n->start[v] < n->start[v + 1])
            sp_linked_append(&m->openable, (int32_t)v);
    }
}

void sp_moves_begin(sp_moves *m, int32_t *edge)
{
    size_t neurons = (size_t)m->net->neurons;

    sp_memory_reset(&m->memory);
    m->edge = edge;
    m->made = m->open_count = m->open_edges = m->gaining = 0;
    m->openable.first = m->openable.last = SP_NOBODY;
    m->clock = 0;
    m->last_run = m->last_opened = SP_NOBODY;
    m->upwards = 1;
    m->opening = 0;
    m->gains.top = 0;
    memset(m->open, 0, neurons);
    memset(m->gain, 0, neurons * sizeof *m->gain);
    memset(m->touched, 0, neurons * sizeof *m->touched);
    for (int64_t g = 0; g <= m->gains.most; g++)
        m->gains.first[g] = m->gains.last[g] = SP_NOBODY;
    list_edges(m);
    count_waits(m);
}

static spry_status alloc(sp_moves *m)
{
    int64_t n = m->net->neurons, edges = m->net->edges;
    sp_gains *g = &m->gains;
    int listed;

    for (int64_t u = 0; u < n; u++)
        if (m->out.start[u + 1] - m->out.start[u] > g->most)
            g->most = m->out.start[u + 1] - m->out.start[u];
    g->first = sp_alloc_raw(g->most + 1, sizeof *g->first);
    g->last = sp_alloc_raw(g->most + 1, sizeof *g->last);
    g->next = sp_alloc_raw(n, sizeof *g->next);
    g->prev = sp_alloc_raw(n, sizeof *g->prev);
    m->out_edge = sp_alloc_raw(edges, sizeof *m->out_edge);
    m->out_place = sp_alloc_raw(edges, sizeof *m->out_place);
    m->out_to = sp_alloc_raw(edges, sizeof *m->out_to);
    m->in_edge = sp_alloc_raw(edges, sizeof *m->in_edge);
    m->in_place = sp_alloc_raw(edges, sizeof *m->in_place);
    m->waits = sp_alloc_raw(n, sizeof *m->waits);
    m->open = sp_alloc_raw(n, sizeof *m->open);
    m->gain = sp_alloc_raw(n, sizeof *m->gain);
    listed = sp_linked_alloc(&m->openable, n);
    m->touched = sp_alloc_raw(n, sizeof *m->touched);
    if (g->first && g->last && g->next && g->prev && m->out_edge &&
        m->out_place && m->out_to && m->in_edge && m->in_place && m->waits &&
        m->open && m->gain && listed && m->touched)
        return SPRY_OK;
    return sp_fail_memory((size_t)(edges * 20 + n * 33));
}

spry_status sp_moves_open(sp_moves *m, const spry_network *n, int64_t memory)
{
    spry_status s;

    *m = (sp_moves){.net = n};
    s = sp_fanout_make(&m->out, n);
    if (s == SPRY_OK)
        s = sp_memory_open(&m->memory, n, &m->out, memory);
    if (s == SPRY_OK)
        s = alloc(m);
    if (s != SPRY_OK)
        sp_moves_close(m);
    return s;
}

void sp_moves_close(sp_moves *m)
{
    void *all[] = {m->gains.first, m->gains.last, m->gains.next, m->gains.prev,
                   m->out_edge,    m->out_place,  m->in_edge,    m->in_place,
                   m->waits,       m->open,       m->gain,       m->touched,
                   m->out_to};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_free(all[i]);
    sp_linked_free(&m->openable);
    sp_memory_close(&m->memory);
    sp_fanout_free(&m->out);
    *m = (sp_moves){0};
}
