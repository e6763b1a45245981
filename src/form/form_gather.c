/* form_gather.c - one input at a time, compiled: sums stay in registers.
 *
 * Algorithm 1 loads and stores a sum for every edge. Here eight outputs at a
 * time are summed in step, sources as 16-bit numbers counted from the layer's
 * first, and where the edges of each neuron share one weight there are no
 * weights but one for each neuron. Outputs are taken by the number of their
 * edges, so that those in step end together. */
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "form/internal.h"

typedef struct {
    sp_places places;
    sp_gather_layer *layer; /* [layers] */
    sp_eight *eight;        /* of all layers */
    uint16_t *near;
    uint32_t *far;
    float *weight;
    const spry_network *net;
    const sp_net_kernels *kernels;
    int threads;
} state;

/* ---- laying out ---- */

/* Each neuron of the layer has one weight for all of its edges. */
static int weights_are_equal(const spry_network *n, int64_t l)
{
    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
        for (int64_t k = n->start[v] + 1; k < n->start[v + 1]; k++)
            if (n->weight[k] != n->weight[k - 1])
                return 0;
    return 1;
}

static int64_t edges_of(const spry_network *n, int64_t v)
{
    return n->start[v + 1] - n->start[v];
}

/* The neurons of layer l into by_edges[], those with few edges first, else
 * in order: counted, then placed. */
static spry_status sort_by_edges(int32_t *by_edges, const spry_network *n,
                                 int64_t l)
{
    int64_t most = 0, sum = 0, *at;

    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
        most = edges_of(n, v) > most ? edges_of(n, v) : most;
    at = sp_alloc(most + 2, sizeof *at);
    if (!at)
        return sp_fail_memory((size_t)most * sizeof *at);
    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
        at[edges_of(n, v)]++;
    for (int64_t d = 0; d <= most; d++) {
        int64_t count = at[d];

        at[d] = sum;
        sum += count;
    }
    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
        by_edges[at[edges_of(n, v)]++] = (int32_t)v;
    sp_free(at);
    return SPRY_OK;
}

/* Edge k of the network becomes edge `at` of the layer's arrays. */
static void put_edge(const state *s, const sp_gather_layer *l, int64_t at,
                     int64_t k)
{
    uint32_t slot = (uint32_t)(s->places.home[s->net->source[k]] - l->from);

    if (l->far)
        s->far[l->far - s->far + at] = slot;
    else
        s->near[l->near - s->near + at] = (uint16_t)slot;
    if (l->weight)
        s->weight[l->weight - s->weight + at] = s->net->weight[k];
}

/* Up to eight neurons; missing ones repeat the first. How much of the arrays
 * they took up, whole vectors. */
static int64_t put_eight(const state *s, const sp_gather_layer *l, sp_eight *e,
                         const int32_t *neuron, int64_t first)
{
    const spry_network *n = s->net;
    int64_t at = e->at;

    e->common = (int32_t)edges_of(n, neuron[0]); /* the shortest */
    for (int i = 0; i < SP_LANES; i++) {
        int32_t v = neuron[i < e->count ? i : 0];

        e->target[i] = (int32_t)(v - first);
        e->tail[i] = (int32_t)edges_of(n, v) - e->common;
        e->bias[i] = n->bias[v];
        e->scale[i] =
            l->weight || edges_of(n, v) == 0 ? 1 : n->weight[n->start[v]];
        for (int32_t k = 0; k < e->common; k++)
            put_edge(s, l, at + (int64_t)k * SP_LANES + i, n->start[v] + k);
    }
    at += (int64_t)e->common * SP_LANES;
    e->abreast = e->count == SP_LANES;
    for (int i = 0; i < e->count; i++) {
        e->tails += e->tail[i];
        e->abreast &= e->target[i] == e->target[0] + i;
        for (int32_t t = 0; t < e->tail[i]; t++)
            put_edge(s, l, at++, n->start[neuron[i]] + e->common + t);
    }
    return (at - e->at + SP_LANES - 1) / SP_LANES * SP_LANES;
}

static void put_layer(const state *s, const sp_gather_layer *l, int64_t number,
                      const int32_t *by_edges)
{
    const spry_network *n = s->net;
    int64_t first = n->first[number], width = n->first[number + 1] - first;
    sp_eight *e = s->eight + (l->eight - s->eight);
    int64_t at = 0;

    for (int64_t i = 0; i < width; i += SP_LANES, e++) {
        *e = (sp_eight){
            .at = at,
            .count = (int32_t)(width - i < SP_LANES ? width - i : SP_LANES)};
        at += put_eight(s, l, e, by_edges + i, first);
    }
}

/* More than the layer's edges: the last eight may repeat a neuron seven
 * times, and each begins at a whole vector. */
static int64_t room_of(const spry_network *n, int64_t l)
{
    int64_t most = 0;

    for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
        most = edges_of(n, v) > most ? edges_of(n, v) : most;
    return n->start[n->first[l + 1]] - n->start[n->first[l]] +
           (SP_LANES - 1) * (most + n->first[l + 1] - n->first[l]);
}

typedef struct {
    int64_t eights, near, far, weight;
} rooms;

/* What a layer is like; its arrays begin where `used` stands, which moves
 * on. With NULL arrays this only counts. */
static void open_layer(state *s, rooms *used, int64_t number)
{
    const spry_network *n = s->net;
    sp_gather_layer *l = &s->layer[number];
    int64_t room = (room_of(n, number) + 31) / 32 * 32, span;
    int equal = weights_are_equal(n, number);

    *l = (sp_gather_layer){
        .from = sp_places_base(&span, &s->places, n, number),
        .to = s->places.slot[number + 1],
        .eights = (n->first[number + 1] - n->first[number] + 7) / 8,
        .activation = n->activation[number],
        .bias_on_nonzero = n->bias_on_nonzero};
    if (s->eight) {
        l->eight = s->eight + used->eights;
        l->near = span <= UINT16_MAX ? s->near + used->near : NULL;
        l->far = span <= UINT16_MAX ? NULL : s->far + used->far;
        l->weight = equal ? NULL : s->weight + used->weight;
    }
    used->eights += l->eights;
    *(span <= UINT16_MAX ? &used->near : &used->far) += room;
    used->weight += equal ? 0 : room;
}

static spry_status alloc_arrays(state *s, double *bytes)
{
    rooms want = {0};

    for (int64_t l = 0; l < s->net->layers; l++)
        open_layer(s, &want, l);
    *bytes = (double)want.eights * sizeof *s->eight +
             (double)want.near * sizeof *s->near +
             (double)want.far * sizeof *s->far +
             (double)want.weight * sizeof *s->weight;
    s->eight = sp_alloc(want.eights, sizeof *s->eight);
    s->near = sp_alloc(want.near, sizeof *s->near);
    s->far = sp_alloc(want.far, sizeof *s->far);
    s->weight = sp_alloc(want.weight, sizeof *s->weight);
    if (!s->eight || !s->near || !s->far || !s->weight)
        return sp_fail_memory((size_t)want.near * 2 + (size_t)want.weight * 4);
    return SPRY_OK;
}

static spry_status lay_out(state *s)
{
    const spry_network *n = s->net;
    int32_t *by_edges = sp_alloc_raw(n->neurons, sizeof *by_edges);
    rooms used = {0};
    spry_status status =
        by_edges ? SPRY_OK : sp_fail_memory((size_t)n->neurons * 4);

    for (int64_t l = 0; status == SPRY_OK && l < n->layers; l++) {
        open_layer(s, &used, l);
        status = sort_by_edges(by_edges, n, l);
        if (status == SPRY_OK)
            put_layer(s, &s->layer[l], l, by_edges);
    }
    sp_free(by_edges);
    return status;
}

static void release(void *p)
{
    state *s = p;

    if (!s)
        return;
    sp_places_free(&s->places);
    sp_free(s->layer);
    sp_free(s->eight);
    sp_free(s->near);
    sp_free(s->far);
    sp_free(s->weight);
    sp_free(s);
}

static spry_status make(void **out, const spry_network *n, sp_form_options *f)
{
    state *s = sp_alloc(1, sizeof *s);
    spry_status status =
        s ? sp_places_make(&s->places, n) : sp_no_memory(sizeof *s);

    *out = NULL;
    if (status == SPRY_OK) {
        s->net = n;
        s->kernels = sp_net_kernels_for(f);
        s->threads = f->threads;
        s->layer = sp_alloc(n->layers, sizeof *s->layer);
        status = s->layer ? alloc_arrays(s, &f->bytes)
                          : sp_no_memory((size_t)n->layers * sizeof *s->layer);
    }
    if (status == SPRY_OK)
        status = lay_out(s);
    if (status == SPRY_OK)
        *out = s;
    else
        release(s);
    return status;
}

/* ---- running ---- */

static void set_inputs(float *value, const state *s, const float *x)
{
    memcpy(value + s->places.slot[0], x,
           (size_t)s->net->inputs * sizeof *value);
}

static void take_outputs(float *y, const float *value, const state *s)
{
    for (int64_t i = 0; i < s->net->outputs; i++)
        y[i] = value[s->places.home[s->net->output[i]]];
}

static void run_alone(float *value, const state *s, float *y, const float *x)
{
    set_inputs(value, s, x);
    for (int64_t l = 0; l < s->net->layers; l++)
        s->kernels->gather(value, &s->layer[l], 0, s->layer[l].eights);
    take_outputs(y, value, s);
}

/* Eights that a thread takes at a time: some microseconds of work. */
enum { CHUNK = 16 };

static int64_t chunks_of(const sp_gather_layer *l)
{
    return (l->eights + CHUNK - 1) / CHUNK;
}

/* Threads go on when all chunks before are done, not when all threads have
 * come: one that is not running holds up nobody. Waiting takes less than a
 * microsecond, so they spin, and give way when it seems to take longer. */
typedef struct {
    atomic_llong done;   /* chunks of all layers */
    atomic_llong *taken; /* [layers] */
} progress;

static void wait_for(progress *p, int64_t chunks)
{
    enum { PATIENCE = 4096 };

    for (int turns = 0; atomic_load(&p->done) < chunks; turns++)
        if (turns > PATIENCE)
            sched_yield();
}

static void run_share(progress *p, float *value, const state *s)
{
    int64_t before = 0;

    for (int64_t l = 0; l < s->net->layers; l++) {
        const sp_gather_layer *layer = &s->layer[l];
        int64_t chunks = chunks_of(layer), i;

        wait_for(p, before);
        while ((i = atomic_fetch_add(&p->taken[l], 1)) < chunks) {
            int64_t last = (i + 1) * CHUNK;

            s->kernels->gather(value, layer, i * CHUNK,
                               last < layer->eights ? last : layer->eights);
            atomic_fetch_add(&p->done, 1);
        }
        before += chunks;
    }
}

/* One input, the outputs of each layer dealt out. */
static spry_status run_together(float *value, const state *s, float *y,
                                const float *x)
{
    progress p = {.taken = sp_alloc(s->net->layers, sizeof *p.taken)};

    if (!p.taken)
        return sp_fail_memory((size_t)s->net->layers * sizeof *p.taken);
    set_inputs(value, s, x);
#pragma omp parallel num_threads(s->threads)
    run_share(&p, value, s);
    take_outputs(y, value, s);
    sp_free(p.taken);
    return SPRY_OK;
}

/* Several inputs: each thread takes some, and nobody waits. */
static spry_status run_apart(const state *s, float *y, const float *x,
                             int64_t batch)
{
    const spry_network *n = s->net;
    int short_of_memory = 0;

#pragma omp parallel num_threads(s->threads) reduction(| : short_of_memory)
    {
        float *value = sp_alloc_raw(s->places.slots, sizeof *value);

        short_of_memory = !value;
#pragma omp for schedule(static)
        for (int64_t b = 0; b < batch; b++)
            if (value)
                run_alone(value, s, y + b * n->outputs, x + b * n->inputs);
        sp_free(value);
    }
    return short_of_memory ? sp_fail_memory((size_t)s->places.slots * 4)
                           : SPRY_OK;
}

static spry_status run(const void *p, float *y, const float *x, int64_t batch)
{
    const state *s = p;
    int64_t outputs = s->net->outputs, inputs = s->net->inputs;
    spry_status status = SPRY_OK;
    float *value;

    if (s->threads > 1 && batch >= s->threads)
        return run_apart(s, y, x, batch);
    value = sp_alloc_raw(s->places.slots, sizeof *value);
    if (!value)
        return sp_fail_memory((size_t)s->places.slots * sizeof *value);
    for (int64_t b = 0; status == SPRY_OK && b < batch; b++)
        if (s->threads > 1)
            status = run_together(value, s, y + b * outputs, x + b * inputs);
        else
            run_alone(value, s, y + b * outputs, x + b * inputs);
    sp_free(value);
    return status;
}

const sp_form sp_form_gather = {
    "gather",
    "one input at a time, sums in registers, packed sources",
    SP_FORM_THREADS,
    make,
    run,
    NULL,
    release};
