/* forward.c - a batch through layers as they come from their source.
 *
 * Values lie in tiles of TILE inputs, neuron by neuron: a weight is one
 * factor for a whole vector. Two buffers change places from layer to layer,
 * so the depth costs no memory. */
#include "spry/network.h"

#include <string.h>

#include "network/internal.h"

enum { TILE = 32, LANES = 8 };

typedef struct {
    int64_t tiles;
    int64_t width;                     /* neurons of `now` */
    int64_t now_room, then_room;       /* in neurons */
    float (*now)[TILE], (*then)[TILE]; /* [tiles][width] */
} values;

static spry_status make_room(float (**array)[TILE], int64_t *room, int64_t want)
{
    if (want <= *room)
        return SPRY_OK;
    sp_free(*array);
    *room = 0;
    *array = sp_alloc_raw(want, sizeof **array);
    if (!*array)
        return sp_fail_memory((size_t)want * sizeof **array);
    *room = want;
    return SPRY_OK;
}

static spry_status load(values *v, const float *x, int64_t batch, int64_t width)
{
    spry_status s;

    v->tiles = (batch + TILE - 1) / TILE;
    v->width = width;
    s = make_room(&v->now, &v->now_room, v->tiles * width);
    if (s != SPRY_OK)
        return s;
    memset(v->now, 0, (size_t)(v->tiles * width) * sizeof *v->now);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < width; i++)
            v->now[b / TILE * width + i][b % TILE] = x[b * width + i];
    return SPRY_OK;
}

static void store(float *y, const values *v, int64_t batch)
{
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < v->width; i++)
            y[b * v->width + i] = v->now[b / TILE * v->width + i][b % TILE];
}

/* Inputs b .. b + LANES - 1 of output j: few enough that their sums stay in
 * registers. */
static void run_lanes(float *to, const float (*from)[TILE], const spry_layer *l,
                      int64_t j, int b)
{
    float sum[LANES] = {0};

    for (int64_t k = l->start[j]; k < l->start[j + 1]; k++) {
        const float *x = from[l->source[k]] + b;

        for (int i = 0; i < LANES; i++)
            sum[i] += l->weight[k] * x[i];
    }
    for (int i = 0; i < LANES; i++)
        to[b + i] =
            sp_finish(l->activation, sum[i], l->bias[j], l->bias_on_nonzero);
}

static void run_neuron(float *to, const float (*from)[TILE],
                       const spry_layer *l, int64_t j)
{
    for (int b = 0; b < TILE; b += LANES)
        run_lanes(to, from, l, j, b);
}

static spry_status run_layer(values *v, const spry_layer *l)
{
    spry_status s = make_room(&v->then, &v->then_room, v->tiles * l->outputs);
    float(*done)[TILE] = v->now;
    int64_t room = v->now_room;

    if (s != SPRY_OK)
        return s;
#pragma omp parallel for collapse(2) schedule(static)
    for (int64_t t = 0; t < v->tiles; t++)
        for (int64_t j = 0; j < l->outputs; j++)
            run_neuron(v->then[t * l->outputs + j],
                       (const float(*)[TILE])v->now + t * v->width, l, j);
    v->now = v->then;
    v->now_room = v->then_room;
    v->then = done;
    v->then_room = room;
    v->width = l->outputs;
    return SPRY_OK;
}

spry_status spry_layers_run(float *y, spry_layers *s, const float *x,
                            int64_t batch)
{
    SP_NEED(y, s, x);
    SP_REFUSE(batch < 0, "a batch cannot have %lld inputs", (long long)batch);

    values v = {0};
    const spry_layer *layer = NULL;
    spry_status status = load(&v, x, batch, s->inputs);

    if (status == SPRY_OK)
        status = spry_layers_rewind(s);
    if (status == SPRY_OK)
        status = spry_layers_next(s, &layer);
    while (status == SPRY_OK && layer) {
        status = run_layer(&v, layer);
        if (status == SPRY_OK)
            status = spry_layers_next(s, &layer);
    }
    if (status == SPRY_OK)
        store(y, &v, batch);
    sp_free(v.now);
    sp_free(v.then);
    return status;
}
