/* form_plain.c - neuron by neuron, as a careful programmer would write it.
 *
 * A sum per neuron and input, kept in registers; sixteen inputs side by side
 * when there are as many, else one at a time. What every other form has to
 * beat. */
#include <string.h>

#include "form/internal.h"

typedef struct {
    sp_plain loops;
    const sp_net_kernels *kernels;
    int threads;
} plain;

/* ---- making ---- */

static void release(void *p)
{
    plain *s = p;

    if (!s)
        return;
    sp_places_free(&s->loops.places);
    sp_free(s->loops.source);
    sp_free(s);
}

static spry_status make(void **out, const spry_network *n, sp_form_options *f)
{
    plain *s = sp_alloc(1, sizeof *s);
    spry_status status =
        s ? sp_places_make(&s->loops.places, n) : sp_no_memory(sizeof *s);

    *out = NULL;
    if (status == SPRY_OK) {
        s->loops.net = n;
        s->kernels = sp_net_kernels_for(f);
        s->threads = f->threads;
        s->loops.source = sp_alloc_raw(n->edges, sizeof *s->loops.source);
        if (!s->loops.source)
            status = sp_no_memory((size_t)n->edges * sizeof *s->loops.source);
    }
    f->bytes = (double)n->edges * sizeof *s->loops.source +
               (double)n->neurons * sizeof *s->loops.places.home;
    for (int64_t k = 0; status == SPRY_OK && k < n->edges; k++)
        s->loops.source[k] = s->loops.places.home[n->source[k]];
    if (status == SPRY_OK)
        *out = s;
    else
        release(s);
    return status;
}

/* ---- running ---- */

/* `count` inputs, side by side. */
static void run_some(float *value, const plain *s, float *y, const float *x,
                     int64_t count, int side)
{
    const spry_network *n = s->loops.net;
    const sp_places *places = &s->loops.places;
    float *in = value + places->slot[0] * side;

    if (count < side)
        memset(in, 0, (size_t)(n->inputs * side) * sizeof *in);
    for (int64_t b = 0; b < count; b++)
        for (int64_t i = 0; i < n->inputs; i++)
            in[i * side + b] = x[b * n->inputs + i];
    s->kernels->plain(value, &s->loops, side);
    for (int64_t b = 0; b < count; b++)
        for (int64_t i = 0; i < n->outputs; i++)
            y[b * n->outputs + i] =
                value[(int64_t)places->home[n->output[i]] * side + b];
}

static spry_status run(const void *p, float *y, const float *x, int64_t batch)
{
    const plain *s = p;
    const spry_network *n = s->loops.net;
    int side = batch < SP_SIDE / 2 ? 1 : SP_SIDE, short_of_memory = 0;
    int64_t steps = (batch + side - 1) / side;

#pragma omp parallel num_threads(s->threads) \
    reduction(|                              \
              : short_of_memory) if (steps > 1)
    {
        float *value = sp_alloc(s->loops.places.slots * side, sizeof *value);

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
        return sp_no_memory((size_t)(s->loops.places.slots * side) *
                            sizeof(float));
    return SPRY_OK;
}

const sp_form sp_form_plain = {"plain",
                               "neuron by neuron, as anyone would write it",
                               SP_FORM_THREADS,
                               make,
                               run,
                               NULL,
                               release};
