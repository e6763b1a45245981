/* read.c - a graph from a file or of the built-in ones. */
#include "graph/build.h"
#include "graph/onnx.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder that a file lies in, opened; -1: it cannot be. */
static int folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char name[4096];
    size_t n = slash ? (size_t)(slash - path) : 0;

    if (n >= sizeof name)
        return -1;
    memcpy(name, path, n);
    name[n] = 0;
    return open(slash ? (n ? name : "/") : ".",
                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static spry_status map_file(spry_graph *g, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    void *map;

    if (fd < 0)
        return sp_fail_errno(SPRY_INPUT, "it cannot be opened");
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        close(fd);
        return sp_fail(SPRY_INPUT, "it is empty, or no regular file");
    }
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return sp_fail_errno(SPRY_SYSTEM, "%s cannot be mapped", path);
    g->map = map;
    g->map_len = (size_t)st.st_size;
    return SPRY_OK;
}

static spry_status read_onnx(spry_graph *g, const char *path)
{
    int folder = folder_of(path);
    spry_status s = map_file(g, path);

    if (s == SPRY_OK)
        s = sp_onnx_parse(g, g->map, g->map_len, folder);
    if (folder >= 0)
        close(folder);
    return sp_fail_in(s, path);
}

static int is_shape(const spry_graph_value *v)
{
    int good = v->dims >= 0 && v->dims <= SP_GRAPH_DIMS;

    for (int i = 0; good && i < v->dims; i++)
        good = v->dim[i] >= 0 && v->dim[i] <= SP_GRAPH_ELEMENTS;
    return good;
}

spry_status spry_graph_read(spry_graph **out, const char *source,
                            const spry_graph_options *options)
{
    SP_NEED_NEW(out, source);

    spry_graph_options o = {.size = sizeof o};
    spry_graph *g;
    spry_status s = SP_TAKE_OPTIONS(&o, options);

    if (s != SPRY_OK)
        return s;
    SP_REFUSE(o.unknown < 0 || o.unknown > SP_GRAPH_ELEMENTS,
              "a dimension without a number cannot be %lld",
              (long long)o.unknown);
    for (int i = 0; i < o.inputs; i++)
        SP_REFUSE(!o.input || !is_shape(&o.input[i]),
                  "the shape of input %d makes no sense", i);
    s = sp_graph_new(&g, source);
    if (s != SPRY_OK)
        return s;
    g->given = o.input;
    g->givens = o.inputs;
    if (o.unknown)
        g->unknown = o.unknown;
    s = strncmp(source, "net:", 4) == 0 ? sp_build(g, source + 4)
                                        : read_onnx(g, source);
    g->given = NULL;
    g->givens = 0;
    if (s != SPRY_OK) {
        spry_graph_free(g);
        return s;
    }
    *out = g;
    return SPRY_OK;
}
