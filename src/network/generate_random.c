/* generate_random.c - layers in which every edge is there by chance, each
 * with the same probability. */
#include "network/internal.h"

typedef struct {
    uint64_t threshold; /* of 2^32 */
} chance;

/* Two inputs share a draw of 64 bits. */
static int64_t draw(int32_t *source, const spry_layers *s, int64_t output,
                    sp_rng *r)
{
    const chance *c = s->state;
    uint64_t bits = 0;
    int64_t count = 0;

    (void)output;
    for (int64_t i = 0; i < s->layer.inputs; i++) {
        bits = i % 2 ? bits >> 32 : sp_rng_next(r);
        source[count] = (int32_t)i;
        count += (bits & UINT32_MAX) < c->threshold;
    }
    return count;
}

/* The scratch holds one more: a source is written before it is decided. */
static spry_status next(spry_layers *s)
{
    return sp_layers_draw(s, s->inputs, s->layer.inputs + 1, draw);
}

static const sp_source random_source = {.next = next};

static spry_status open_random(spry_layers *s, const sp_recipe *p)
{
    chance *c = s->state = sp_alloc(1, sizeof *c);
    double density;
    spry_status status = sp_layers_shape(s, p);

    s->source = &random_source;
    if (status == SPRY_OK)
        status = sp_recipe_real(&density, p, "density", 0, 1);
    if (status != SPRY_OK)
        return status;
    if (!c)
        return sp_fail_memory(sizeof *c);
    c->threshold = (uint64_t)(density * 0x1p32);
    return SPRY_OK;
}

const sp_maker sp_maker_random = {
    .name = "random",
    .help = "every edge between two layers is there with the same chance",
    .params = "width=1024 depth=4 density=0.05" SP_RECIPE_NEURON,
    .open = open_random,
};
