/* memory.c - fast memory under LRU, one edge at a time; O(1) each. */
#include "eon/memory.h"

#include <string.h>

/* Must it be written when it leaves? */
static int is_owed(const sp_memory *m, int32_t x)
{
    return m->changed[x] && (m->outs[x] > 0 || m->is_output[x]);
}

/* Who leaves when a newcomer needs room beside u and v. */
static int32_t leaver(const sp_memory *m, int32_t u, int32_t v)
{
    int32_t x = m->by_use.first;

    while (x == u || x == v)
        x = m->by_use.after[x];
    return x;
}

static int bring(sp_memory *m, int32_t x, int32_t u, int32_t v)
{
    int cost = 1;

    if (m->present[x])
        return 0;
    m->reads++;
    if (m->held == m->room) {
        int32_t gone = leaver(m, u, v);

        if (is_owed(m, gone)) {
            m->writes++;
            cost++;
        }
        sp_linked_remove(&m->by_use, gone);
        m->present[gone] = 0;
        m->held--;
    }
    sp_linked_append(&m->by_use, x);
    m->present[x] = 1;
    m->changed[x] = 0;
    m->held++;
    return cost;
}

static void drop_if_dead(sp_memory *m, int32_t x)
{
    if (m->ins[x] > 0 || m->outs[x] > 0 || is_owed(m, x))
        return;
    sp_linked_remove(&m->by_use, x);
    m->present[x] = 0;
    m->held--;
}

int sp_memory_run(sp_memory *m, int32_t u, int32_t v)
{
    int cost = bring(m, u, u, v);

    cost += bring(m, v, u, v);
    sp_linked_renew(&m->by_use, u);
    sp_linked_renew(&m->by_use, v);
    m->outs[u]--;
    m->ins[v]--;
    m->changed[v] = 1;
    drop_if_dead(m, u);
    drop_if_dead(m, v);
    return cost;
}

int64_t sp_memory_owed(const sp_memory *m)
{
    int64_t count = 0;

    for (int32_t x = m->by_use.last; x != SP_NOBODY; x = m->by_use.before[x])
        count += is_owed(m, x);
    return count;
}

void sp_memory_reset(sp_memory *m)
{
    const spry_network *n = m->net;

    m->held = m->reads = m->writes = 0;
    m->by_use.first = m->by_use.last = SP_NOBODY;
    memset(m->present, 0, (size_t)n->neurons);
    memset(m->changed, 0, (size_t)n->neurons);
    for (int64_t v = 0; v < n->neurons; v++) {
        m->ins[v] = (int32_t)(n->start[v + 1] - n->start[v]);
        m->outs[v] = (int32_t)(m->out->start[v + 1] - m->out->start[v]);
    }
}

spry_status sp_memory_open(sp_memory *m, const spry_network *n,
                           const sp_fanout *out, int64_t room)
{
    int listed;

    *m = (sp_memory){.net = n, .out = out};
    m->room = room < n->neurons + 2 ? room : n->neurons + 2;
    listed = sp_linked_alloc(&m->by_use, n->neurons);
    m->present = sp_alloc_raw(n->neurons, 1);
    m->changed = sp_alloc_raw(n->neurons, 1);
    m->is_output = sp_alloc(n->neurons, 1);
    m->ins = sp_alloc_raw(n->neurons, sizeof *m->ins);
    m->outs = sp_alloc_raw(n->neurons, sizeof *m->outs);
    if (!listed || !m->present || !m->changed || !m->is_output || !m->ins ||
        !m->outs) {
        sp_memory_close(m);
        return sp_fail_memory((size_t)n->neurons * 19);
    }
    for (int64_t o = 0; o < n->outputs; o++)
        m->is_output[n->output[o]] = 1;
    sp_memory_reset(m);
    return SPRY_OK;
}

void sp_memory_close(sp_memory *m)
{
    sp_linked_free(&m->by_use);
    sp_free(m->present);
    sp_free(m->changed);
    sp_free(m->is_output);
    sp_free(m->ins);
    sp_free(m->outs);
    *m = (sp_memory){0};
}
