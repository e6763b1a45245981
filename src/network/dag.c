/* dag.c - facts about a graph, into a network: sorted along its edges.
 *
 * A neuron's level is the length of the longest path to it; inputs have
 * level 0. Levels become layers, so no edge stays within one. What cannot be
 * sorted lies on a cycle, and an edge of it is named. */
#include <string.h>

#include "network/dag.h"

enum { ABSENT = -2, WAITING = -1 };

typedef struct {
    const sp_text *t;
    const sp_facts *facts;
    int64_t numbers;
    int32_t *level;    /* [numbers] or ABSENT, WAITING */
    int32_t *in, *out; /* [numbers] edges, */
    int32_t *begin;    /* [numbers + 1] the first out-edge of each, */
    int32_t *edge;     /* [edges] facts, by source */
    int32_t *queue;    /* [numbers] neurons in the order they got a level */
    int32_t *number;   /* [numbers] of each in the network */
    int64_t queued, inputs, outputs, edges, levels;
    int input_said, output_said;
} graph;

static spry_status alloc(graph *g)
{
    g->level = sp_alloc(g->numbers, sizeof *g->level);
    g->in = sp_alloc(g->numbers, sizeof *g->in);
    g->out = sp_alloc(g->numbers, sizeof *g->out);
    g->begin = sp_alloc(g->numbers + 1, sizeof *g->begin);
    g->edge = sp_alloc(g->facts->count, sizeof *g->edge);
    g->queue = sp_alloc(g->numbers, sizeof *g->queue);
    g->number = sp_alloc(g->numbers, sizeof *g->number);
    if (g->level && g->in && g->out && g->begin && g->edge && g->queue &&
        g->number)
        return SPRY_OK;
    return sp_fail_memory((size_t)g->numbers * 24);
}

static void release(graph *g)
{
    sp_free(g->level);
    sp_free(g->in);
    sp_free(g->out);
    sp_free(g->begin);
    sp_free(g->edge);
    sp_free(g->queue);
    sp_free(g->number);
}

/* ---- who is there, and who is joined ---- */

static void meet_neurons(graph *g)
{
    for (int64_t v = 0; v < g->numbers; v++)
        g->level[v] = ABSENT;
    for (int64_t i = 0; i < g->facts->count; i++) {
        const sp_fact *f = &g->facts->fact[i];

        g->level[f->neuron] = WAITING;
        g->input_said |= f->kind == SP_INPUT;
        g->output_said |= f->kind == SP_OUTPUT;
        g->outputs += f->kind == SP_OUTPUT;
        if (f->kind != SP_EDGE)
            continue;
        g->level[f->source] = WAITING;
        g->in[f->neuron]++;
        g->out[f->source]++;
        g->edges++;
    }
}

static void sort_by_source(const graph *g)
{
    for (int64_t v = 0; v < g->numbers; v++)
        g->begin[v + 1] = g->begin[v] + g->out[v];
    for (int64_t i = g->facts->count; i-- > 0;) {
        const sp_fact *f = &g->facts->fact[i];

        if (f->kind == SP_EDGE)
            g->edge[g->begin[f->source] + --g->out[f->source]] = (int32_t)i;
    }
    for (int64_t v = 0; v < g->numbers; v++)
        g->out[v] = g->begin[v + 1] - g->begin[v];
}

/* ---- levels ---- */

static void enqueue(graph *g, int64_t v, int32_t level)
{
    g->level[v] = level;
    g->queue[g->queued++] = (int32_t)v;
    if (level > g->levels)
        g->levels = level;
}

/* Inputs in the file's order, or all that no edge reaches. */
static spry_status enqueue_inputs(graph *g)
{
    for (int64_t i = 0; i < g->facts->count; i++) {
        const sp_fact *f = &g->facts->fact[i];

        if (f->kind != SP_INPUT)
            continue;
        if (g->in[f->neuron] > 0 || g->level[f->neuron] == 0)
            return sp_fail_at(g->t, f->at,
                              "input %d is named twice, or an edge leads to it",
                              f->neuron);
        enqueue(g, f->neuron, 0);
    }
    for (int64_t v = 0; v < g->numbers; v++)
        if (g->level[v] == WAITING && g->in[v] == 0 && !g->input_said)
            enqueue(g, v, 0);
    g->inputs = g->queued;
    for (int64_t v = 0; v < g->numbers; v++) /* bias and nothing else */
        if (g->level[v] == WAITING && g->in[v] == 0)
            enqueue(g, v, 1);
    return SPRY_OK;
}

/* A neuron leaves `left` at 0 when its last in-edge is met; its level is
 * then the largest seen + 1. */
static spry_status find_levels(graph *g, int32_t *left, int32_t *deepest)
{
    spry_status s = enqueue_inputs(g);

    memcpy(left, g->in, (size_t)g->numbers * sizeof *left);
    for (int64_t i = 0; s == SPRY_OK && i < g->queued; i++) {
        int32_t u = g->queue[i];

        for (int32_t k = g->begin[u]; k < g->begin[u + 1]; k++) {
            int32_t v = g->facts->fact[g->edge[k]].neuron;

            if (g->level[u] > deepest[v])
                deepest[v] = g->level[u];
            if (--left[v] == 0)
                enqueue(g, v, deepest[v] + 1);
        }
    }
    return s;
}

/* Neurons that wait have an in-edge from one that waits: going back along
 * such edges must come round. The edge found last closes the cycle. */
static spry_status name_cycle(const graph *g)
{
    const sp_fact *fact = g->facts->fact, *from = fact;
    int32_t v = -1;

    for (int64_t i = 0; i < g->facts->count; i++)
        if (fact[i].kind == SP_EDGE && g->level[fact[i].source] == WAITING &&
            g->level[fact[i].neuron] == WAITING)
            g->number[fact[i].neuron] = (int32_t)i + 1; /* one way back */
    for (int64_t i = 0; v < 0 && i < g->numbers; i++)
        v = g->level[i] == WAITING ? (int32_t)i : -1;
    do {
        from = &fact[g->number[v] - 1];
        g->number[v] = -1; /* been here */
        v = from->source;
    } while (g->number[v] > 0);
    return sp_fail_at(g->t, from->at, "the edge from %d to %d closes a cycle",
                      from->source, from->neuron);
}

static spry_status sort_levels(graph *g)
{
    int32_t *left = sp_alloc(g->numbers, sizeof *left);
    int32_t *deepest = sp_alloc(g->numbers, sizeof *deepest);
    spry_status s = left && deepest ? find_levels(g, left, deepest)
                                    : sp_fail_memory((size_t)g->numbers * 8);

    sp_free(left);
    sp_free(deepest);
    for (int64_t v = 0; s == SPRY_OK && v < g->numbers; v++)
        if (g->level[v] == WAITING)
            s = name_cycle(g);
    return s;
}

/* ---- the network ---- */

/* number[v] by level, then as the file numbers them; inputs as queued. */
static void number_neurons(const graph *g, const sp_parts *p)
{
    int64_t *first = p->first; /* [0] the inputs' end, [l] layer l's */

    for (int64_t i = 0; i < g->inputs; i++)
        g->number[g->queue[i]] = (int32_t)i;
    for (int64_t i = g->inputs; i < g->queued; i++)
        first[g->level[g->queue[i]]]++;
    first[0] = g->inputs;
    for (int64_t l = 0; l < p->layers; l++)
        first[l + 1] += first[l];
    for (int64_t v = g->numbers; v-- > 0;)
        if (g->level[v] > 0)
            g->number[v] = (int32_t)--first[g->level[v]];
    for (int64_t l = 0; l < p->layers; l++) /* each is its own beginning now */
        first[l] = first[l + 1];
    first[p->layers] = p->neurons;
}

/* by_number[k] = the k-th neuron's number in the file. */
static void place_edges(const graph *g, const sp_parts *p, int32_t *by_number)
{
    for (int64_t v = 0; v < g->numbers; v++)
        if (g->level[v] != ABSENT) {
            by_number[g->number[v]] = (int32_t)v;
            p->start[g->number[v] + 1] = g->in[v];
        }
    for (int64_t v = 0; v < p->neurons; v++)
        p->start[v + 1] += p->start[v];
    for (int64_t u = 0; u < p->neurons; u++) { /* so that sources ascend */
        int32_t old = by_number[u];

        for (int32_t k = g->begin[old]; k < g->begin[old + 1]; k++) {
            const sp_fact *f = &g->facts->fact[g->edge[k]];
            int64_t v = g->number[f->neuron];
            int64_t at = p->start[v + 1] - g->in[f->neuron]--;

            p->source[at] = (int32_t)u;
            p->weight[at] = f->value;
        }
    }
}

/* The second of two facts about the edge from u to v, and its line. */
static spry_status name_repeat(const graph *g, int32_t u, int32_t v)
{
    int seen = 0;

    for (int64_t i = 0; i < g->facts->count; i++) {
        const sp_fact *f = &g->facts->fact[i];

        if (f->kind == SP_EDGE && g->number[f->source] == u &&
            g->number[f->neuron] == v && seen++)
            return sp_fail_at(g->t, f->at, "the edge from %d to %d is repeated",
                              f->source, f->neuron);
    }
    return SPRY_OK;
}

static spry_status check_facts(const graph *g, const sp_parts *p)
{
    for (int64_t i = 0; i < g->facts->count; i++) {
        const sp_fact *f = &g->facts->fact[i];

        if (f->kind == SP_BIAS && g->level[f->neuron] == 0)
            return sp_fail_at(g->t, f->at, "input %d can have no bias",
                              f->neuron);
    }
    for (int64_t v = p->inputs; v < p->neurons; v++)
        for (int64_t k = p->start[v] + 1; k < p->start[v + 1]; k++)
            if (p->source[k] == p->source[k - 1])
                return name_repeat(g, p->source[k], (int32_t)v);
    return SPRY_OK;
}

static void fill_neurons(const graph *g, const sp_parts *p, float bias)
{
    int64_t made = 0;

    for (int64_t v = p->inputs; v < p->neurons; v++)
        p->bias[v] = bias;
    for (int64_t l = 0; l < p->layers; l++)
        p->activation[l] = g->facts->activation;
    for (int64_t i = 0; i < g->facts->count; i++) {
        const sp_fact *f = &g->facts->fact[i];

        if (f->kind == SP_BIAS)
            p->bias[g->number[f->neuron]] = f->value;
        if (f->kind == SP_OUTPUT)
            p->output[made++] = g->number[f->neuron];
    }
    for (int64_t v = 0; !g->output_said && v < g->numbers; v++)
        if (g->level[v] > 0 && g->out[v] == 0)
            p->output[made++] = g->number[v];
}

static int64_t count_ends(const graph *g)
{
    int64_t ends = 0;

    for (int64_t v = 0; v < g->numbers; v++)
        ends += g->level[v] > 0 && g->out[v] == 0;
    return ends;
}

static spry_status build(spry_network **out, graph *g, float bias)
{
    sp_parts p = {.neurons = g->queued,
                  .inputs = g->inputs,
                  .outputs = g->output_said ? g->outputs : count_ends(g),
                  .layers = g->levels,
                  .edges = g->edges,
                  .bias_on_nonzero = g->facts->bias_on_nonzero};
    int32_t *by_number = sp_alloc(g->queued, sizeof *by_number);
    spry_status s =
        by_number ? sp_parts_alloc(&p) : sp_fail_memory((size_t)g->queued * 4);

    if (s != SPRY_OK) {
        sp_free(by_number);
        return s;
    }
    number_neurons(g, &p);
    place_edges(g, &p, by_number);
    sp_free(by_number);
    fill_neurons(g, &p, bias);
    s = check_facts(g, &p);
    if (s == SPRY_OK)
        return sp_network_adopt(out, &p, NULL, g->t->name);
    sp_parts_free(&p);
    return s;
}

spry_status sp_dag_parse(spry_network **out, const sp_text *t,
                         const spry_network_options *o)
{
    sp_facts facts = {0};
    graph g = {.t = t, .facts = &facts};
    spry_status s = sp_facts_read(&facts, t, o);

    *out = NULL;
    if (s != SPRY_OK)
        return s;
    g.numbers = facts.numbers;
    s = alloc(&g);
    if (s == SPRY_OK) {
        meet_neurons(&g);
        sort_by_source(&g);
        s = sort_levels(&g);
    }
    if (s == SPRY_OK)
        s = build(out, &g, o->bias);
    release(&g);
    sp_facts_free(&facts);
    return s;
}

spry_status sp_dag_read(spry_network **out, sp_file *file, const char *name,
                        const spry_network_options *o)
{
    sp_text t = {name, file->data, file->data + file->len};
    spry_status s = sp_dag_parse(out, &t, o);

    sp_file_free(file);
    return s;
}
