/* form_plain.c - neuron by neuron, as a careful programmer would write it.
 *
 * A sum per neuron and input, kept in registers; sixteen inputs side by side
 * when there are as many, else one at a time. What every other form has to
 * beat. */
#include <string.h>

#include "machine/machine.h"
#include "network/form.h"

enum { SIDE = 16 };

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,fma")))
#else
#define AVX2
#endif
#define INLINE static inline __attribute__((always_inline))

typedef struct {
    const spry_network *net;
    sp_places places;
    int32_t *source; /* [edges] slots */
    int threads;
    int avx2;
} plain;

/* ---- making ---- */

static void release(void *p)
{
    plain *s = p;

    if (!s)
        return;
    sp_places_free(&s->places);
    sp_free(s->source);
    sp_free(s);
}

static spry_status make(void **out, const spry_network *n, spry_form *f)
{
    plain *s = sp_alloc(1, sizeof *s);
    spry_status status =
        s ? sp_places_make(&s->places, n) : sp_no_memory(sizeof *s);

    *out = NULL;
    if (status == SPRY_OK) {
        s->net = n;
        s->threads = f->threads;
        s->avx2 = sp_isa_runs_here(SPRY_AVX2);
        s->source = sp_alloc_raw(n->edges, sizeof *s->source);
        if (!s->source)
            status = sp_no_memory((size_t)n->edges * sizeof *s->source);
    }
    for (int64_t k = 0; status == SPRY_OK && k < n->edges; k++)
        s->source[k] = s->places.home[n->source[k]];
    if (status == SPRY_OK)
        *out = s;
    else
        release(s);
    return status;
}

/* ---- running ---- */

/* Neuron v of layer l, for `side` inputs in value[slots][side]. */
INLINE void run_neuron(float *value, const plain *s, int64_t v, int64_t l,
                       int side)
{
    const spry_network *n = s->net;
    float sum[SIDE] = {0};
    float *to = value + (int64_t)s->places.home[v] * side;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        const float *from = value + (int64_t)s->source[k] * side;

        for (int i = 0; i < side; i++)
            sum[i] += n->weight[k] * from[i];
    }
    for (int i = 0; i < side; i++)
        to[i] =
            sp_finish(n->activation[l], sum[i], n->bias[v], n->bias_on_nonzero);
}

INLINE void run_layers(float *value, const plain *s, int side)
{
    for (int64_t l = 0; l < s->net->layers; l++)
        for (int64_t v = s->net->first[l]; v < s->net->first[l + 1]; v++)
            run_neuron(value, s, v, l, side);
}

AVX2 static void run_side_avx2(float *value, const plain *s)
{
    run_layers(value, s, SIDE);
}

static void run_side(float *value, const plain *s)
{
    run_layers(value, s, SIDE);
}

static void run_one(float *value, const plain *s)
{
    run_layers(value, s, 1);
}

/* `count` inputs, side by side. */
static void run_some(float *value, const plain *s, float *y, const float *x,
                     int64_t count, int side)
{
    const spry_network *n = s->net;
    float *in = value + s->places.slot[0] * side;

    if (count < side)
        memset(in, 0, (size_t)(n->inputs * side) * sizeof *in);
    for (int64_t b = 0; b < count; b++)
        for (int64_t i = 0; i < n->inputs; i++)
            in[i * side + b] = x[b * n->inputs + i];
    if (side == 1)
        run_one(value, s);
    else if (s->avx2)
        run_side_avx2(value, s);
    else
        run_side(value, s);
    for (int64_t b = 0; b < count; b++)
        for (int64_t i = 0; i < n->outputs; i++)
            y[b * n->outputs + i] =
                value[(int64_t)s->places.home[n->output[i]] * side + b];
}

static spry_status run(const void *p, float *y, const float *x, int64_t batch)
{
    const plain *s = p;
    const spry_network *n = s->net;
    int side = batch < SIDE / 2 ? 1 : SIDE, short_of_memory = 0;
    int64_t steps = (batch + side - 1) / side;

#pragma omp parallel num_threads(s->threads) \
    reduction(|                              \
              : short_of_memory) if (steps > 1)
    {
        float *value = sp_alloc(s->places.slots * side, sizeof *value);

        short_of_memory = !value;
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < steps; t++) {
            int64_t at = t * side, left = batch - at;

            if (value)
                run_some(value, s, y + at * n->outputs, x + at * n->inputs,
                         left < side ? left : side, side);
        }
        sp_free(value);
    }
    if (short_of_memory)
        return sp_no_memory((size_t)(s->places.slots * side) * sizeof(float));
    return SPRY_OK;
}

const sp_form sp_form_plain = {"plain",
                               "neuron by neuron, as anyone would write it",
                               SP_FORM_THREADS,
                               make,
                               run,
                               NULL,
                               release};
