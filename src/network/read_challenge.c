/* read_challenge.c - a Graph Challenge folder, n1024-l1.tsv, n1024-l2.tsv...,
 * one file after the other.
 *
 * The width is in the names, the bias follows from it; all files from the
 * first layer to the last must be there. Each may be packed (.tsv.gz). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "network/read.h"

enum { CLAMP_AT = 32 };

typedef struct {
    char path[SP_PATH];
    int64_t width;
    float bias;
} challenge;

int sp_challenge_name(const char *name, int64_t *width, int64_t *layer)
{
    const char *end = name + strlen(name);

    return *name++ == 'n' && sp_scan_int(&name, end, width) &&
           strncmp(name, "-l", 2) == 0 && (name += 2, 1) &&
           sp_scan_int(&name, end, layer) && *width > 0 && *layer > 0 &&
           (strcmp(name, ".tsv") == 0 || strcmp(name, ".tsv.gz") == 0);
}

int sp_challenge_sniff(const sp_folder *f)
{
    int64_t width, layer;

    for (int64_t i = 0; i < f->count; i++)
        if (sp_challenge_name(f->name[i], &width, &layer))
            return 1;
    return 0;
}

/* The path of the file, with .gz when only that is there. */
static spry_status path_of(char out[SP_PATH], const challenge *c, int64_t layer)
{
    static const char *const ending[] = {"", ".gz"};
    char name[64];
    spry_status s = SPRY_OK;

    for (int i = 0; s == SPRY_OK && i < 2; i++) {
        snprintf(name, sizeof name, "n%lld-l%lld.tsv%s", (long long)c->width,
                 (long long)layer, ending[i]);
        s = sp_path_join(out, c->path, name);
        if (s == SPRY_OK && access(out, F_OK) == 0)
            break;
    }
    return s;
}

static spry_status next(spry_layers *s)
{
    const challenge *c = s->state;
    sp_edge_list list = {.inputs = c->width, .outputs = c->width, .base = 1};
    char path[SP_PATH];
    spry_matrix *m = NULL;
    sp_file f = {0};
    spry_status status = path_of(path, c, s->at + 1);

    if (status == SPRY_OK)
        status = sp_file_read(&f, path, SIZE_MAX);
    if (status == SPRY_OK)
        status = sp_edge_list_parse(
            &m, &(sp_text){path, f.data, f.data + f.len}, &list);
    sp_file_free(&f);
    if (status == SPRY_OK)
        status = sp_layers_take(s, m, c->bias, path);
    spry_matrix_free(m);
    return status;
}

static const sp_source challenge_source = {.next = next};

/* The one width, and the last layer. */
static spry_status read_names(challenge *c, int64_t *depth, const sp_folder *f)
{
    int64_t width, layer;

    for (int64_t i = 0; i < f->count; i++) {
        if (!sp_challenge_name(f->name[i], &width, &layer))
            continue;
        if (c->width && c->width != width)
            return sp_fail(SPRY_INPUT,
                           "%s: holds networks of several widths, %lld and "
                           "%lld",
                           c->path, (long long)c->width, (long long)width);
        c->width = width;
        *depth = layer > *depth ? layer : *depth;
    }
    if (c->width > INT32_MAX)
        return sp_fail(SPRY_INPUT, "%s: %lld neurons are too many", c->path,
                       (long long)c->width);
    return SPRY_OK;
}

/* A name may say any width; neurons take memory, so the file must be large. */
static spry_status check_width(const challenge *c, const char *path)
{
    struct stat st;
    int64_t bytes = stat(path, &st) == 0 ? (int64_t)st.st_size : 0;

    if (sp_ends_in(path, ".tsv.gz") && bytes > 0)
        bytes = (int64_t)sp_unpack_limit((size_t)bytes);
    if (c->width <= sp_most_rows_of(bytes))
        return SPRY_OK;
    return sp_fail(SPRY_INPUT,
                   "%s: %lld neurons are too many for a file of this size",
                   path, (long long)c->width);
}

/* Every file must be there before the first is read. */
static spry_status check_files(const challenge *c, int64_t depth)
{
    char path[SP_PATH];

    for (int64_t l = 1; l <= depth; l++) {
        spry_status s = path_of(path, c, l);

        if (s != SPRY_OK)
            return s;
        if (access(path, F_OK) != 0) {
            path[strlen(path) - 3] = 0; /* .gz */
            return sp_fail(SPRY_INPUT, "%s: is missing, of %lld layers", path,
                           (long long)depth);
        }
        s = check_width(c, path);
        if (s != SPRY_OK)
            return s;
    }
    return SPRY_OK;
}

/* All networks of the Challenge have one activation, and those of its widths
 * their bias: options that say another would be ignored. */
static spry_status check_options(const challenge *c,
                                 const spry_network_options *o)
{
    float bias = spry_challenge_bias(c->width);
    int clamped = o->activation.curve == SPRY_CLAMP &&
                  o->activation.limit == (float)CLAMP_AT;

    if (o->activation.curve != SPRY_RELU && !clamped)
        return sp_fail(SPRY_USAGE,
                       "%s: layers of the Graph Challenge end in clamp at %d; "
                       "another activation does not go with them",
                       c->path, CLAMP_AT);
    if (bias != 0 && o->bias != 0 && o->bias != bias)
        return sp_fail(SPRY_USAGE,
                       "%s: neurons of the Graph Challenge have a bias of %g, "
                       "by their width; another does not go with them",
                       c->path, (double)bias);
    return SPRY_OK;
}

spry_status sp_challenge_open(spry_layers *s, sp_folder *f, const char *path)
{
    challenge *c = s->state = sp_alloc(1, sizeof *c);
    spry_status status;

    s->source = &challenge_source;
    if (!c)
        return sp_fail_memory(sizeof *c);
    if (strlen(path) >= sizeof c->path)
        return sp_fail(SPRY_USAGE, "the path %.200s... is too long", path);
    memcpy(c->path, path, strlen(path) + 1);
    status = read_names(c, &s->depth, f);
    if (s->options.depth > 0)
        s->depth = s->options.depth;
    if (status == SPRY_OK)
        status = check_options(c, &s->options);
    if (status == SPRY_OK)
        status = check_files(c, s->depth);
    c->bias = spry_challenge_bias(c->width);
    if (c->bias == 0)
        c->bias = s->options.bias;
    s->inputs = s->outputs = c->width;
    s->layer.activation = (spry_activation){SPRY_CLAMP, CLAMP_AT};
    s->layer.bias_on_nonzero = 1;
    return status;
}
