/* pass_renumber.c - neurons that are read together lie together.
 *
 * From the last layer, which stays, back to the first: the neurons of a
 * layer go by the first neurons that read them. A cache line holds LINE of
 * them; when the rows touch no fewer lines than before, all stays as it was. */
#include <string.h>

#include "shrink/passes.h"

enum { LINE = 16 };

typedef struct {
    const spry_network *n;
    sp_fanout fan;
    int32_t *now;            /* [neurons] its new number */
    int32_t *then;           /* [neurons] whose number it is: the inverse */
    sp_keyed *sorted, *room; /* [neurons of a layer] */
    sp_parts to;
} numbering;

/* The two least readers of u, as one number; those without come last. */
static uint64_t reader_key(const numbering *r, int64_t u)
{
    uint64_t least = UINT32_MAX >> 1, next = UINT32_MAX >> 1;

    for (int64_t i = r->fan.start[u]; i < r->fan.start[u + 1]; i++) {
        uint64_t v = (uint64_t)r->now[r->fan.target[r->fan.edge[i]]];

        if (v < least) {
            next = least;
            least = v;
        } else if (v < next) {
            next = v;
        }
    }
    return least << 32 | next;
}

static void number_layer(const numbering *r, int64_t l)
{
    const spry_network *n = r->n;
    int64_t from = n->first[l], count = n->first[l + 1] - from;
    const sp_keyed *sorted;

    for (int64_t i = 0; i < count; i++)
        r->sorted[i] = (sp_keyed){reader_key(r, from + i), from + i};
    sorted = sp_radix_sort(r->sorted, r->room, count, 63);
    for (int64_t i = 0; i < count; i++)
        r->now[sorted[i].at] = (int32_t)(from + i);
}

static void number_all(const numbering *r)
{
    const spry_network *n = r->n;

    for (int64_t v = 0; v < n->neurons; v++)
        r->now[v] = (int32_t)v;
    for (int64_t l = n->layers - 1; l-- > 0;)
        number_layer(r, l);
    for (int64_t v = 0; v < n->neurons; v++)
        r->then[r->now[v]] = (int32_t)v;
}

/* ---- is it better? ---- */

/* Lines that the rows touch, each row for itself. */
static int64_t lines_touched(const int64_t *start, const int32_t *source,
                             int64_t neurons)
{
    int64_t lines = 0;

    for (int64_t v = 0; v < neurons; v++)
        for (int64_t k = start[v]; k < start[v + 1]; k++)
            lines += k == start[v] || source[k] / LINE != source[k - 1] / LINE;
    return lines;
}

/* ---- writing ---- */

static void write_row(numbering *r, int64_t old, sp_edge *row)
{
    const spry_network *n = r->n;
    int64_t from = n->start[old], count = n->start[old + 1] - from;
    sp_parts *to = &r->to;

    for (int64_t i = 0; i < count; i++)
        row[i] = (sp_edge){r->now[n->source[from + i]], n->weight[from + i]};
    sp_edges_sort(row, count);
    for (int64_t i = 0; i < count; i++) {
        to->source[to->edges] = row[i].source;
        to->weight[to->edges++] = row[i].weight;
    }
}

static void write_all(numbering *r, sp_edge *row)
{
    const spry_network *n = r->n;
    sp_parts *to = &r->to;

    to->edges = 0;
    memcpy(to->first, n->first, (size_t)(n->layers + 1) * sizeof *to->first);
    memcpy(to->activation, n->activation,
           (size_t)n->layers * sizeof *to->activation);
    for (int64_t v = 0; v < n->neurons; v++) {
        write_row(r, r->then[v], row);
        to->bias[v] = n->bias[r->then[v]];
        to->start[v + 1] = to->edges;
    }
    for (int64_t i = 0; i < n->outputs; i++)
        to->output[i] = r->now[n->output[i]];
}

static spry_status set_up(numbering *r, const spry_network *n)
{
    spry_status s = sp_fanout_make(&r->fan, n);

    r->n = n;
    if (s != SPRY_OK)
        return s;
    r->now = sp_alloc_raw(n->neurons, sizeof *r->now);
    r->then = sp_alloc_raw(n->neurons, sizeof *r->then);
    r->sorted = sp_alloc_raw(n->neurons, sizeof *r->sorted);
    r->room = sp_alloc_raw(n->neurons, sizeof *r->room);
    if (!r->now || !r->then || !r->sorted || !r->room)
        return sp_no_memory((size_t)n->neurons * 40);
    r->to = (sp_parts){.neurons = n->neurons,
                       .inputs = n->inputs,
                       .outputs = n->outputs,
                       .layers = n->layers,
                       .edges = n->edges,
                       .bias_on_nonzero = n->bias_on_nonzero};
    return sp_parts_alloc(&r->to);
}

static void tear_down(numbering *r)
{
    sp_fanout_free(&r->fan);
    sp_free(r->now);
    sp_free(r->then);
    sp_free(r->sorted);
    sp_free(r->room);
    sp_parts_free(&r->to);
}

static spry_status renumber(spry_network **out, const spry_network *n)
{
    numbering r = {0};
    sp_edge *row = sp_alloc_raw(n->neurons, sizeof *row);
    spry_status s =
        row ? set_up(&r, n) : sp_no_memory((size_t)n->neurons * sizeof *row);

    *out = NULL;
    if (s == SPRY_OK) {
        number_all(&r);
        write_all(&r, row);
        if (lines_touched(r.to.start, r.to.source, n->neurons) <
            lines_touched(n->start, n->source, n->neurons)) {
            s = sp_network_adopt(out, &r.to, NULL, "renumbered network");
            r.to = (sp_parts){0};
        }
    }
    sp_free(row);
    tear_down(&r);
    return s;
}

const sp_pass sp_pass_renumber = {
    "renumber", "neurons that are read together lie together", renumber, 1};
