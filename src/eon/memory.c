/* memory.c - fast memory under LRU, one edge at a time; O(1) each. */
#include "eon/memory.h"

#include <string.h>

static void put_newest(sp_memory *m, int32_t x)
{
    m->older[x] = m->newest;
    m->newer[x] = SP_NOBODY;
    if (m->newest == SP_NOBODY)
        m->oldest = x;
    else
        m->newer[m->newest] = x;
    m->newest = x;
}

static void take_out(sp_memory *m, int32_t x)
{
    int32_t older = m->older[x], newer = m->newer[x];

    if (older == SP_NOBODY)
        m->oldest = newer;
    else
        m->newer[older] = newer;
    if (newer == SP_NOBODY)
        m->newest = older;
    else
        m->older[newer] = older;
}

/* Must it be written when it leaves? */
static int is_owed(const sp_memory *m, int32_t x)
{
    return m->changed[x] && (m->outs[x] > 0 || m->is_output[x]);
}

/* Who leaves when a newcomer needs room beside u and v. */
static int32_t leaver(const sp_memory *m, int32_t u, int32_t v)
{
    int32_t x = m->oldest;

    while (x == u || x == v)
        x = m->newer[x];
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
        take_out(m, gone);
        m->present[gone] = 0;
        m->held--;
    }
    put_newest(m, x);
    m->present[x] = 1;
    m->changed[x] = 0;
    m->held++;
    return cost;
}

static void use(sp_memory *m, int32_t x)
{
    if (m->newest == x)
        return;
    take_out(m, x);
    put_newest(m, x);
}

static void drop_if_dead(sp_memory *m, int32_t x)
{
    if (m->ins[x] > 0 || m->outs[x] > 0 || is_owed(m, x))
        return;
    take_out(m, x);
    m->present[x] = 0;
    m->held--;
}

int sp_memory_run(sp_memory *m, int32_t u, int32_t v)
{
    int cost = bring(m, u, u, v);

    cost += bring(m, v, u, v);
    use(m, u);
    use(m, v);
    m->outs[u]--;
    m->ins[v]--;
    m->changed[v] = 1;
    drop_if_dead(m, u);
    drop_if_dead(m, v);
    return cost;
}

int sp_memory_cost(const sp_memory *m, int32_t u, int32_t v)
{
    int missing = !m->present[u] + !m->present[v], cost = missing;
    int64_t free_places = m->room - m->held;
    int32_t x = m->oldest;

    for (; missing > free_places; missing--) {
        while (x == u || x == v)
            x = m->newer[x];
        cost += is_owed(m, x);
        x = m->newer[x];
    }
    return cost;
}

int64_t sp_memory_owed(const sp_memory *m)
{
    int64_t count = 0;

    for (int32_t x = m->newest; x != SP_NOBODY; x = m->older[x])
        count += is_owed(m, x);
    return count;
}

void sp_memory_reset(sp_memory *m)
{
    const spry_network *n = m->net;

    m->held = m->reads = m->writes = 0;
    m->oldest = m->newest = SP_NOBODY;
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
    *m = (sp_memory){.net = n, .out = out};
    m->room = room < n->neurons + 2 ? room : n->neurons + 2;
    m->older = sp_alloc_raw(n->neurons, sizeof *m->older);
    m->newer = sp_alloc_raw(n->neurons, sizeof *m->newer);
    m->present = sp_alloc_raw(n->neurons, 1);
    m->changed = sp_alloc_raw(n->neurons, 1);
    m->is_output = sp_alloc(n->neurons, 1);
    m->ins = sp_alloc_raw(n->neurons, sizeof *m->ins);
    m->outs = sp_alloc_raw(n->neurons, sizeof *m->outs);
    if (!m->older || !m->newer || !m->present || !m->changed || !m->is_output ||
        !m->ins || !m->outs) {
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
    sp_free(m->older);
    sp_free(m->newer);
    sp_free(m->present);
    sp_free(m->changed);
    sp_free(m->is_output);
    sp_free(m->ins);
    sp_free(m->outs);
    *m = (sp_memory){0};
}
