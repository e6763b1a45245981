/* generate_pruned.c - layers like those of a multi-layer perceptron pruned by
 * magnitude.
 *
 * Dense weights are drawn, scaled by how much each input and each output
 * matters, and the largest are kept. So, as in trained networks, some inputs
 * are used by nearly all and others by nobody. */
#include <string.h>

#include "network/internal.h"

enum { WIDTHS = 32, WIDEST = 16384, HALF = 1 << 16 };

typedef struct {
    int widths;
    int64_t width[WIDTHS];
    double sparsity;
    float *dense; /* [largest layer] */
} pruned;

/* Near a normal distribution, from sums of whole numbers: the same bits on
 * any machine. */
static float draw_weight(sp_rng *r)
{
    uint64_t x = sp_rng_next(r);
    int64_t sum = 0;

    for (int i = 0; i < 4; i++)
        sum += (int64_t)(x >> (16 * i) & 0xffff);
    return (float)(sum - 2 * 0xffff) * 0x1p-16f;
}

/* How much a neuron matters: mostly little, sometimes much. */
static float importance(uint64_t seed, int64_t layer, int64_t n)
{
    sp_rng r = sp_net_stream(seed ^ 0x5851f42d4c957f2du, layer, n);
    float u = (float)sp_rng_unit(&r);

    return 0.25f + u * u;
}

static void draw_dense(float *dense, const spry_layers *s, int64_t outputs)
{
    int64_t inputs = s->layer.inputs;

#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < outputs; j++) {
        sp_rng r = sp_net_stream(s->options.seed, s->at, j);
        float scale = importance(s->options.seed, s->at + 1, j);

        for (int64_t i = 0; i < inputs; i++)
            dense[j * inputs + i] =
                draw_weight(&r) * scale * importance(s->options.seed, s->at, i);
    }
}

/* The bits of |w|: they ascend as magnitudes do. */
static uint32_t magnitude(float w)
{
    uint32_t bits;

    memcpy(&bits, &w, sizeof bits);
    return bits & 0x7fffffff;
}

/* Among the weights whose magnitude begins with `head` (any, when shift is
 * 16), the 16 bits at `shift` of the one of rank *rank from the largest;
 * *rank is then counted among those that share these bits too. */
static uint32_t select_half(const pruned *p, int64_t n, uint32_t head,
                            int shift, int64_t *rank)
{
    int64_t count[HALF] = {0};
    uint32_t half = HALF - 1;

    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = magnitude(p->dense[i]);

        if (shift == 16 || bits >> 16 == head)
            count[bits >> shift & (HALF - 1)]++;
    }
    for (; half > 0 && *rank >= count[half]; half--)
        *rank -= count[half];
    return half;
}

/* The magnitude that `keep` of the n weights exceed, or nearly so: equal
 * ones are not told apart. */
static float threshold(const pruned *p, int64_t n, int64_t keep)
{
    uint32_t head, bits;
    float least;

    if (keep >= n)
        return -1;
    head = select_half(p, n, 0, 16, &keep);
    bits = head << 16 | select_half(p, n, head, 0, &keep);
    memcpy(&least, &bits, sizeof least);
    return least;
}

static int64_t count_kept(int64_t *start, const pruned *p, int64_t inputs,
                          int64_t outputs, float least)
{
    int64_t kept = 0;

    for (int64_t j = 0; j < outputs; j++) {
        start[j] = kept;
        for (int64_t i = 0; i < inputs; i++)
            kept += fabsf(p->dense[j * inputs + i]) > least;
    }
    start[outputs] = kept;
    return kept;
}

/* Scaled by sqrt(2 / fan-in), so that values neither die nor explode. */
static void keep_largest(spry_layers *s, const pruned *p, float least)
{
    int64_t inputs = s->layer.inputs;

    for (int64_t j = 0; j < s->layer.outputs; j++) {
        int64_t at = s->start[j], fan = s->start[j + 1] - at;
        float scale = (float)sqrt(2.0 / (double)(fan > 0 ? fan : 1));

        for (int64_t i = 0; i < inputs; i++) {
            float w = p->dense[j * inputs + i];

            if (fabsf(w) <= least)
                continue;
            s->from[at] = (int32_t)i;
            s->weight[at++] = scale * w;
        }
    }
}

static spry_status next(spry_layers *s)
{
    pruned *p = s->state;
    int64_t outputs = p->width[s->at + 1], inputs = s->layer.inputs;
    int64_t keep = (int64_t)((1 - p->sparsity) * (double)(inputs * outputs));
    spry_status status = sp_layers_reserve(s, outputs, 0, s->options.bias);
    float least;

    if (status != SPRY_OK)
        return status;
    draw_dense(p->dense, s, outputs);
    least = threshold(p, inputs * outputs, keep);
    keep = count_kept(s->start, p, inputs, outputs, least);
    status = sp_layers_reserve(s, outputs, keep, s->options.bias);
    if (status == SPRY_OK)
        keep_largest(s, p, least);
    return status;
}

static void close_pruned(void *state)
{
    pruned *p = state;

    if (!p)
        return;
    sp_free(p->dense);
    sp_free(p);
}

static const sp_source pruned_source = {.next = next, .close = close_pruned};

static spry_status make_room(pruned *p)
{
    int64_t most = 0;

    for (int i = 0; i + 1 < p->widths; i++)
        if (p->width[i] * p->width[i + 1] > most)
            most = p->width[i] * p->width[i + 1];
    p->dense = sp_alloc_raw(most, sizeof *p->dense);
    return p->dense ? SPRY_OK : sp_fail_memory((size_t)most * sizeof(float));
}

static spry_status read_pruned(pruned *p, const sp_recipe *spec)
{
    spry_status s =
        sp_recipe_list(p->width, &p->widths, WIDTHS, spec, "widths");

    if (s == SPRY_OK)
        s = sp_recipe_real(&p->sparsity, spec, "sparsity", 0, 1);
    if (s != SPRY_OK)
        return s;
    if (p->widths < 2)
        return sp_fail(SPRY_USAGE, "pruned: widths must name the inputs and at "
                                   "least one layer, as in 784x300x10");
    for (int i = 0; i < p->widths; i++)
        if (p->width[i] > WIDEST)
            return sp_fail(SPRY_USAGE,
                           "pruned: a width of %lld is too much; "
                           "at most %d",
                           (long long)p->width[i], WIDEST);
    return make_room(p);
}

static spry_status open_pruned(spry_layers *s, const sp_recipe *spec)
{
    pruned *p = s->state = sp_alloc(1, sizeof *p);
    spry_status status = p ? read_pruned(p, spec) : sp_fail_memory(sizeof *p);

    s->source = &pruned_source;
    if (status == SPRY_OK)
        status = sp_recipe_neuron(&s->layer.activation, &s->options.bias, spec);
    if (status != SPRY_OK)
        return status;
    s->inputs = p->width[0];
    s->outputs = p->width[p->widths - 1];
    s->depth = p->widths - 1;
    return SPRY_OK;
}

const sp_maker sp_maker_pruned = {
    .name = "pruned",
    .help = "a dense perceptron of which only the largest weights are left",
    .params = "widths=784x300x100x10 sparsity=0.9" SP_RECIPE_NEURON,
    .open = open_pruned,
};
