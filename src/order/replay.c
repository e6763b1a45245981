/* replay.c - what a change of an order does to its I/O, found by running
 * again only the part that the change can be felt in. */
#include "order/replay.h"

#include <string.h>

enum { SHORTEST = 64 };
enum { PRESENT = 1, CHANGED = 2 }; /* states */
enum { USEFUL = 1, OUTPUT = 2 };   /* worths */

/* ---- the memory ---- */

static void remove_one(sp_replay *r, int32_t x)
{
    sp_linked_remove(&r->by_use, x);
    r->state[x] = 0;
    r->held--;
}

static int is_owed(const sp_replay *r, int32_t x)
{
    return (r->state[x] & CHANGED) && r->worth[x];
}

/* Make x present; what that costs. u and v do not leave. */
static int32_t bring(sp_replay *r, int32_t x, int32_t u, int32_t v)
{
    int32_t cost = 1, gone = r->by_use.first;

    if (r->state[x] & PRESENT)
        return 0;
    if (r->held == r->room) {
        while (gone == u || gone == v)
            gone = r->by_use.after[gone];
        cost += is_owed(r, gone);
        remove_one(r, gone);
    }
    sp_linked_append(&r->by_use, x);
    r->state[x] = PRESENT;
    r->held++;
    return cost;
}

/* Behind its last use only an output that was changed must stay. */
static void drop_if_dead(sp_replay *r, int32_t x, int64_t place)
{
    if (r->last[x] == place &&
        !((r->state[x] & CHANGED) && (r->worth[x] & OUTPUT)))
        remove_one(r, x);
}

static int32_t run_edge(sp_replay *r, int64_t place)
{
    int32_t k = r->edge[place], u = r->net->source[k], v = r->target[k];
    int32_t cost = bring(r, u, u, v);

    cost += bring(r, v, u, v);
    sp_linked_renew(&r->by_use, u);
    sp_linked_renew(&r->by_use, v);
    r->state[v] |= CHANGED;
    drop_if_dead(r, u, place);
    drop_if_dead(r, v, place);
    return cost;
}

/* ---- states, kept and met again ---- */

static void load_state(sp_replay *r, int64_t block)
{
    const int32_t *kept = r->kept + block * r->room;

    while (r->by_use.last != SP_NOBODY)
        remove_one(r, r->by_use.last);
    for (int64_t i = r->kept_count[block]; i-- > 0;) {
        int32_t x = kept[i] >> 1;

        sp_linked_append(&r->by_use, x);
        r->state[x] = PRESENT | (kept[i] & 1 ? CHANGED : 0);
        r->held++;
    }
}

static int32_t entry(const sp_replay *r, int32_t x)
{
    return 2 * x + (r->state[x] & CHANGED ? 1 : 0);
}

static void save_state(sp_replay *r, int64_t block)
{
    int32_t *tried = r->tried + block * r->room;
    int64_t count = 0;

    for (int32_t x = r->by_use.last; x != SP_NOBODY; x = r->by_use.before[x])
        tried[count++] = entry(r, x);
    r->tried_count[block] = (int32_t)count;
}

static int is_as_kept(const sp_replay *r, int64_t block)
{
    const int32_t *kept = r->kept + block * r->room;

    if (r->held != r->kept_count[block])
        return 0;
    for (int32_t x = r->by_use.last; x != SP_NOBODY; x = r->by_use.before[x])
        if (*kept++ != entry(r, x))
            return 0;
    return 1;
}

/* ---- running ---- */

static int32_t run_block(sp_replay *r, int64_t block)
{
    int64_t place = block * r->every, end = place + r->every;
    int32_t cost = 0;

    for (end = end < r->net->edges ? end : r->net->edges; place < end; place++)
        cost += run_edge(r, place);
    return cost;
}

static int32_t writes_in_the_end(const sp_replay *r)
{
    int32_t cost = 0;

    for (int32_t x = r->by_use.last; x != SP_NOBODY; x = r->by_use.before[x])
        cost += is_owed(r, x);
    return cost;
}

/* Which edge uses a neuron last changes only if it was one of these. */
static void find_last(sp_replay *r, int64_t from, int64_t end)
{
    for (int64_t place = from; place < end; place++) {
        int32_t k = r->edge[place], u = r->net->source[k], v = r->target[k];

        if (r->last[u] >= from && r->last[u] < end)
            r->last[u] = (int32_t)place;
        if (r->last[v] >= from && r->last[v] < end)
            r->last[v] = (int32_t)place;
    }
}

int64_t sp_replay_try(sp_replay *r, int64_t from, int64_t end, int64_t most)
{
    int64_t block = from / r->every, more = 0;

    find_last(r, from, end);
    load_state(r, block);
    r->tried_first = block;
    for (; block < r->blocks; block++) {
        int past = block * r->every >= end;

        if (past && is_as_kept(r, block))
            break;
        if (past && more > most)
            return INT64_MAX;
        save_state(r, block);
        r->tried_cost[block] = run_block(r, block);
        more += r->tried_cost[block] - r->cost[block];
    }
    if (block == r->blocks) {
        r->tried_cost[block] = writes_in_the_end(r);
        more += r->tried_cost[block] - r->cost[block];
        block++;
    }
    r->tried_end = block;
    r->tried_total = r->total + more;
    return more > most ? INT64_MAX : more;
}

void sp_replay_keep(sp_replay *r)
{
    int64_t first = r->tried_first, end = r->tried_end;
    size_t states = (size_t)((end < r->blocks ? end : r->blocks) - first);

    memcpy(r->kept + first * r->room, r->tried + first * r->room,
           states * (size_t)r->room * sizeof *r->kept);
    memcpy(r->kept_count + first, r->tried_count + first,
           states * sizeof *r->kept_count);
    memcpy(r->cost + first, r->tried_cost + first,
           (size_t)(end - first) * sizeof *r->cost);
    r->total = r->tried_total;
}

void sp_replay_forget(sp_replay *r, int64_t from, int64_t end)
{
    find_last(r, from, end);
}

/* ---- opening ---- */

static spry_status alloc(sp_replay *r)
{
    int64_t n = r->net->neurons, states = r->blocks * r->room;
    int listed = sp_linked_alloc(&r->by_use, n);

    r->last = sp_alloc(n, sizeof *r->last);
    r->worth = sp_alloc(n, sizeof *r->worth);
    r->state = sp_alloc(n, sizeof *r->state);
    r->kept = sp_alloc(states, sizeof *r->kept);
    r->tried = sp_alloc(states, sizeof *r->tried);
    r->kept_count = sp_alloc(r->blocks, sizeof *r->kept_count);
    r->tried_count = sp_alloc(r->blocks, sizeof *r->tried_count);
    r->cost = sp_alloc(r->blocks + 1, sizeof *r->cost);
    r->tried_cost = sp_alloc(r->blocks + 1, sizeof *r->tried_cost);
    if (r->last && r->worth && listed && r->state && r->kept && r->tried &&
        r->kept_count && r->tried_count && r->cost && r->tried_cost)
        return SPRY_OK;
    return sp_fail_memory((size_t)(states * 8 + n * 14));
}

static void fill_worths(sp_replay *r)
{
    const spry_network *n = r->net;

    for (int64_t k = 0; k < n->edges; k++)
        r->worth[n->source[k]] |= USEFUL;
    for (int64_t o = 0; o < n->outputs; o++)
        r->worth[n->output[o]] |= OUTPUT;
}

spry_status sp_replay_open(sp_replay *r, const spry_network *n,
                           const int32_t *target, const int32_t *edge,
                           int64_t memory)
{
    spry_status s;

    *r = (sp_replay){.net = n, .target = target, .edge = edge};
    r->room = memory < n->neurons ? memory : n->neurons;
    r->every = r->room > SHORTEST ? r->room : SHORTEST;
    r->blocks = (n->edges + r->every - 1) / r->every;
    s = alloc(r);
    if (s != SPRY_OK) {
        sp_replay_close(r);
        return s;
    }
    fill_worths(r);
    sp_replay_try(r, 0, n->edges, INT64_MAX - 1); /* all is new */
    sp_replay_keep(r);
    return SPRY_OK;
}

void sp_replay_close(sp_replay *r)
{
    void *all[] = {r->last,        r->worth, r->state,
                   r->kept,        r->tried, r->kept_count,
                   r->tried_count, r->cost,  r->tried_cost};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sp_free(all[i]);
    sp_linked_free(&r->by_use);
    *r = (sp_replay){0};
}
