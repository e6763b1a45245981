/* read.c - from a path to layers or to a network. */
#include "spry/network.h"

#include <string.h>

#include "network/read.h"

/* What a folder can be, most telling first; the last takes any. */
static const struct {
    int (*sniff)(const sp_folder *f);
    spry_status (*open)(spry_layers *s, sp_folder *f, const char *path);
} folders[] = {{sp_challenge_sniff, sp_challenge_open}, {NULL, sp_files_open}};

/* The same for files; `read` uses the file up. */
static const struct {
    int (*sniff)(const char *data, size_t len);
    spry_status (*read)(spry_network **out, sp_file *file, const char *name,
                        const spry_network_options *options);
} files[] = {{sp_spnet_sniff, sp_spnet_read}, {NULL, sp_dag_read}};

static spry_status open_folder(spry_layers *s, const char *path)
{
    sp_folder f;
    spry_status status = sp_folder_read(&f, path);
    int i = 0;

    if (status != SPRY_OK)
        return status;
    while (folders[i].sniff && !folders[i].sniff(&f))
        i++;
    status = folders[i].open(s, &f, path);
    sp_folder_free(&f);
    return status;
}

/* Any text may be a list of edges; of such a name it is a mistake. */
static int is_called_spnet(const char *path)
{
    static const char ending[] = ".spnet";
    size_t n = strlen(path);

    return n >= sizeof ending &&
           strcmp(path + n - (sizeof ending - 1), ending) == 0;
}

static spry_status read_file(spry_network **whole, const char *path,
                             const spry_network_options *options)
{
    sp_file f;
    spry_status status = sp_file_read(&f, path, SIZE_MAX);
    int i = 0;

    if (status != SPRY_OK)
        return status;
    while (files[i].sniff && !files[i].sniff(f.data, f.len))
        i++;
    if (!files[i].sniff && is_called_spnet(path)) {
        sp_file_free(&f);
        return sp_fail(SPRY_INPUT,
                       "%s: is no network of spry, as its name "
                       "says",
                       path);
    }
    return files[i].read(whole, &f, path, options);
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

static spry_status new_layers(spry_layers **out,
                              const spry_network_options *options)
{
    spry_network_options o = SPRY_NETWORK_DEFAULTS;
    spry_status s = SP_TAKE_OPTIONS(&o, options);

    if (s != SPRY_OK)
        return s;
    *out = sp_alloc(1, sizeof **out);
    if (!*out)
        return sp_fail_memory(sizeof **out);
    (*out)->options = o;
    (*out)->edges = -1;
    (*out)->layer.activation = o.activation;
    return SPRY_OK;
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
    SP_NEED_NEW(out, path);

    spry_layers *s = NULL;
    spry_network *whole = NULL;
    spry_status status = new_layers(&s, options);

    if (status != SPRY_OK)
        return status;
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
    SP_NEED_NEW(out, path);

    spry_layers *s = NULL;
    spry_network *whole = NULL;
    spry_status status = new_layers(&s, options);

    if (status != SPRY_OK)
        return status;
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
