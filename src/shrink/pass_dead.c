/* pass_dead.c - neurons that no output depends on leave.
 *
 * First what is always the same is found: neurons without edges, those under
 * ReLU whose sum cannot be above 0, those at their clamp whatever comes (see
 * range.c; nothing is assumed of inputs). Their readers do without them: a 0
 * needs no edge, another value moves into the bias, if it fits there exactly.
 * Then what has no path to an output is dropped; a layer keeps one neuron at
 * least. */
#include <string.h>

#include "shrink/passes.h"

typedef struct {
    const spry_network *n;
    sp_range *range; /* [neurons] */
    float *bias;     /* [neurons] with constants moved in */
    char *drop;      /* [edges] not needed */
    char *alive;     /* [neurons] */
    int32_t *now;    /* [neurons] */
    sp_parts to;
} removal;

/* ---- constants ---- */

static int is_constant(const removal *b, int64_t v)
{
    return b->range[v].low >= b->range[v].high;
}

/* bias(v) += w c, if exact and if v's bias is always added. */
static int move_in(const removal *b, int64_t v, float w, double c)
{
    double product = (double)w * c; /* 24 bits by 24: exact */

    if (b->n->bias_on_nonzero || product != (double)(float)product)
        return 0;
    return sp_add_exactly(&b->bias[v], (float)product);
}

static void fold_edges(const removal *b, int64_t v)
{
    const spry_network *n = b->n;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        int64_t u = n->source[k];
        float w = n->weight[k];

        if (!(w < 0) && !(w > 0))
            b->drop[k] = 1;
        else if (is_constant(b, u))
            b->drop[k] = (char)(!(b->range[u].low < 0 || b->range[u].low > 0) ||
                                move_in(b, v, w, b->range[u].low));
    }
}

/* The activation leaves what it gave as it is: the constant as bias gives the
 * constant. */
static void fold_constant(const removal *b, int64_t v)
{
    const spry_network *n = b->n;
    float c = (float)b->range[v].low;

    if (n->bias_on_nonzero && (c < 0 || c > 0))
        return;
    memset(b->drop + n->start[v], 1, (size_t)(n->start[v + 1] - n->start[v]));
    b->bias[v] = c;
}

static void find_constants(const removal *b)
{
    const spry_network *n = b->n;

    for (int64_t v = 0; v < n->inputs; v++)
        b->range[v] = (sp_range){-HUGE_VAL, HUGE_VAL};
    for (int64_t l = 0; l < n->layers; l++)
        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++) {
            b->range[v] = sp_range_of(b->range, n, v, l);
            fold_edges(b, v);
            if (is_constant(b, v))
                fold_constant(b, v);
        }
}

/* ---- life ---- */

/* Backwards, since edges only lead forwards. */
static void find_live(const removal *b)
{
    const spry_network *n = b->n;

    memset(b->alive, 1, (size_t)n->inputs);
    for (int64_t i = 0; i < n->outputs; i++)
        b->alive[n->output[i]] = 1;
    for (int64_t l = n->layers; l-- > 0;) {
        if (!memchr(b->alive + n->first[l], 1,
                    (size_t)(n->first[l + 1] - n->first[l])))
            b->alive[n->first[l]] = 1;
        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
            for (int64_t k = n->start[v]; k < n->start[v + 1]; k++)
                if (b->alive[v] && !b->drop[k])
                    b->alive[n->source[k]] = 1;
    }
}

/* ---- writing ---- */

static void write_neuron(removal *b, int64_t v)
{
    const spry_network *n = b->n;
    sp_parts *to = &b->to;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++)
        if (!b->drop[k]) {
            to->source[to->edges] = b->now[n->source[k]];
            to->weight[to->edges++] = n->weight[k];
        }
    b->now[v] = (int32_t)to->neurons;
    to->bias[to->neurons++] = b->bias[v];
    to->start[to->neurons] = to->edges;
}

static void write_live(removal *b)
{
    const spry_network *n = b->n;

    b->to.neurons = b->to.first[0] = n->inputs;
    b->to.edges = 0;
    for (int64_t v = 0; v < n->inputs; v++)
        b->now[v] = (int32_t)v;
    for (int64_t l = 0; l < n->layers; l++) {
        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
            if (b->alive[v])
                write_neuron(b, v);
        b->to.activation[l] = n->activation[l];
        b->to.first[l + 1] = b->to.neurons;
    }
    for (int64_t i = 0; i < n->outputs; i++)
        b->to.output[i] = b->now[n->output[i]];
}

static spry_status set_up(removal *b, const spry_network *n)
{
    b->n = n;
    b->range = sp_alloc_raw(n->neurons, sizeof *b->range);
    b->bias = sp_alloc_raw(n->neurons, sizeof *b->bias);
    b->drop = sp_alloc(n->edges, sizeof *b->drop);
    b->alive = sp_alloc(n->neurons, sizeof *b->alive);
    b->now = sp_alloc_raw(n->neurons, sizeof *b->now);
    if (!b->range || !b->bias || !b->drop || !b->alive || !b->now)
        return sp_no_memory((size_t)(n->neurons * 25 + n->edges));
    memcpy(b->bias, n->bias, (size_t)n->neurons * sizeof *b->bias);
    b->to = (sp_parts){.neurons = n->neurons,
                       .inputs = n->inputs,
                       .outputs = n->outputs,
                       .layers = n->layers,
                       .edges = n->edges,
                       .bias_on_nonzero = n->bias_on_nonzero};
    return sp_parts_alloc(&b->to);
}

static void tear_down(removal *b)
{
    sp_free(b->range);
    sp_free(b->bias);
    sp_free(b->drop);
    sp_free(b->alive);
    sp_free(b->now);
    sp_parts_free(&b->to);
}

static spry_status remove_dead(spry_network **out, const spry_network *n)
{
    removal b = {0};
    spry_status s = set_up(&b, n);

    *out = NULL;
    if (s == SPRY_OK) {
        find_constants(&b);
        find_live(&b);
        write_live(&b);
        if (b.to.neurons < n->neurons || b.to.edges < n->edges) {
            s = sp_network_adopt(out, &b.to, NULL,
                                 "network without dead neurons");
            b.to = (sp_parts){0};
        }
    }
    tear_down(&b);
    return s;
}

const sp_pass sp_pass_dead = {
    "dead", "neurons without a path to an output, or constant, leave",
    remove_dead, 0};
