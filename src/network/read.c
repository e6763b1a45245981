/* read.c - from a path to layers or to a network. */
#include "spry/network.h"

#include <string.h>

#include "network/internal.h"

/* The caller's options as far as its struct reaches, defaults behind. */
static spry_network_options full_options(const spry_network_options *given)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;

    if (given)
        memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
    return o;
}

/* Layers, or the whole network when what is there is no chain. */
static spry_status open_path(spry_layers *s, spry_network **whole,
                             const char *path)
{
    if (strncmp(path, "gen:", 4) == 0)
        return sp_generate_open(s, whole, path + 4);
    return sp_fail(SPRY_INPUT, "%s: is no network that spry reads", path);
}

static spry_status open_either(spry_layers **out, spry_network **whole,
                               const char *path,
                               const spry_network_options *options)
{
    spry_layers *s = sp_alloc(1, sizeof *s);
    spry_status status;

    *out = NULL;
    *whole = NULL;
    if (!s)
        return sp_fail_memory(sizeof *s);
    s->options = full_options(options);
    s->edges = -1;
    s->layer.activation = s->options.activation;
    status = open_path(s, whole, path);
    if (status == SPRY_OK && !*whole) {
        if (s->options.depth > 0 && s->options.depth < s->depth)
            s->depth = s->options.depth;
        *out = s;
        return SPRY_OK;
    }
    spry_layers_close(s);
    return status;
}

spry_status spry_layers_open(spry_layers **out, const char *path,
                             const spry_network_options *options)
{
    spry_network *whole;
    spry_status s = open_either(out, &whole, path, options);

    if (!whole)
        return s;
    spry_network_free(whole);
    return sp_fail(SPRY_USAGE,
                   "%s: has edges that skip layers; it cannot be walked one "
                   "layer at a time",
                   path);
}

spry_status spry_network_read(spry_network **out, const char *path,
                              const spry_network_options *options)
{
    spry_layers *layers;
    spry_status s = open_either(&layers, out, path, options);

    if (s == SPRY_OK && layers)
        s = spry_layers_gather(out, layers);
    spry_layers_close(layers);
    return s;
}
