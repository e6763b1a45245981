/* generate.c - from "KIND,key=value" to a source of layers, or to a network
 * that is no chain. */
#include <string.h>

#include "network/internal.h"

static const sp_maker *const makers[] = {
    &sp_maker_radix,  &sp_maker_mixed,      &sp_maker_random,
    &sp_maker_pruned, &sp_maker_smallworld, &sp_maker_skip,
};
enum { MAKERS = sizeof makers / sizeof *makers };

static const sp_maker *maker_at(int i)
{
    return i >= 0 && i < MAKERS ? makers[i] : NULL;
}

const char *spry_network_generator_name(int i)
{
    return maker_at(i) ? maker_at(i)->name : NULL;
}

const char *spry_network_generator_help(int i)
{
    return maker_at(i) ? maker_at(i)->help : NULL;
}

const char *spry_network_generator_params(int i)
{
    return maker_at(i) ? maker_at(i)->params : NULL;
}

spry_status sp_generate_open(spry_layers *s, spry_network **whole,
                             const char *text)
{
    const char *name[MAKERS], *rest;
    const sp_maker *maker;
    sp_recipe recipe;
    spry_status status;
    int kind;

    *whole = NULL;
    for (int i = 0; i < MAKERS; i++)
        name[i] = makers[i]->name;
    status = sp_recipe_kind(&kind, &rest, text, "generator of networks", name,
                            MAKERS);
    if (status != SPRY_OK)
        return status;
    maker = makers[kind];
    status = sp_recipe_parse(&recipe, maker->name, maker->params, rest);
    if (status != SPRY_OK)
        return status;
    return maker->open ? maker->open(s, &recipe)
                       : maker->make(whole, &recipe, s->options.seed);
}

spry_status sp_recipe_neuron(spry_activation *a, float *bias,
                             const sp_recipe *p)
{
    const char *word = sp_recipe_text(p, "activation");
    double limit, b;
    spry_status s = sp_recipe_real(&limit, p, "limit", 0, 1e30);

    if (s == SPRY_OK)
        s = sp_recipe_real(&b, p, "bias", -1e30, 1e30);
    if (s != SPRY_OK)
        return s;
    *bias = (float)b;
    for (int c = 0; spry_curve_name((spry_curve)c); c++)
        if (strcmp(word, spry_curve_name((spry_curve)c)) == 0) {
            a->curve = (spry_curve)c;
            a->limit = a->curve == SPRY_CLAMP ? (float)limit : 0;
            return SPRY_OK;
        }
    return sp_recipe_refuse(p, "activation");
}

/* ---- chance ---- */

sp_rng sp_net_stream(uint64_t seed, int64_t layer, int64_t n)
{
    return sp_rng_seed(seed + 0x9e3779b97f4a7c15u * (uint64_t)layer +
                       0xc2b2ae3d27d4eb4fu * (uint64_t)(n + 1));
}

float sp_net_weight(sp_rng *r, int64_t fan_in)
{
    double most = sqrt(6.0 / (double)(fan_in > 0 ? fan_in : 1));
    float w = (float)((2 * sp_rng_unit(r) - 1) * most);

    return w == 0 ? (float)most : w;
}
