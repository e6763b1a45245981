/* spnet_layers.c - the layers of a .spnet file, read one at a time.
 *
 * The file is read through once for its checksum, then each layer from its
 * place in the sections. It is read, not mapped: a file that someone cuts
 * short meanwhile is then a failure and not a signal. */
#include "network/spnet.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

typedef struct {
    int fd;
    char name[SP_PATH];
    sp_spnet_header head;
    sp_spnet_layout at;
    int64_t *first;              /* [layers + 1] */
    spry_activation *activation; /* [layers] */
} spnet;

static spry_status read_at(const spnet *f, void *out, int64_t at, int64_t bytes)
{
    char *p = out;

    while (bytes > 0) {
        ssize_t n = pread(f->fd, p, (size_t)bytes, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return sp_fail_errno(SPRY_INPUT, "%s", f->name);
        if (n == 0)
            return sp_fail(SPRY_INPUT, "%s: ends too early", f->name);
        p += n;
        at += n;
        bytes -= n;
    }
    return SPRY_OK;
}

static spry_status read_part(const spnet *f, void *out, sp_spnet_section what,
                             int64_t from, int64_t count, int64_t size)
{
    return read_at(f, out, f->at.at[what] + from * size, count * size);
}

/* ---- one layer ---- */

static spry_status bad_layer(const spry_layers *s, const char *what)
{
    return sp_fail(SPRY_INPUT, "%s: %s in layer %lld",
                   ((const spnet *)s->state)->name, what, (long long)s->at + 1);
}

/* Starts as in the file become starts within the layer. */
static spry_status take_starts(spry_layers *s, int64_t outputs, int64_t all)
{
    int64_t base = s->start[0];

    if (base < 0 || s->start[outputs] > all)
        return bad_layer(s, "the edges lie outside the file");
    for (int64_t j = 0; j < outputs; j++)
        if (s->start[j] > s->start[j + 1])
            return bad_layer(s, "the edges end before they begin");
    for (int64_t j = 0; j <= outputs; j++)
        s->start[j] -= base;
    return SPRY_OK;
}

static spry_status take_edges(spry_layers *s, int64_t before)
{
    for (int64_t j = 0; j < s->layer.outputs; j++) {
        int64_t last = -1;

        if (!isfinite(s->bias[j]))
            return bad_layer(s, "a bias is not a number");
        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++) {
            int64_t u = s->from[k] - before;

            if (u < 0)
                return sp_fail(SPRY_USAGE,
                               "%s: has edges that skip layers; it cannot be "
                               "walked one layer at a time",
                               ((const spnet *)s->state)->name);
            if (u <= last || u >= s->layer.inputs)
                return bad_layer(s, "edges are out of order");
            if (!isfinite(s->weight[k]))
                return bad_layer(s, "a weight is not a number");
            s->from[k] = (int32_t)u;
            last = u;
        }
    }
    return SPRY_OK;
}

static spry_status read_edges(spry_layers *s, const spnet *f, int64_t v,
                              int64_t outputs, int64_t k)
{
    int64_t edges = s->start[outputs];
    spry_status status = sp_layers_reserve(s, outputs, edges, 0);

    if (status == SPRY_OK)
        status = read_part(f, s->from, SP_SOURCE, k, edges, sizeof *s->from);
    if (status == SPRY_OK)
        status =
            read_part(f, s->weight, SP_WEIGHT, k, edges, sizeof *s->weight);
    if (status == SPRY_OK)
        status = read_part(f, s->bias, SP_BIAS_OF, v, outputs, sizeof *s->bias);
    return status;
}

static spry_status next(spry_layers *s)
{
    const spnet *f = s->state;
    int64_t v = f->first[s->at], before = s->at ? f->first[s->at - 1] : 0;
    int64_t outputs = f->first[s->at + 1] - v, k = 0;
    spry_status status = sp_layers_reserve(s, outputs, 0, 0);

    if (status == SPRY_OK)
        status =
            read_part(f, s->start, SP_START, v, outputs + 1, sizeof *s->start);
    if (status == SPRY_OK) {
        k = s->start[0];
        status = take_starts(s, outputs, f->head.edges);
    }
    if (status == SPRY_OK)
        status = read_edges(s, f, v, outputs, k);
    if (status == SPRY_OK)
        status = take_edges(s, before);
    s->layer.activation = f->activation[s->at];
    return status;
}

static void close_spnet(void *state)
{
    spnet *f = state;

    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    sp_free(f->first);
    sp_free(f->activation);
    sp_free(f);
}

static const sp_source spnet_source = {.next = next, .close = close_spnet};

/* ---- opening ---- */

static spry_status check_sum(const spnet *f)
{
    char *chunk = sp_alloc_raw(CHUNK, 1);
    uint32_t sum = 0, right = 0;
    int64_t at = 0, end = f->at.at[SP_CHECKSUM];
    spry_status s = chunk ? SPRY_OK : sp_fail_memory(CHUNK);

    for (; s == SPRY_OK && at < end; at += CHUNK) {
        int64_t bytes = end - at < CHUNK ? end - at : CHUNK;

        s = read_at(f, chunk, at, bytes);
        if (s == SPRY_OK)
            sum = sp_spnet_sum(sum, chunk, bytes);
    }
    if (s == SPRY_OK)
        s = read_at(f, &right, end, sizeof right);
    sp_free(chunk);
    if (s == SPRY_OK && sum != right)
        s = sp_fail(SPRY_INPUT, "%s: its checksum is wrong; it is damaged",
                    f->name);
    return s;
}

static spry_status read_head(spnet *f)
{
    struct stat st;
    spry_status s = SPRY_OK;

    if (fstat(f->fd, &st) != 0)
        return sp_fail_errno(SPRY_INPUT, "%s", f->name);
    s = read_at(f, &f->head, 0, sizeof f->head);
    if (s == SPRY_OK)
        s = sp_spnet_check(&f->at, &f->head, (int64_t)st.st_size, f->name);
    return s == SPRY_OK ? check_sum(f) : s;
}

static spry_status read_shape(spnet *f)
{
    int64_t layers = f->head.layers;
    spry_status s;

    f->first = sp_alloc_raw(layers + 1, sizeof *f->first);
    f->activation = sp_alloc_raw(layers, sizeof *f->activation);
    if (!f->first || !f->activation)
        return sp_fail_memory((size_t)layers * 16);
    s = read_part(f, f->first, SP_FIRST, 0, layers + 1, sizeof *f->first);
    if (s == SPRY_OK)
        s = read_part(f, f->activation, SP_ACTIVATION, 0, layers,
                      sizeof *f->activation);
    return s;
}

static spry_status check_shape(const spnet *f)
{
    int64_t layers = f->head.layers;

    if (f->first[0] != f->head.inputs || f->first[layers] != f->head.neurons)
        return sp_fail(SPRY_INPUT, "%s: its layers are not all of its neurons",
                       f->name);
    for (int64_t l = 0; l < layers; l++)
        if (f->first[l] >= f->first[l + 1] ||
            !spry_curve_name(f->activation[l].curve) ||
            !(f->activation[l].limit >= 0))
            return sp_fail(SPRY_INPUT, "%s: layer %lld makes no sense", f->name,
                           (long long)l + 1);
    return SPRY_OK;
}

/* A layer at a time, the outputs come in the order of their numbers. */
static spry_status check_outputs(const spnet *f)
{
    int64_t count = f->head.outputs, last = f->head.neurons - count;
    int32_t *output = sp_alloc_raw(count, sizeof *output);
    spry_status s = output ? SPRY_OK : sp_fail_memory((size_t)count * 4);

    if (s == SPRY_OK)
        s = read_part(f, output, SP_OUTPUT_OF, 0, count, sizeof *output);
    for (int64_t i = 0; s == SPRY_OK && i < count; i++)
        if (output[i] != last + i)
            s = sp_fail(SPRY_USAGE,
                        "%s: its outputs are not the last layer in order; it "
                        "cannot be walked one layer at a time",
                        f->name);
    sp_free(output);
    return s;
}

spry_status sp_spnet_open(spry_layers *s, const char *path)
{
    spnet *f = s->state = sp_alloc(1, sizeof *f);
    spry_status status;

    s->source = &spnet_source;
    if (!f)
        return sp_fail_memory(sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", path);
    f->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0)
        return sp_fail_errno(SPRY_INPUT, "%s", path);
    status = read_head(f);
    if (status == SPRY_OK)
        status = read_shape(f);
    if (status == SPRY_OK)
        status = check_shape(f);
    if (status == SPRY_OK)
        status = check_outputs(f);
    s->inputs = f->head.inputs;
    s->outputs = f->head.outputs;
    s->depth = f->head.layers;
    s->edges = f->head.edges;
    s->layer.bias_on_nonzero = (int)(f->head.flags & 1);
    return status;
}

int sp_is_spnet(const char *path)
{
    char start[sizeof sp_spnet_magic];
    struct stat st;
    ssize_t n;
    int fd;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, start, sizeof start);
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)sizeof start && sp_spnet_sniff(start, sizeof start);
}
