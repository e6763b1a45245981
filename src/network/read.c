/* read.c - from a path to layers or to a network. */
#include "spry/network.h"

#include <string.h>

#include "network/read.h"

/* The caller's options as far as its struct reaches, defaults behind. */
static spry_network_options full_options(const spry_network_options *given)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;

    if (given)
        memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
    return o;
}

static spry_status open_folder(spry_layers *s, const char *path)
{
    sp_folder f;
    spry_status status = sp_folder_read(&f, path);

    if (status != SPRY_OK)
        return status;
    status = sp_challenge_sniff(&f) ? sp_challenge_open(s, &f, path)
                                    : sp_files_open(s, &f, path);
    sp_folder_free(&f);
    return status;
}

static spry_status read_file(spry_network **whole, const char *path,
                             const spry_network_options *options)
{
    sp_file f;
    spry_status status = sp_file_read(&f, path, SIZE_MAX);

    if (status != SPRY_OK)
        return status;
    if (sp_spnet_sniff(f.data, f.len))
        return sp_spnet_parse(whole, &f, path);
    status =
        sp_dag_parse(whole, &(sp_text){path, f.data, f.data + f.len}, options);
    sp_file_free(&f);
    return status;
}

/* Layers, or the whole network when that is what there is. */
static spry_status open_path(spry_layers *s, spry_network **whole,
                             const char *path)
{
    if (strncmp(path, "gen:", 4) == 0)
        return sp_generate_open(s, whole, path + 4);
    if (sp_is_folder(path))
        return open_folder(s, path);
    return read_file(whole, path, &s->options);
}

static spry_layers *new_layers(const spry_network_options *options)
{
    spry_layers *s = sp_alloc(1, sizeof *s);

    if (!s) {
        sp_fail_memory(sizeof *s);
        return NULL;
    }
    s->options = full_options(options);
    s->edges = -1;
    s->layer.activation = s->options.activation;
    return s;
}

/* As deep as the options ask for, if it is that deep. */
static void limit_depth(spry_layers *s)
{
    if (s->options.depth < 1 || s->options.depth >= s->depth)
        return;
    s->depth = s->options.depth;
    s->outputs = 0;
    s->edges = -1;
}

spry_status spry_layers_open(spry_layers **out, const char *path,
                             const spry_network_options *options)
{
    spry_layers *s = new_layers(options);
    spry_network *whole = NULL;
    spry_status status;

    *out = NULL;
    if (!s)
        return SPRY_SYSTEM;
    status =
        sp_is_spnet(path) ? sp_spnet_open(s, path) : open_path(s, &whole, path);
    if (status == SPRY_OK && whole)
        status = sp_layers_hold(s, whole);
    if (status == SPRY_OK) {
        limit_depth(s);
        *out = s;
        return SPRY_OK;
    }
    spry_layers_close(s);
    return status;
}

spry_status spry_network_read(spry_network **out, const char *path,
                              const spry_network_options *options)
{
    spry_layers *s = new_layers(options);
    spry_network *whole = NULL;
    spry_status status;

    *out = NULL;
    if (!s)
        return SPRY_SYSTEM;
    status = open_path(s, &whole, path);
    if (status == SPRY_OK && whole && s->options.depth < 1) {
        *out = whole;
    } else if (status == SPRY_OK) {
        if (whole)
            status = sp_layers_hold(s, whole);
        limit_depth(s);
        if (status == SPRY_OK)
            status = spry_layers_gather(out, s);
    }
    spry_layers_close(s);
    return status;
}
