/* infer.c - shapes of all values; what is constant is computed now. */
#include "graph/calls.h"
#include "graph/compose.h"

#include <string.h>

enum {
    SHORT = 4096,         /* constants that inference may look into */
    FOLD_TERMS = 10000000 /* multiply-adds worth folding at reading */
};
#define FOLD_ELEMENTS ((int64_t)1 << 24)
#define FOLD_BYTES    ((int64_t)64 << 20)

/* ---- calls ---- */

void sp_array_load(double *to, const sp_opvalue *v, const void *data)
{
    for (int64_t i = 0; i < v->count; i++)
        to[i] = v->whole ? (double)((const int64_t *)data)[i]
                         : (double)((const float *)data)[i];
}

/* What int64_t cannot hold becomes its nearest number. */
static int64_t whole_of(double x)
{
    return x >= 9223372036854775807.0    ? INT64_MAX
           : x <= -9223372036854775808.0 ? INT64_MIN
           : x != x                      ? 0
                                         : (int64_t)x;
}

void sp_array_store(void *to, const sp_array *a)
{
    for (int64_t i = 0; i < a->count; i++)
        if (a->whole)
            ((int64_t *)to)[i] = whole_of(a->data[i]);
        else
            ((float *)to)[i] = (float)a->data[i];
}

/* The constants among a node's inputs, if they are short or `all`. */
static spry_status load(sp_array *a, const sp_opvalue *v, int all)
{
    *a = (sp_array){v->whole, v->shape, v->count, NULL};
    if (!v->data || (!all && v->count > SHORT))
        return SPRY_OK;
    a->data = sp_alloc_raw(v->count ? v->count : 1, sizeof *a->data);
    if (!a->data)
        return sp_fail_memory((size_t)v->count * sizeof *a->data);
    sp_array_load(a->data, v, v->data);
    return SPRY_OK;
}

spry_status sp_call_open(sp_node_call *x, const spry_graph *g,
                         const sp_opnode *n)
{
    memset(x, 0, sizeof *x);
    x->in = sp_alloc(n->inputs + 1, sizeof *x->in);
    x->out = sp_alloc(n->outputs + 1, sizeof *x->out);
    x->list = sp_alloc(n->inputs + 1, sizeof *x->list);
    if (!x->in || !x->out || !x->list)
        return sp_fail_memory((size_t)n->inputs * sizeof *x->in);
    for (int i = 0; i < n->inputs; i++)
        x->list[i] = n->input[i] < 0 ? NULL : &x->in[i];
    x->call = (sp_call){n, g->opset, x->list, x->out};
    return SPRY_OK;
}

void sp_call_close(sp_node_call *x, const sp_opnode *n)
{
    for (int i = 0; x->in && i < n->inputs; i++)
        sp_free(x->in[i].data);
    for (int i = 0; x->out && i < n->outputs; i++)
        sp_free(x->out[i].data);
    sp_free(x->in);
    sp_free(x->out);
    sp_free(x->list);
}

static spry_status load_inputs(sp_node_call *x, const spry_graph *g,
                               const sp_opnode *n, int all)
{
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < n->inputs; i++) {
        if (i < n->op->least && n->input[i] < 0)
            return sp_refuse(n, "an input is left out");
        if (n->input[i] < 0 || x->in[i].data)
            continue;
        s = load(&x->in[i], &g->value[n->input[i]], all);
    }
    return s;
}

spry_status sp_call_load(sp_node_call *x, const spry_graph *g,
                         const sp_opnode *n)
{
    return load_inputs(x, g, n, 0);
}

/* ---- shapes ---- */

static spry_status infer_node(sp_node_call *x, spry_graph *g,
                              const sp_opnode *n)
{
    spry_status s = sp_call_load(x, g, n);

    if (s == SPRY_OK)
        s = n->op->infer(&x->call);
    for (int i = 0; s == SPRY_OK && i < n->outputs; i++) {
        sp_opvalue *v;

        s = sp_extent_count(&x->out[i].count, &x->out[i].shape);
        if (s != SPRY_OK)
            return sp_refuse(n, "a result of more than 2^31 elements");
        if (n->output[i] < 0)
            continue;
        v = &g->value[n->output[i]];
        v->shape = x->out[i].shape;
        v->count = x->out[i].count;
        v->whole = x->out[i].whole;
        v->known = 1;
    }
    return s;
}

/* ---- constants ---- */

/* Shapes are constant whatever they are of. Windows over constants are rare
 * and may be long. */
static int foldable(const spry_graph *g, const sp_opnode *n)
{
    int64_t elements = 0;

    if (strcmp(n->op->name, "Shape") == 0)
        return 1;
    if (strcmp(n->op->name, "Conv") == 0 || strstr(n->op->name, "Pool"))
        return 0;
    for (int i = 0; i < n->inputs; i++)
        if (n->input[i] >= 0) {
            if (!g->value[n->input[i]].data)
                return 0;
            elements += g->value[n->input[i]].count;
        }
    for (int i = 0; i < n->outputs; i++)
        if (n->output[i] >= 0)
            elements += g->value[n->output[i]].count;
    return elements <= 2 * FOLD_ELEMENTS && sp_node_macs(g, n) <= FOLD_TERMS;
}

int sp_graph_spend(spry_graph *g, int64_t bytes)
{
    if (bytes > FOLD_BYTES + 4 * (int64_t)g->map_len - g->folded)
        return 0;
    g->folded += bytes;
    return 1;
}

static spry_status fold(sp_node_call *x, spry_graph *g, const sp_opnode *n)
{
    int shape = strcmp(n->op->name, "Shape") == 0;
    int64_t bytes = 0;
    spry_status s;

    for (int i = 0; i < n->outputs; i++)
        bytes += x->out[i].count * 8;
    if (!sp_graph_spend(g, bytes))
        return SPRY_OK; /* then it is computed with each run */
    s = shape ? SPRY_OK : load_inputs(x, g, n, 1);
    for (int i = 0; s == SPRY_OK && i < n->outputs; i++) {
        x->out[i].data = sp_alloc(x->out[i].count ? x->out[i].count : 1, 8);
        if (!x->out[i].data)
            s = sp_fail_memory((size_t)x->out[i].count * 8);
    }
    if (s == SPRY_OK)
        s = n->op->compute(&x->call);
    for (int i = 0; s == SPRY_OK && i < n->outputs; i++) {
        void *to;

        if (n->output[i] < 0)
            continue;
        to = sp_pool_get(&g->pool, x->out[i].count, x->out[i].whole ? 8 : 4);
        if (!to)
            return sp_fail_memory((size_t)x->out[i].count * 8);
        sp_array_store(to, &x->out[i]);
        g->value[n->output[i]].data = to;
    }
    return s;
}

/* Nodes whose results are constant are done. */
static void drop_folded(spry_graph *g)
{
    int kept = 0;

    for (int i = 0; i < g->nodes; i++) {
        sp_opnode *n = &g->node[i];
        int needed = 0;

        for (int k = 0; k < n->outputs; k++)
            needed |= n->output[k] >= 0 && !g->value[n->output[k]].data;
        for (int k = 0; k < n->outputs; k++)
            if (n->output[k] >= 0)
                g->value[n->output[k]].maker = needed ? kept : -1;
        if (needed)
            g->node[kept++] = *n;
    }
    g->nodes = kept;
}

/* ---- nodes, one behind the other ---- */

/* Shapes of the node that was placed last, and its results if constant. */
static spry_status settle(spry_graph *g)
{
    const sp_opnode *n = &g->node[g->nodes - 1];
    sp_node_call x;
    spry_status s = sp_call_open(&x, g, n);

    for (int i = 0; i < n->outputs; i++)
        if (n->output[i] >= 0)
            g->value[n->output[i]].maker = g->nodes - 1;
    if (s == SPRY_OK)
        s = infer_node(&x, g, n);
    if (s == SPRY_OK && foldable(g, n))
        s = fold(&x, g, n);
    sp_call_close(&x, n);
    return s;
}

static spry_status compose(spry_graph *g, const sp_opnode *n,
                           sp_op_composition *how)
{
    sp_builder b = {.g = g, .status = SPRY_OK, .named = g->values, .spends = 1};
    sp_node_call x;
    spry_status s = sp_call_open(&x, g, n);

    if (s == SPRY_OK)
        s = sp_call_load(&x, g, n);
    if (s == SPRY_OK) {
        how(&b, &x.call);
        s = b.status;
    }
    sp_call_close(&x, n);
    return s;
}

/* The node, or what it is put together from, which may be put together from
 * others in turn, but not from itself. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static spry_status place(spry_graph *g, const sp_opnode *n)
{
    sp_op_composition *how = sp_composition_of(n->op);
    int begun = g->nodes, parts;
    sp_opnode *part;
    spry_status s = how ? compose(g, n, how) : SPRY_OK;

    parts = g->nodes - begun;
    if (s == SPRY_OK && parts == 0) {
        s = sp_graph_node(&part, g);
        if (s == SPRY_OK) {
            *part = *n;
            s = settle(g);
        }
        return s;
    }
    if (s != SPRY_OK)
        return s;
    part = sp_alloc(parts + 1, sizeof *part);
    if (!part)
        return sp_fail_memory((size_t)parts * sizeof *part);
    memcpy(part, g->node + begun, (size_t)parts * sizeof *part);
    g->nodes = begun;
    for (int i = 0; s == SPRY_OK && i < parts; i++)
        s = place(g, &part[i]);
    sp_free(part);
    return s;
}

spry_status sp_graph_infer(spry_graph *g)
{
    sp_opnode *given = g->node;
    int count = g->nodes;
    spry_status s = SPRY_OK;

    g->node = NULL;
    g->nodes = g->node_room = 0;
    for (int i = 0; s == SPRY_OK && i < count; i++)
        s = place(g, &given[i]);
    sp_free(given);
    if (s == SPRY_OK)
        drop_folded(g);
    return s;
}
