/* generate_rows.c - layers whose neurons each draw their own sources.
 *
 * A kind of layer is a function from an output to its sources. Each output
 * has its own seeded stream of chance, so outputs are made by any number of
 * threads, straight into their place: counted first, then drawn again. */
#include <omp.h>

#include "network/internal.h"

typedef struct {
    spry_layers *s;
    sp_drawer *draw;
    int64_t most;
    int32_t *scratch; /* [threads][most] */
} drawing;

static int32_t *scratch_of(const drawing *d)
{
    return d->scratch + omp_get_thread_num() * d->most;
}

/* start[j + 1] = edges of outputs 0 .. j. */
static void count_sources(const drawing *d)
{
    spry_layers *s = d->s;

#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t j = 0; j < s->layer.outputs; j++) {
        sp_rng r = sp_net_stream(s->options.seed, s->at, j);

        s->start[j + 1] = d->draw(scratch_of(d), s, j, &r);
    }
    s->start[0] = 0;
    for (int64_t j = 0; j < s->layer.outputs; j++)
        s->start[j + 1] += s->start[j];
}

static void draw_sources(const drawing *d)
{
    spry_layers *s = d->s;

#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t j = 0; j < s->layer.outputs; j++) {
        sp_rng r = sp_net_stream(s->options.seed, s->at, j);
        int64_t at = s->start[j], count = s->start[j + 1] - at;
        const int32_t *source = scratch_of(d);

        d->draw(scratch_of(d), s, j, &r);
        for (int64_t k = 0; k < count; k++) {
            s->from[at + k] = source[k];
            s->weight[at + k] = sp_net_weight(&r, count);
        }
    }
}

spry_status sp_layers_draw(spry_layers *s, int64_t outputs, int64_t most,
                           sp_drawer *draw)
{
    drawing d = {s, draw, most, NULL};
    spry_status status = sp_layers_reserve(s, outputs, 0, s->options.bias);

    if (status != SPRY_OK)
        return status;
    d.scratch = sp_alloc_raw(omp_get_max_threads() * most, sizeof *d.scratch);
    if (!d.scratch)
        return sp_fail_memory((size_t)most * sizeof *d.scratch);
    count_sources(&d);
    status = sp_layers_reserve(s, outputs, s->start[outputs], s->options.bias);
    if (status == SPRY_OK)
        draw_sources(&d);
    sp_free(d.scratch);
    return status;
}

spry_status sp_layers_shape(spry_layers *s, const sp_recipe *p)
{
    spry_status status = sp_recipe_count(&s->inputs, p, "width", 1, 1 << 24);

    if (status == SPRY_OK)
        status = sp_recipe_count(&s->depth, p, "depth", 1, 1 << 20);
    s->outputs = s->inputs;
    if (status == SPRY_OK)
        status = sp_recipe_neuron(&s->layer.activation, &s->options.bias, p);
    return status;
}

void sp_sort_sources(int32_t *source, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        int32_t x = source[i];
        int64_t at = i;

        for (; at > 0 && source[at - 1] > x; at--)
            source[at] = source[at - 1];
        source[at] = x;
    }
}

int sp_has_source(const int32_t *source, int64_t count, int32_t x)
{
    for (int64_t i = 0; i < count; i++)
        if (source[i] == x)
            return 1;
    return 0;
}
