/* network.c - arrays into a network, checked once, immutable from then on. */
#include "spry/network.h"

#include <string.h>

#include "network/internal.h"

/* A network and what it must free. */
typedef struct {
    spry_network net; /* first: the public pointer is this one's */
    sp_file file;     /* the arrays lie in it, */
    sp_parts parts;   /* or are these */
} owned;

static const char *const curves[] = {"linear", "relu", "clamp", "tanh",
                                     "sigmoid"};
enum { CURVES = sizeof curves / sizeof *curves };

const char *spry_curve_name(spry_curve c)
{
    return (int)c >= 0 && (int)c < CURVES ? curves[c] : NULL;
}

void sp_parts_free(sp_parts *p)
{
    sp_free(p->first);
    sp_free(p->start);
    sp_free(p->source);
    sp_free(p->weight);
    sp_free(p->bias);
    sp_free(p->activation);
    sp_free(p->output);
    *p = (sp_parts){0};
}

spry_status sp_parts_alloc(sp_parts *p)
{
    size_t bytes = (size_t)p->edges * 8 + (size_t)p->neurons * 12;

    p->first = sp_alloc(p->layers + 1, sizeof *p->first);
    p->start = sp_alloc(p->neurons + 1, sizeof *p->start);
    p->source = sp_alloc_raw(p->edges, sizeof *p->source);
    p->weight = sp_alloc_raw(p->edges, sizeof *p->weight);
    p->bias = sp_alloc(p->neurons, sizeof *p->bias);
    p->activation = sp_alloc(p->layers, sizeof *p->activation);
    p->output = sp_alloc(p->outputs, sizeof *p->output);
    if (p->first && p->start && p->source && p->weight && p->bias &&
        p->activation && p->output)
        return SPRY_OK;
    sp_parts_free(p);
    return sp_fail_memory(bytes);
}

/* ---- checks: each says what is wrong, or nothing ---- */

static spry_status bad(const char *name, const char *what, int64_t where)
{
    return sp_fail(SPRY_INPUT, "%s: %s %lld", name, what, (long long)where);
}

static spry_status check_counts(const spry_network *n, const char *name)
{
    if (n->neurons > INT32_MAX)
        return bad(name, "there are too many neurons:", n->neurons);
    if (n->inputs < 1 || n->layers < 1 || n->outputs < 1 ||
        n->outputs > n->neurons || n->inputs + n->layers > n->neurons)
        return sp_fail(SPRY_INPUT,
                       "%s: a network needs inputs, outputs and layers", name);
    if (n->first[0] != n->inputs || n->first[n->layers] != n->neurons)
        return sp_fail(SPRY_INPUT,
                       "%s: the layers do not hold the neurons behind the "
                       "inputs",
                       name);
    for (int64_t l = 0; l < n->layers; l++)
        if (n->first[l] >= n->first[l + 1])
            return bad(name, "no neurons in layer", l + 1);
    return SPRY_OK;
}

static spry_status check_starts(const spry_network *n, const char *name)
{
    if (n->start[0] != 0 || n->start[n->inputs] != 0 ||
        n->start[n->neurons] != n->edges)
        return sp_fail(SPRY_INPUT,
                       "%s: the edges do not begin behind the inputs and end "
                       "with the last neuron",
                       name);
    for (int64_t v = 0; v < n->neurons; v++)
        if (n->start[v] > n->start[v + 1])
            return bad(name, "edges end before they begin at neuron", v);
    return SPRY_OK;
}

/* In-edges of neuron v, which may come from neurons below `limit`. */
static spry_status check_edges(const spry_network *n, int64_t v, int64_t limit,
                               const char *name)
{
    int64_t before = -1;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        if (n->source[k] <= before || n->source[k] >= limit)
            return sp_fail(SPRY_INPUT,
                           "%s: neuron %lld has an edge from %lld, which is "
                           "repeated, out of order or not in a layer before",
                           name, (long long)v, (long long)n->source[k]);
        if (!isfinite(n->weight[k]))
            return bad(name, "a weight is not a number at neuron", v);
        before = n->source[k];
    }
    return SPRY_OK;
}

static spry_status check_layers(const spry_network *n, const char *name)
{
    spry_status s = SPRY_OK;

    for (int64_t l = 0; s == SPRY_OK && l < n->layers; l++) {
        const spry_activation *a = &n->activation[l];

        if (!spry_curve_name(a->curve) || !(a->limit >= 0) ||
            !isfinite(a->limit))
            return bad(name, "no such activation in layer", l + 1);
        for (int64_t v = n->first[l]; s == SPRY_OK && v < n->first[l + 1]; v++)
            s = check_edges(n, v, n->first[l], name);
    }
    return s;
}

static spry_status check_neurons(const spry_network *n, const char *name)
{
    for (int64_t v = 0; v < n->neurons; v++)
        if (!isfinite(n->bias[v]) || (v < n->inputs && n->bias[v] != 0))
            return bad(name, "the bias makes no sense at neuron", v);
    for (int64_t i = 0; i < n->outputs; i++)
        if (n->output[i] < 0 || n->output[i] >= n->neurons)
            return bad(name, "there is no neuron for output", i);
    return SPRY_OK;
}

static spry_status check(const spry_network *n, const char *name)
{
    spry_status s = check_counts(n, name);

    if (s == SPRY_OK)
        s = check_starts(n, name);
    if (s == SPRY_OK)
        s = check_layers(n, name);
    if (s == SPRY_OK)
        s = check_neurons(n, name);
    return s;
}

/* ---- making ---- */

static int is_chained(const spry_network *n)
{
    int64_t last = n->first[n->layers - 1];

    if (n->outputs != n->neurons - last)
        return 0;
    for (int64_t i = 0; i < n->outputs; i++)
        if (n->output[i] != last + i)
            return 0;
    for (int64_t l = 1; l < n->layers; l++)
        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
            if (n->start[v] < n->start[v + 1] &&
                n->source[n->start[v]] < n->first[l - 1])
                return 0;
    return 1;
}

/* The parts as everyone else sees them. */
static spry_network view(const sp_parts *p)
{
    return (spry_network){.neurons = p->neurons,
                          .inputs = p->inputs,
                          .outputs = p->outputs,
                          .layers = p->layers,
                          .edges = p->edges,
                          .first = p->first,
                          .start = p->start,
                          .source = p->source,
                          .weight = p->weight,
                          .bias = p->bias,
                          .activation = p->activation,
                          .output = p->output,
                          .bias_on_nonzero = p->bias_on_nonzero != 0};
}

spry_status sp_network_adopt(spry_network **out, sp_parts *p, sp_file *file,
                             const char *name)
{
    owned *o = sp_alloc(1, sizeof *o);
    spry_network net = view(p);
    spry_status s = o ? check(&net, name) : sp_fail_memory(sizeof *o);

    *out = NULL;
    if (s != SPRY_OK) {
        sp_free(o);
        if (file)
            sp_file_free(file);
        else
            sp_parts_free(p);
        return s;
    }
    o->net = net;
    o->net.chained = is_chained(&net);
    if (file)
        o->file = *file;
    else
        o->parts = *p;
    *out = &o->net;
    return SPRY_OK;
}

void spry_network_free(spry_network *n)
{
    owned *o = (owned *)n;

    if (!o)
        return;
    sp_file_free(&o->file);
    sp_parts_free(&o->parts);
    sp_free(o);
}

static void copy(void *to, const void *from, int64_t count, size_t size)
{
    if (count > 0)
        memcpy(to, from, (size_t)count * size);
}

spry_status spry_network_make(spry_network **out, const spry_network *n)
{
    SP_NEED_NEW(out, n);

    sp_parts p = {.neurons = n->neurons,
                  .inputs = n->inputs,
                  .outputs = n->outputs,
                  .layers = n->layers,
                  .edges = n->edges,
                  .bias_on_nonzero = n->bias_on_nonzero};
    spry_status s = sp_parts_alloc(&p);

    if (s != SPRY_OK)
        return s;
    copy(p.first, n->first, n->layers + 1, sizeof *p.first);
    copy(p.start, n->start, n->neurons + 1, sizeof *p.start);
    copy(p.source, n->source, n->edges, sizeof *p.source);
    copy(p.weight, n->weight, n->edges, sizeof *p.weight);
    copy(p.bias, n->bias, n->neurons, sizeof *p.bias);
    copy(p.activation, n->activation, n->layers, sizeof *p.activation);
    copy(p.output, n->output, n->outputs, sizeof *p.output);
    return sp_network_adopt(out, &p, NULL, "network");
}

/* ---- knowing ---- */

/* The largest step between neighbours in at[count + 1]. */
static int64_t largest_step(const int64_t *at, int64_t count)
{
    int64_t most = 0;

    for (int64_t i = 0; i < count; i++)
        if (at[i + 1] - at[i] > most)
            most = at[i + 1] - at[i];
    return most;
}

int64_t sp_network_widest(const spry_network *n)
{
    return largest_step(n->first, n->layers);
}

int64_t sp_network_most_edges(const spry_network *n)
{
    return largest_step(n->start, n->neurons);
}

void sp_network_layer_of(int32_t *layer, const spry_network *n)
{
    for (int64_t v = 0; v < n->inputs; v++)
        layer[v] = -1;
    for (int64_t l = 0; l < n->layers; l++)
        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
            layer[v] = (int32_t)l;
}

void spry_network_key(char out[33], const spry_network *n)
{
    SP_NEED_OR(, out, n);

    sp_hash h = sp_hash_begin();
    int64_t head[] = {n->neurons, n->inputs, n->outputs,
                      n->layers,  n->edges,  n->bias_on_nonzero};

    sp_hash_add(&h, head, sizeof head);
    sp_hash_add(&h, n->first, (size_t)(n->layers + 1) * sizeof *n->first);
    sp_hash_add(&h, n->start, (size_t)(n->neurons + 1) * sizeof *n->start);
    sp_hash_add(&h, n->source, (size_t)n->edges * sizeof *n->source);
    sp_hash_add(&h, n->weight, (size_t)n->edges * sizeof *n->weight);
    sp_hash_add(&h, n->bias, (size_t)n->neurons * sizeof *n->bias);
    sp_hash_add(&h, n->activation, (size_t)n->layers * sizeof *n->activation);
    sp_hash_add(&h, n->output, (size_t)n->outputs * sizeof *n->output);
    sp_hash_hex(out, h);
}
