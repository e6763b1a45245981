/* generate_smallworld.c - layers after Watts and Strogatz: a neuron listens
 * to its neighbours on a ring, and now and then to anyone instead. */
#include "network/internal.h"

typedef struct {
    int64_t degree;
    double rewire;
} world;

static int64_t draw(int32_t *source, const spry_layers *s, int64_t output,
                    sp_rng *r)
{
    const world *w = s->state;
    int64_t inputs = s->layer.inputs, left = output - w->degree / 2;

    for (int64_t d = 0; d < w->degree; d++)
        source[d] = (int32_t)((left + d + inputs) % inputs);
    for (int64_t d = 0; w->degree < inputs && d < w->degree; d++) {
        int32_t far;

        if (sp_rng_unit(r) >= w->rewire)
            continue;
        do
            far = (int32_t)sp_rng_below(r, (uint64_t)inputs);
        while (sp_has_source(source, w->degree, far));
        source[d] = far;
    }
    sp_sort_sources(source, w->degree);
    return w->degree;
}

static spry_status next(spry_layers *s)
{
    const world *w = s->state;

    return sp_layers_draw(s, s->inputs, w->degree, draw);
}

static const sp_source world_source = {.next = next};

static spry_status open_world(spry_layers *s, const sp_recipe *p)
{
    world *w = s->state = sp_alloc(1, sizeof *w);
    spry_status status = w ? sp_layers_shape(s, p) : sp_fail_memory(sizeof *w);

    s->source = &world_source;
    if (status == SPRY_OK)
        status = sp_recipe_count(&w->degree, p, "degree", 1, s->inputs);
    if (status == SPRY_OK)
        status = sp_recipe_real(&w->rewire, p, "rewire", 0, 1);
    if (status == SPRY_OK)
        s->edges = s->inputs * s->depth * w->degree;
    return status;
}

const sp_maker sp_maker_smallworld = {
    .name = "smallworld",
    .help = "neighbours on a ring, some rewired to anywhere",
    .params = "width=1024 depth=4 degree=32 rewire=0.1" SP_RECIPE_NEURON,
    .open = open_world,
};
