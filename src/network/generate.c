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

static void unknown_maker(const char *name, size_t len)
{
    char list[256] = "";
    size_t used = 0;

    for (int i = 0; i < MAKERS && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i ? ", " : "", makers[i]->name);
    sp_fail(SPRY_USAGE, "no generator of networks '%.*s'; there are %s",
            (int)(len < 40 ? len : 40), name, list);
}

/* The maker named first; *rest is the text behind it. NULL and a sentence
 * when there is none. */
static const sp_maker *find_maker(const char **rest, const char *spec)
{
    const char *name = spec + strspn(spec, " \t\n");
    size_t len = strcspn(name, " \t\n,");

    *rest = name + len;
    for (int i = 0; i < MAKERS; i++)
        if (strlen(makers[i]->name) == len &&
            memcmp(makers[i]->name, name, len) == 0)
            return makers[i];
    unknown_maker(name, len);
    return NULL;
}

spry_status sp_generate_open(spry_layers *s, spry_network **whole,
                             const char *text)
{
    const char *rest;
    const sp_maker *maker = find_maker(&rest, text);
    sp_spec spec;
    spry_status status;

    *whole = NULL;
    if (!maker)
        return SPRY_USAGE;
    status = sp_spec_parse(&spec, maker->name, maker->params, rest);
    if (status != SPRY_OK)
        return status;
    return maker->open ? maker->open(s, &spec)
                       : maker->make(whole, &spec, s->options.seed);
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
