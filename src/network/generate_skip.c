/* generate_skip.c - layers whose edges also come from layers further back:
 * the smallest networks that are no chain. */
#include "network/internal.h"

typedef struct {
    int64_t width, depth, degree;
    double skip;
    spry_activation activation;
    float bias;
} shape;

static spry_status read_shape(shape *out, const sp_recipe *p)
{
    spry_status s = sp_recipe_count(&out->width, p, "width", 1, 1 << 20);

    if (s == SPRY_OK)
        s = sp_recipe_count(&out->depth, p, "depth", 1, 1 << 10);
    if (s == SPRY_OK)
        s = sp_recipe_count(&out->degree, p, "degree", 1, out->width);
    if (s == SPRY_OK)
        s = sp_recipe_real(&out->skip, p, "skip", 0, 1);
    if (s == SPRY_OK)
        s = sp_recipe_neuron(&out->activation, &out->bias, p);
    if (s == SPRY_OK && out->width * out->depth * out->degree > INT32_MAX)
        s = sp_fail(SPRY_USAGE, "skip: more than 2^31 edges are too many");
    return s;
}

/* Sources of a neuron behind the neurons 0 .. end - 1, of which the last
 * g->width are the layer before. */
static void draw_sources(int32_t *source, const shape *g, int64_t end,
                         sp_rng *r)
{
    int64_t before = end - g->width;

    for (int64_t d = 0; d < g->degree; d++) {
        int far = before > 0 && sp_rng_unit(r) < g->skip;
        int64_t from = far ? 0 : before, count = far ? before : g->width;

        do
            source[d] =
                (int32_t)(from + (int64_t)sp_rng_below(r, (uint64_t)count));
        while (sp_has_source(source, d, source[d]));
    }
    sp_sort_sources(source, g->degree);
}

static void fill(const sp_parts *p, const shape *g, uint64_t seed)
{
    for (int64_t l = 0; l <= g->depth; l++)
        p->first[l] = g->width * (l + 1);
    for (int64_t l = 0; l < g->depth; l++)
        p->activation[l] = g->activation;
    for (int64_t i = 0; i < g->width; i++)
        p->output[i] = (int32_t)(p->neurons - g->width + i);
    for (int64_t v = g->width; v < p->neurons; v++) {
        int64_t layer = v / g->width - 1, at = (v - g->width) * g->degree;
        sp_rng r = sp_net_stream(seed, layer, v);

        p->start[v + 1] = at + g->degree;
        p->bias[v] = g->bias;
        draw_sources(p->source + at, g, p->first[layer], &r);
        for (int64_t k = at; k < at + g->degree; k++)
            p->weight[k] = sp_net_weight(&r, g->degree);
    }
}

static spry_status make_skip(spry_network **out, const sp_recipe *spec,
                             uint64_t seed)
{
    shape g;
    sp_parts p = {0};
    spry_status s = read_shape(&g, spec);

    if (s != SPRY_OK)
        return s;
    p.inputs = p.outputs = g.width;
    p.layers = g.depth;
    p.neurons = g.width * (g.depth + 1);
    p.edges = g.width * g.depth * g.degree;
    s = sp_parts_alloc(&p);
    if (s != SPRY_OK)
        return s;
    fill(&p, &g, seed);
    return sp_network_adopt(out, &p, NULL, "skip");
}

const sp_maker sp_maker_skip = {
    .name = "skip",
    .help = "a random graph whose edges may skip layers",
    .params = "width=256 depth=8 degree=16 skip=0.25" SP_RECIPE_NEURON,
    .make = make_skip,
};
