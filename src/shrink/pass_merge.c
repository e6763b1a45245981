/* pass_merge.c - neurons that compute the same become one.
 *
 * Layer by layer: two neurons of a layer with the same sources, weights and
 * bias always have the same value, so one is enough. Its readers then have
 * several edges from one neuron, whose weights are added; that makes more
 * neurons equal in the next layer. A neuron stays apart where a reader's
 * weights would not add up exactly, and so do two outputs. */
#include <stdlib.h>
#include <string.h>

#include "shrink/passes.h"

typedef struct {
    const spry_network *n;
    sp_fanout fan;
    sp_parts to;
    int32_t *now;  /* [neurons] its number in `to` */
    int32_t *head; /* [neurons] the first neuron it equals, maybe itself */
    int32_t *next; /* [neurons] the next that equals its head, or -1 */
    int32_t *tail; /* [neurons] the last one of a head's list */
    char *output;  /* [neurons] is it one? Of heads: is one of its list? */
    /* Weights in the making: of row v by source, of class v by reader. A
     * source's number is below v and a reader's above: they never meet. */
    float *sum;
    int32_t *sum_of; /* [neurons] the v of sum[], -1 at first */
    sp_table table;  /* heads of the layer by hash */
} merging;

/* ---- one row ---- */

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* The row of v in the new numbers, behind all edges of m->to; its length. */
static int64_t write_row(merging *m, int64_t v)
{
    const spry_network *n = m->n;
    int32_t *source = m->to.source + m->to.edges;
    float *weight = m->to.weight + m->to.edges;
    int64_t count = 0, kept = 0;
    int sorted = 1;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        int32_t u = m->now[n->source[k]];

        if (m->sum_of[u] == v) {
            sp_add_exactly(&m->sum[u], n->weight[k]);
            continue;
        }
        m->sum_of[u] = (int32_t)v;
        m->sum[u] = n->weight[k];
        sorted = sorted && (count == 0 || source[count - 1] < u);
        source[count++] = u;
    }
    if (!sorted)
        qsort(source, (size_t)count, sizeof *source, ascending);
    for (int64_t i = 0; i < count; i++) {
        float w = m->sum[source[i]];

        source[kept] = source[i];
        weight[kept] = w;
        kept += w < 0 || w > 0;
    }
    return kept;
}

static uint64_t hash_row(const merging *m, int64_t at, int64_t count,
                         float bias)
{
    uint32_t word;
    uint64_t h;

    memcpy(&word, &bias, sizeof word);
    h = sp_mix((uint64_t)count, word);
    for (int64_t k = at; k < at + count; k++) {
        memcpy(&word, &m->to.weight[k], sizeof word);
        h = sp_mix(h, (uint64_t)word << 32 | (uint32_t)m->to.source[k]);
    }
    return h;
}

static int same_bits(const void *a, const void *b, int64_t count, size_t size)
{
    return count == 0 || memcmp(a, b, (size_t)count * size) == 0;
}

/* Is the row of `count` edges behind all others, and this bias, those of the
 * new neuron u? */
static int is_row_of(const merging *m, int64_t u, int64_t count, float bias)
{
    const sp_parts *to = &m->to;
    int64_t at = to->start[u], fresh = to->edges;

    return to->start[u + 1] - at == count &&
           same_bits(&to->bias[u], &bias, 1, sizeof bias) &&
           same_bits(to->source + at, to->source + fresh, count,
                     sizeof *to->source) &&
           same_bits(to->weight + at, to->weight + fresh, count,
                     sizeof *to->weight);
}

/* ---- one layer ---- */

/* The row written last becomes a neuron of its own: v's. */
static void add_neuron(merging *m, int64_t v, int64_t count)
{
    sp_parts *to = &m->to;

    m->now[v] = (int32_t)to->neurons;
    to->bias[to->neurons++] = m->n->bias[v];
    to->edges += count;
    to->start[to->neurons] = to->edges;
}

static void join(merging *m, int32_t head, int64_t v)
{
    m->head[v] = head;
    m->next[m->tail[head]] = (int32_t)v;
    m->tail[head] = (int32_t)v;
    if (m->output[v])
        m->output[head] = 1;
}

/* v joins the neuron it equals, or begins a class. */
static void classify(merging *m, int64_t v)
{
    int64_t count = write_row(m, v);
    float bias = m->n->bias[v];
    uint64_t slot = hash_row(m, m->to.edges, count, bias) & m->table.mask;

    for (; m->table.slot[slot] >= 0; slot = (slot + 1) & m->table.mask) {
        int32_t head = m->table.slot[slot];

        if (!(m->output[v] && m->output[head]) &&
            is_row_of(m, m->now[head], count, bias)) {
            join(m, head, v);
            return;
        }
    }
    m->table.slot[slot] = m->head[v] = m->tail[v] = (int32_t)v;
    add_neuron(m, v, count);
}

/* Can v's weights be added to those of its class, at every reader? Twice:
 * first to see, then to do it. */
static int add_readers(merging *m, int32_t head, int32_t v, int commit)
{
    for (int64_t i = m->fan.start[v]; i < m->fan.start[v + 1]; i++) {
        int32_t k = m->fan.edge[i], reader = m->fan.target[k];
        float sum = m->sum_of[reader] == head ? m->sum[reader] : 0;

        if (!sp_add_exactly(&sum, m->n->weight[k]))
            return 0;
        if (commit) {
            m->sum_of[reader] = head;
            m->sum[reader] = sum;
        }
    }
    return 1;
}

static void copy_row(merging *m, int64_t v, int64_t u)
{
    sp_parts *to = &m->to;
    int64_t count = to->start[u + 1] - to->start[u];

    if (count > 0) {
        memcpy(to->source + to->edges, to->source + to->start[u],
               (size_t)count * sizeof *to->source);
        memcpy(to->weight + to->edges, to->weight + to->start[u],
               (size_t)count * sizeof *to->weight);
    }
    add_neuron(m, v, count);
}

/* Everyone in the class of `head` becomes it, as far as readers allow. */
static void unite(merging *m, int32_t head)
{
    if (m->next[head] < 0)
        return;
    for (int32_t v = head; v >= 0; v = m->next[v])
        if (add_readers(m, head, v, 0)) {
            add_readers(m, head, v, 1);
            m->now[v] = m->now[head];
        } else {
            copy_row(m, v, m->now[head]);
        }
}

static void merge_layer(merging *m, int64_t l)
{
    const spry_network *n = m->n;

    sp_table_clear(&m->table, n->first[l + 1] - n->first[l]);
    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
        classify(m, v);
    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
        if (m->head[v] == v)
            unite(m, (int32_t)v);
    m->to.activation[l] = n->activation[l];
    m->to.first[l + 1] = m->to.neurons;
}

/* ---- all layers ---- */

static spry_status set_up(merging *m, const spry_network *n)
{
    spry_status s = sp_fanout_make(&m->fan, n);

    m->n = n;
    if (s == SPRY_OK)
        s = sp_table_alloc(&m->table, sp_network_widest(n));
    if (s != SPRY_OK)
        return s;
    m->now = sp_alloc_raw(n->neurons, sizeof *m->now);
    m->head = sp_alloc_raw(n->neurons, sizeof *m->head);
    m->next = sp_alloc_raw(n->neurons, sizeof *m->next);
    m->tail = sp_alloc_raw(n->neurons, sizeof *m->tail);
    m->output = sp_alloc(n->neurons, sizeof *m->output);
    m->sum = sp_alloc_raw(n->neurons, sizeof *m->sum);
    m->sum_of = sp_alloc_raw(n->neurons, sizeof *m->sum_of);
    if (!m->now || !m->head || !m->next || !m->tail || !m->output || !m->sum ||
        !m->sum_of)
        return sp_no_memory((size_t)n->neurons * 28);
    memset(m->next, -1, (size_t)n->neurons * sizeof *m->next);
    memset(m->sum_of, -1, (size_t)n->neurons * sizeof *m->sum_of);
    for (int64_t i = 0; i < n->outputs; i++)
        m->output[n->output[i]] = 1;
    m->to = (sp_parts){.neurons = n->neurons,
                       .inputs = n->inputs,
                       .outputs = n->outputs,
                       .layers = n->layers,
                       .edges = n->edges,
                       .bias_on_nonzero = n->bias_on_nonzero};
    return sp_parts_alloc(&m->to);
}

static void tear_down(merging *m)
{
    sp_fanout_free(&m->fan);
    sp_free(m->now);
    sp_free(m->head);
    sp_free(m->next);
    sp_free(m->tail);
    sp_free(m->output);
    sp_free(m->sum);
    sp_free(m->sum_of);
    sp_free(m->table.slot);
    sp_parts_free(&m->to);
}

static void merge_all(merging *m)
{
    const spry_network *n = m->n;

    m->to.neurons = m->to.first[0] = n->inputs;
    m->to.edges = 0;
    for (int64_t v = 0; v < n->inputs; v++)
        m->now[v] = (int32_t)v;
    for (int64_t l = 0; l < n->layers; l++)
        merge_layer(m, l);
    for (int64_t i = 0; i < n->outputs; i++)
        m->to.output[i] = m->now[n->output[i]];
}

static spry_status merge(spry_network **out, const spry_network *n)
{
    merging m = {0};
    spry_status s = set_up(&m, n);

    *out = NULL;
    if (s == SPRY_OK) {
        merge_all(&m);
        if (m.to.neurons < n->neurons || m.to.edges < n->edges) {
            s = sp_network_adopt(out, &m.to, NULL, "merged network");
            m.to = (sp_parts){0};
        }
    }
    tear_down(&m);
    return s;
}

const sp_pass sp_pass_merge = {
    "merge", "neurons with the same sources, weights and bias become one",
    merge, 0};
