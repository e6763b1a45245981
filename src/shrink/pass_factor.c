/* pass_factor.c - sums that several neurons share are computed once.
 *
 * Sources that lead to the same neurons of a layer, with the same weights,
 * form a group: s of them into t neurons are s t edges. One linear neuron
 * that adds them up makes s + t of it. Such neurons form a layer of their
 * own; in a chained network the sources that have no group pass through it
 * with an edge of weight 1 each. A layer is left alone where all this would
 * not save an eighth of its edges.
 *
 * Groups are found by a hash of where their members lead to, and then
 * checked: a neuron that reads one member must read all, equally weighted.
 * Of neurons with equal rows only the first is looked at. */
#include <string.h>

#include "shrink/passes.h"

enum { WORTH = 8 }; /* save one edge in so many, or leave it */

typedef struct {
    int64_t members, readers; /* how many */
    int32_t first, last;      /* members, linked by next[] */
    int32_t neuron;           /* in `to`: the sum, or the only member */
    int32_t row;              /* the last that met it, how often, */
    int64_t met;
    float weight; /* and how weighted */
    int broken;   /* its members differ after all */
} group;

typedef struct {
    const spry_network *n;
    sp_parts to;
    int32_t *now;    /* [neurons] its number in `to` */
    int32_t *like;   /* [neurons] the first of its layer with an equal row */
    int32_t *rows;   /* [neurons] of these: how many are equal to it */
    uint64_t *sign;  /* [neurons] of sources: where they lead to, hashed */
    uint64_t *hash;  /* [neurons] of rows */
    int32_t *degree; /* [neurons] and how many edges */
    int32_t *of;     /* [neurons] its group */
    int32_t *next;   /* [neurons] the next member of its group, or -1 */
    int32_t *used;   /* [used_count] the sources of the layer */
    int64_t used_count;
    group *group; /* [groups], ascending by first use */
    int64_t groups;
    sp_table table; /* rows or groups by hash */
} factoring;

/* ---- finding groups ---- */

static void sign_row(factoring *f, int64_t v)
{
    const spry_network *n = f->n;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        int32_t u = n->source[k];

        if (f->degree[u] == 0) {
            f->used[f->used_count++] = u;
            f->sign[u] = 0;
        }
        f->degree[u] += f->rows[v];
        f->sign[u] =
            sp_mix(f->sign[u], (uint64_t)v << 32 | sp_float_bits(n->weight[k]));
    }
}

/* Sign every source of layer l. Sources appear in `used` by the row that
 * reads them first, ascending within it: so do the members of a group. */
static void sign_sources(factoring *f, int64_t l)
{
    f->used_count = 0;
    for (int64_t v = f->n->first[l]; v < f->n->first[l + 1]; v++)
        if (f->like[v] == v)
            sign_row(f, v);
}

static void begin_group(factoring *f, int32_t u)
{
    f->group[f->groups] = (group){.members = 1,
                                  .readers = f->degree[u],
                                  .first = u,
                                  .last = u,
                                  .row = -1};
    f->of[u] = (int32_t)f->groups++;
    f->next[u] = -1;
}

static void join_group(factoring *f, int32_t g, int32_t u)
{
    f->next[f->group[g].last] = u;
    f->next[u] = -1;
    f->group[g].last = u;
    f->group[g].members++;
    f->of[u] = g;
}

static void find_groups(factoring *f)
{
    sp_table_clear(&f->table, f->used_count);
    f->groups = 0;
    for (int64_t i = 0; i < f->used_count; i++) {
        int32_t u = f->used[i];
        uint64_t slot = f->sign[u] & f->table.mask;

        while (f->table.slot[slot] >= 0 &&
               f->sign[f->group[f->table.slot[slot]].first] != f->sign[u])
            slot = (slot + 1) & f->table.mask;
        if (f->table.slot[slot] >= 0) {
            join_group(f, f->table.slot[slot], u);
        } else {
            f->table.slot[slot] = (int32_t)f->groups;
            begin_group(f, u);
        }
    }
}

/* ---- checking them ---- */

/* Count the members that row v reads; the weight of the first is theirs. */
static void meet_row(factoring *f, int64_t v)
{
    const spry_network *n = f->n;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        group *g = &f->group[f->of[n->source[k]]];

        if (g->row != v) {
            g->row = (int32_t)v;
            g->met = 0;
            g->weight = n->weight[k];
        }
        g->met++;
        g->broken |= sp_float_bits(g->weight) != sp_float_bits(n->weight[k]);
    }
    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        group *g = &f->group[f->of[n->source[k]]];

        g->broken |= g->met != g->members;
    }
}

/* A group for each member of a broken one. */
static void dissolve(factoring *f, int64_t i)
{
    int32_t u = f->group[i].first, next = f->next[u];

    f->group[i] =
        (group){.members = 1, .readers = f->degree[u], .first = u, .last = u};
    f->next[u] = -1;
    for (u = next; u >= 0; u = next) {
        next = f->next[u];
        begin_group(f, u);
    }
}

/* In a graph of any shape, a sum must pay for itself; what has none is read
 * directly. In a chain all pass through, and sums cost no more than that. */
static int pays(const group *g)
{
    return g->members * g->readers > g->members + g->readers;
}

static void check_groups(factoring *f, int64_t l)
{
    int64_t found = f->groups;

    for (int64_t v = f->n->first[l]; v < f->n->first[l + 1]; v++)
        if (f->like[v] == v)
            meet_row(f, v);
    for (int64_t i = 0; i < found; i++)
        if (f->group[i].broken || (!f->n->chained && !pays(&f->group[i])))
            dissolve(f, i);
}

/* Edges of layer l with the groups as they are. */
static int64_t edges_after(const factoring *f)
{
    int64_t edges = 0;

    for (int64_t i = 0; i < f->groups; i++) {
        const group *g = &f->group[i];

        edges += g->readers;
        if (g->members > 1 || f->n->chained)
            edges += g->members;
    }
    return edges;
}

/* ---- writing ---- */

static void end_neuron(factoring *f, float bias)
{
    f->to.bias[f->to.neurons++] = bias;
    f->to.start[f->to.neurons] = f->to.edges;
}

static void add_edge(factoring *f, int32_t source, float weight)
{
    f->to.source[f->to.edges] = source;
    f->to.weight[f->to.edges++] = weight;
}

static void end_layer(factoring *f, spry_activation a)
{
    f->to.activation[f->to.layers++] = a;
    f->to.first[f->to.layers] = f->to.neurons;
}

static void write_sums(factoring *f)
{
    for (int64_t i = 0; i < f->groups; i++) {
        group *g = &f->group[i];

        g->row = -1;
        if (g->members == 1 && !f->n->chained) {
            g->neuron = f->now[g->first];
            continue;
        }
        g->neuron = (int32_t)f->to.neurons;
        for (int32_t u = g->first; u >= 0; u = f->next[u])
            add_edge(f, f->now[u], 1);
        end_neuron(f, 0);
    }
    end_layer(f, (spry_activation){SPRY_LINEAR, 0});
}

/* The row of v over the sums; `row` has room for its edges. */
static void write_reader(factoring *f, int64_t v, sp_edge *row)
{
    const spry_network *n = f->n;
    int64_t count = 0;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        group *g = &f->group[f->of[n->source[k]]];

        if (g->row != v)
            row[count++] = (sp_edge){g->neuron, n->weight[k]};
        g->row = (int32_t)v;
    }
    sp_edges_sort(row, count);
    for (int64_t i = 0; i < count; i++)
        add_edge(f, row[i].source, row[i].weight);
}

/* The new row of v's like again. */
static void repeat_row(factoring *f, int64_t v)
{
    int64_t u = f->now[f->like[v]];

    for (int64_t k = f->to.start[u]; k < f->to.start[u + 1]; k++)
        add_edge(f, f->to.source[k], f->to.weight[k]);
}

/* The row of v as it is, in the new numbers, which ascend as the old do. */
static void copy_row(factoring *f, int64_t v)
{
    const spry_network *n = f->n;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++)
        add_edge(f, f->now[n->source[k]], n->weight[k]);
}

static void write_layer(factoring *f, int64_t l, sp_edge *row)
{
    const spry_network *n = f->n;

    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++) {
        f->now[v] = (int32_t)f->to.neurons;
        if (f->like[v] != v)
            repeat_row(f, v);
        else if (row)
            write_reader(f, v, row);
        else
            copy_row(f, v);
        end_neuron(f, n->bias[v]);
    }
    end_layer(f, n->activation[l]);
}

static void factor_layer(factoring *f, int64_t l, sp_edge *row)
{
    const spry_network *n = f->n;
    int64_t before = n->start[n->first[l + 1]] - n->start[n->first[l]];
    int worth;

    sp_rows_alike(f->like, f->rows, f->hash, n, l, &f->table);
    sign_sources(f, l);
    find_groups(f);
    worth = f->groups < f->used_count;
    if (worth) {
        check_groups(f, l);
        worth = edges_after(f) <= before - before / WORTH - 1;
    }
    if (worth)
        write_sums(f);
    write_layer(f, l, worth ? row : NULL);
    for (int64_t i = 0; i < f->used_count; i++)
        f->degree[f->used[i]] = 0;
}

/* ---- all layers ---- */

/* Sums number at most the sources of their layer, and in a graph of any
 * shape each has four edges at least. */
static spry_status alloc_result(factoring *f, const spry_network *n)
{
    int64_t sums = n->chained ? n->neurons : n->edges / 4;

    f->to = (sp_parts){.neurons = n->neurons + sums,
                       .inputs = n->inputs,
                       .outputs = n->outputs,
                       .layers = 2 * n->layers,
                       .edges = n->edges,
                       .bias_on_nonzero = n->bias_on_nonzero};
    return sp_parts_alloc(&f->to);
}

static spry_status set_up(factoring *f, const spry_network *n)
{
    spry_status s;

    f->n = n;
    f->now = sp_alloc_raw(n->neurons, sizeof *f->now);
    f->like = sp_alloc_raw(n->neurons, sizeof *f->like);
    f->rows = sp_alloc_raw(n->neurons, sizeof *f->rows);
    f->sign = sp_alloc_raw(n->neurons, sizeof *f->sign);
    f->hash = sp_alloc_raw(n->neurons, sizeof *f->hash);
    f->degree = sp_alloc(n->neurons, sizeof *f->degree);
    f->of = sp_alloc_raw(n->neurons, sizeof *f->of);
    f->next = sp_alloc_raw(n->neurons, sizeof *f->next);
    f->used = sp_alloc_raw(n->neurons, sizeof *f->used);
    f->group = sp_alloc_raw(n->neurons, sizeof *f->group);
    if (!f->now || !f->like || !f->rows || !f->sign || !f->hash || !f->degree ||
        !f->of || !f->next || !f->used || !f->group)
        return sp_no_memory((size_t)n->neurons * 90);
    s = sp_table_alloc(&f->table, n->neurons);
    return s == SPRY_OK ? alloc_result(f, n) : s;
}

static void tear_down(factoring *f)
{
    sp_free(f->now);
    sp_free(f->like);
    sp_free(f->rows);
    sp_free(f->sign);
    sp_free(f->degree);
    sp_free(f->of);
    sp_free(f->next);
    sp_free(f->used);
    sp_free(f->group);
    sp_free(f->hash);
    sp_free(f->table.slot);
    sp_parts_free(&f->to);
}

static void factor_all(factoring *f, sp_edge *row)
{
    const spry_network *n = f->n;

    f->to.neurons = f->to.first[0] = n->inputs;
    f->to.edges = f->to.layers = 0;
    for (int64_t v = 0; v < n->inputs; v++)
        f->now[v] = (int32_t)v;
    for (int64_t l = 0; l < n->layers; l++)
        factor_layer(f, l, row);
    for (int64_t i = 0; i < n->outputs; i++)
        f->to.output[i] = f->now[n->output[i]];
}

static spry_status factor(spry_network **out, const spry_network *n)
{
    factoring f = {0};
    sp_edge *row = sp_alloc_raw(sp_network_most_edges(n), sizeof *row);
    spry_status s = row ? set_up(&f, n) : sp_no_memory(sizeof *row);

    *out = NULL;
    if (s == SPRY_OK) {
        factor_all(&f, row);
        if (f.to.edges < n->edges) {
            s = sp_network_adopt(out, &f.to, NULL, "factored network");
            f.to = (sp_parts){0};
        }
    }
    sp_free(row);
    tear_down(&f);
    return s;
}

const sp_pass sp_pass_factor = {
    "factor", "sums that several neurons share become a neuron", factor, 0};
