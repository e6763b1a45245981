/* simulate.c - an order of edges, into reads and writes of a two-level
 * memory, beside the bounds that no order passes.
 *
 * A value is *owed* to slow memory when it was changed since it was read and
 * is needed later: by an out-edge still to come, or as an output. A line
 * that leaves is written when it owes any; one that owes nothing leaves at
 * once behind the last edge that uses it, for it is dead. */
#include <string.h>

#include "order/simulate.h"

static const sp_replacement *const policies[] = {
    [SPRY_LRU] = &sp_replacement_lru,
    [SPRY_RR] = &sp_replacement_rr,
    [SPRY_MIN] = &sp_replacement_min,
};
enum { POLICIES = SPRY_MIN + 1 };

const char *spry_policy_name(spry_policy p)
{
    return (int)p >= 0 && (int)p < POLICIES ? policies[p]->name : NULL;
}

typedef struct {
    const spry_network *net;
    int64_t line;
    sp_trace trace;
    const sp_replacement *policy;
    void *state;
    int64_t held;          /* lines in memory */
    int32_t *use;          /* [uses edges] of the trace */
    const int32_t *weight; /* [edges] shared ones; NULL: none are */
    int64_t neuron_lines;  /* those of weights follow */
    int32_t *needs;   /* [neurons] out-edges to come, and one of an output */
    uint8_t *owed;    /* [neurons] */
    int32_t *owing;   /* [lines] how many of its neurons are owed */
    uint8_t *present; /* [lines] in memory */
    int32_t *last;    /* [lines] the last edge that uses it */
    spry_io io;
} simulation;

/* ---- one edge after the other ---- */

static void write_line(simulation *s, int32_t line)
{
    int64_t first = (int64_t)line * s->line, rest = s->net->neurons - first;

    s->io.writes++;
    s->owing[line] = 0;
    memset(s->owed + first, 0, (size_t)(rest < s->line ? rest : s->line));
}

static void drop_if_dead(simulation *s, int64_t i, int32_t line)
{
    if (s->last[line] != i || s->owing[line] || !s->present[line])
        return;
    s->policy->drop(s->state, line);
    s->present[line] = 0;
    s->held--;
}

static void make_present(simulation *s, int64_t i, int32_t line)
{
    if (s->present[line])
        return;
    if (s->held == s->trace.room) {
        int32_t gone = s->policy->leave(s->state, i);

        s->present[gone] = 0;
        s->held--;
        if (s->owing[gone])
            write_line(s, gone);
    }
    s->policy->enter(s->state, i, line);
    s->present[line] = 1;
    s->held++;
    s->io.reads++;
    s->io.weight_reads += line >= s->neuron_lines;
}

/* u was used once more, v has changed. */
static void owe(simulation *s, int32_t u, int32_t v)
{
    if (--s->needs[u] == 0 && s->owed[u]) {
        s->owed[u] = 0;
        s->owing[u / s->line]--;
    }
    if (s->needs[v] > 0 && !s->owed[v]) {
        s->owed[v] = 1;
        s->owing[v / s->line]++;
    }
}

static void run(simulation *s, const int32_t *edge, const int32_t *target)
{
    for (int64_t i = 0; i < s->trace.edges; i++) {
        for (int k = 0; k < s->trace.uses; k++)
            make_present(s, i, sp_trace_line(&s->trace, i, k));
        for (int k = 0; k < s->trace.uses; k++)
            s->policy->used(s->state, i, k);
        owe(s, s->net->source[edge[i]], target[edge[i]]);
        for (int k = 0; k < s->trace.uses; k++)
            drop_if_dead(s, i, sp_trace_line(&s->trace, i, k));
    }
    for (int64_t x = 0; x < s->trace.lines; x++)
        if (s->owing[x])
            s->io.writes++;
}

/* ---- bounds ---- */

/* Neurons that no edge touches are left out, here as above. */
static void find_bounds(simulation *s)
{
    const spry_network *n = s->net;
    uint8_t *met = s->present; /* free again when this is called */

    memset(met, 0, (size_t)s->trace.lines);
    for (int64_t i = 0; i < s->trace.uses * s->trace.edges; i++)
        met[s->use[i]] = 1;
    for (int64_t x = 0; x < s->trace.lines; x++) {
        s->io.least_reads += met[x];
        met[x] = 0;
    }
    for (int64_t o = 0; o < n->outputs; o++)
        if (n->start[n->output[o]] < n->start[n->output[o] + 1])
            met[n->output[o] / s->line] = 1;
    for (int64_t x = 0; x < s->trace.lines; x++)
        s->io.least_writes += met[x];
    for (int64_t v = 0; v < n->neurons; v++)
        s->io.most_writes += n->start[v] < n->start[v + 1];
    s->io.most_reads = (s->trace.uses - 1) * n->edges + s->io.most_writes;
}

static void add_up_bytes(simulation *s)
{
    int64_t per_edge = 2 * sizeof(int32_t) + sizeof(float);
    int64_t per_line = s->line * (int64_t)sizeof(float);

    s->io.stream_bytes = s->net->edges * per_edge;
    s->io.total_bytes =
        s->io.stream_bytes + (s->io.reads + s->io.writes) * per_line;
}

/* ---- from beginning to end ---- */

static spry_status set_up(simulation *s, int64_t weights)
{
    const spry_network *n = s->net;

    s->trace.edges = n->edges;
    s->neuron_lines = (n->neurons + s->line - 1) / s->line;
    s->trace.lines = s->neuron_lines + (weights + s->line - 1) / s->line;
    s->use = sp_alloc_raw(s->trace.uses * n->edges, sizeof *s->use);
    s->needs = sp_alloc(n->neurons, sizeof *s->needs);
    s->owed = sp_alloc(n->neurons, sizeof *s->owed);
    s->owing = sp_alloc(s->trace.lines, sizeof *s->owing);
    s->present = sp_alloc(s->trace.lines, sizeof *s->present);
    s->last = sp_alloc(s->trace.lines, sizeof *s->last);
    s->trace.use = s->use;
    if (s->use && s->needs && s->owed && s->owing && s->present && s->last)
        return SPRY_OK;
    return sp_fail_memory((size_t)n->edges * 8);
}

static void fill(simulation *s, const int32_t *edge, const sp_fanout *f)
{
    const spry_network *n = s->net;

    for (int64_t i = 0; i < n->edges; i++) {
        int32_t *use = s->use + s->trace.uses * i;

        use[0] = (int32_t)(n->source[edge[i]] / s->line);
        use[1] = (int32_t)(f->target[edge[i]] / s->line);
        if (s->weight)
            use[2] = (int32_t)(s->neuron_lines + s->weight[edge[i]] / s->line);
        for (int k = 0; k < s->trace.uses; k++)
            s->last[use[k]] = (int32_t)i;
    }
    for (int64_t u = 0; u < n->neurons; u++)
        s->needs[u] = (int32_t)(f->start[u + 1] - f->start[u]);
    for (int64_t o = 0; o < n->outputs; o++)
        s->needs[n->output[o]]++;
}

static void release(simulation *s)
{
    s->policy->close(s->state);
    sp_free(s->use);
    sp_free(s->needs);
    sp_free(s->owed);
    sp_free(s->owing);
    sp_free(s->present);
    sp_free(s->last);
}

static spry_status simulate(simulation *s, const int32_t *edge, int64_t weights)
{
    sp_fanout f;
    spry_status status = sp_fanout_make(&f, s->net);

    if (status == SPRY_OK)
        status = set_up(s, weights);
    if (status == SPRY_OK) {
        fill(s, edge, &f);
        status = s->policy->open(&s->state, &s->trace);
    }
    if (status == SPRY_OK) {
        run(s, edge, f.target);
        find_bounds(s);
        add_up_bytes(s);
    }
    release(s);
    sp_fanout_free(&f);
    return status;
}

spry_status spry_simulate(spry_io *out, const spry_network *n,
                          const int32_t *edge,
                          const spry_simulate_options *options)
{
    SP_NEED(out, n, edge);
    SP_ROOM(out);

    spry_simulate_options o = SPRY_SIMULATE_DEFAULTS;
    simulation s = {.net = n};
    spry_status status = SP_TAKE_OPTIONS(&o, options);

    if (status != SPRY_OK)
        return status;
    s.trace.uses = o.weight ? 3 : 2;
    if (o.line < 1 || o.memory / o.line < s.trace.uses ||
        !spry_policy_name(o.policy))
        return sp_fail(SPRY_USAGE,
                       "a simulated memory holds %s lines at "
                       "least and follows a known policy",
                       o.weight ? "three" : "two");
    for (int64_t i = 0; o.weight && i < n->edges; i++)
        if (o.weight[i] < 0 || o.weight[i] >= o.weights)
            return sp_fail(SPRY_USAGE, "edge %lld has no shared weight",
                           (long long)i);
    s.weight = o.weight;
    o.weights = o.weight ? o.weights : 0;
    s.line = o.line;
    s.trace.room = o.memory / o.line;
    if (s.trace.room > n->neurons + o.weights + 2) /* no difference */
        s.trace.room = n->neurons + o.weights + 2;
    s.policy = policies[o.policy];
    status = spry_order_check(edge, n);
    if (status == SPRY_OK)
        status = simulate(&s, edge, o.weights);
    if (status == SPRY_OK)
        SP_GIVE(out, &s.io);
    return status;
}
