/* pass_inline.c - layers that only hand on what they read are left out.
 *
 * When every neuron of a linear layer has one source and no bias, its
 * readers can read that source, with the product of the two weights. Merging
 * leaves such layers where all members of a shared sum became one neuron. A
 * layer stays when a product or a sum of products would not be exact. */
#include <string.h>

#include "shrink/passes.h"

typedef struct {
    const spry_network *n;
    char *gone;     /* [layers] is it left out? */
    int32_t *layer; /* [neurons] -1 of inputs */
    int32_t *now;   /* [neurons] its new number, or the one it hands on, */
    float *weight;  /* [neurons] and how weighted: 1 of those that stay */
    sp_edge *row;   /* [neurons] */
    sp_parts to;
} inlining;

/* ---- which layers ---- */

static int only_hands_on(const spry_network *n, int64_t l)
{
    if (n->activation[l].curve != SPRY_LINEAR || l == n->layers - 1)
        return 0;
    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
        if (n->start[v + 1] - n->start[v] != 1 || n->bias[v] < 0 ||
            n->bias[v] > 0)
            return 0;
    return 1;
}

/* *out = a b, if that is exact; in double it is. */
static int multiply(float *out, float a, float b)
{
    double product = (double)a * (double)b;

    *out = (float)product;
    return (double)*out >= product && (double)*out <= product;
}

/* The row of v over what its sources hand on, into i->row; its length, or -1
 * when that is not exact. */
static int64_t inlined_row(const inlining *i, int64_t v)
{
    const spry_network *n = i->n;
    int64_t count = 0, kept = 0;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        int32_t u = n->source[k];

        i->row[count].source = i->now[u];
        if (!multiply(&i->row[count++].weight, n->weight[k], i->weight[u]))
            return -1;
    }
    sp_edges_sort(i->row, count);
    for (int64_t j = 0; j < count; j++)
        if (kept == 0 || i->row[kept - 1].source != i->row[j].source)
            i->row[kept++] = i->row[j];
        else if (!sp_add_exactly(&i->row[kept - 1].weight, i->row[j].weight))
            return -1;
    return kept;
}

/* v, of a layer that leaves, hands on its source; 0 when not exactly. */
static int hand_on(const inlining *i, int64_t v)
{
    int64_t k = i->n->start[v];
    int32_t u = i->n->source[k];

    i->now[v] = i->now[u];
    return multiply(&i->weight[v], i->n->weight[k], i->weight[u]);
}

/* ---- writing ---- */

static int write_neuron(inlining *i, int64_t v)
{
    sp_parts *to = &i->to;
    int64_t count = inlined_row(i, v);

    for (int64_t j = 0; j < count; j++) {
        to->source[to->edges] = i->row[j].source;
        to->weight[to->edges++] = i->row[j].weight;
    }
    i->now[v] = (int32_t)to->neurons;
    i->weight[v] = 1;
    to->bias[to->neurons++] = i->n->bias[v];
    to->start[to->neurons] = to->edges;
    return count >= 0;
}

/* The layer whose leaving spoils the row of v: the last of its sources'. */
static int64_t culprit(const inlining *i, int64_t v)
{
    const spry_network *n = i->n;
    int64_t last = -1;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        int32_t l = i->layer[n->source[k]];

        if (l > last && i->gone[l])
            last = l;
    }
    return last;
}

/* -1 when all is well, else a layer that has to stay. */
static int64_t write_layers(inlining *i)
{
    const spry_network *n = i->n;
    sp_parts *to = &i->to;

    to->neurons = to->first[0] = n->inputs;
    to->edges = to->layers = 0;
    for (int64_t l = 0; l < n->layers; l++) {
        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
            if (i->gone[l] ? !hand_on(i, v) : !write_neuron(i, v))
                return i->gone[l] ? l : culprit(i, v);
        if (!i->gone[l]) {
            to->activation[to->layers++] = n->activation[l];
            to->first[to->layers] = to->neurons;
        }
    }
    for (int64_t o = 0; o < n->outputs; o++)
        to->output[o] = i->now[n->output[o]];
    return -1;
}

/* ---- all of it ---- */

static int find_layers(const inlining *i)
{
    const spry_network *n = i->n;
    int found = 0;

    for (int64_t l = 0; l < n->layers; l++)
        i->gone[l] = (char)only_hands_on(n, l);
    for (int64_t o = 0; o < n->outputs; o++)
        if (i->layer[n->output[o]] >= 0)
            i->gone[i->layer[n->output[o]]] = 0;
    for (int64_t l = 0; l < n->layers; l++)
        found |= i->gone[l];
    return found;
}

static spry_status set_up(inlining *i, const spry_network *n)
{
    i->n = n;
    i->gone = sp_alloc(n->layers, sizeof *i->gone);
    i->layer = sp_alloc_raw(n->neurons, sizeof *i->layer);
    i->now = sp_alloc_raw(n->neurons, sizeof *i->now);
    i->weight = sp_alloc_raw(n->neurons, sizeof *i->weight);
    i->row = sp_alloc_raw(n->neurons, sizeof *i->row);
    if (!i->gone || !i->layer || !i->now || !i->weight || !i->row)
        return sp_no_memory((size_t)n->neurons * 20);
    for (int64_t v = 0; v < n->inputs; v++) {
        i->now[v] = (int32_t)v;
        i->weight[v] = 1;
    }
    sp_network_layer_of(i->layer, n);
    i->to = (sp_parts){.neurons = n->neurons,
                       .inputs = n->inputs,
                       .outputs = n->outputs,
                       .layers = n->layers,
                       .edges = n->edges,
                       .bias_on_nonzero = n->bias_on_nonzero};
    return sp_parts_alloc(&i->to);
}

static void tear_down(inlining *i)
{
    sp_free(i->gone);
    sp_free(i->layer);
    sp_free(i->now);
    sp_free(i->weight);
    sp_free(i->row);
    sp_parts_free(&i->to);
}

static spry_status inline_layers(spry_network **out, const spry_network *n)
{
    inlining i = {0};
    spry_status s = set_up(&i, n);
    int found = s == SPRY_OK && find_layers(&i);

    *out = NULL;
    for (int64_t stay; found && (stay = write_layers(&i)) >= 0;)
        i.gone[stay] = 0;
    if (found && i.to.layers < n->layers) {
        s = sp_network_adopt(out, &i.to, NULL, "inlined network");
        i.to = (sp_parts){0};
    }
    tear_down(&i);
    return s;
}

const sp_pass sp_pass_inline = {
    "inline", "linear layers that only hand on are read through", inline_layers,
    0};
