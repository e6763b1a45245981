/* episode.c - the frontier and what running one of its edges does. */
#include "eon/episode.h"

static void add_edges_of(sp_episode *e, int64_t v)
{
    for (int64_t i = e->out.start[v]; i < e->out.start[v + 1]; i++)
        e->frontier[e->count++] = e->out.edge[i];
}

void sp_episode_begin(sp_episode *e)
{
    const spry_network *n = e->net;

    sp_memory_reset(&e->memory);
    e->count = e->steps = e->io = 0;
    for (int64_t v = 0; v < n->neurons; v++)
        if (n->start[v] == n->start[v + 1])
            add_edges_of(e, v);
}

int sp_episode_step(sp_episode *e, int64_t i)
{
    int32_t k = e->frontier[i], v = e->out.target[k];
    int cost = sp_memory_run(&e->memory, e->net->source[k], v);

    e->frontier[i] = e->frontier[--e->count];
    if (e->memory.ins[v] == 0)
        add_edges_of(e, v);
    if (++e->steps == e->net->edges)
        cost += (int)sp_memory_owed(&e->memory);
    e->io += cost;
    return cost;
}

int64_t sp_episode_cache(int32_t *out, const sp_episode *e)
{
    int64_t count = 0;

    for (int32_t x = e->memory.by_use.last; x != SP_NOBODY;
         x = e->memory.by_use.before[x])
        out[count++] = x;
    return count;
}

spry_status sp_episode_open(sp_episode *e, const spry_network *n,
                            int64_t memory)
{
    spry_status s;

    *e = (sp_episode){.net = n};
    s = sp_fanout_make(&e->out, n);
    if (s == SPRY_OK)
        s = sp_memory_open(&e->memory, n, &e->out, memory);
    if (s == SPRY_OK) {
        e->frontier = sp_alloc_raw(n->edges, sizeof *e->frontier);
        if (!e->frontier)
            s = sp_fail_memory((size_t)n->edges * sizeof *e->frontier);
    }
    if (s == SPRY_OK)
        sp_episode_begin(e);
    else
        sp_episode_close(e);
    return s;
}

void sp_episode_close(sp_episode *e)
{
    sp_memory_close(&e->memory);
    sp_fanout_free(&e->out);
    sp_free(e->frontier);
    *e = (sp_episode){0};
}
