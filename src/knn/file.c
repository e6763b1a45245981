/* file.c - a graph to bytes and back (docs/formats.md).
 *
 *   magic 8 | byte order 4 | version 4 | length 8 | count 8 | lists 8
 *   dim 4 | degree 4 | entry 4 | zero 4
 *   layers, 1 byte each, padded to 8
 *   vectors, float | bottom lists, int32 | upper lists, int32
 *   SHA-256 of all before
 *
 * Reading believes nothing: the length follows from the counts and must be
 * the file's, and every neighbour must exist on the layer it is named on. */
#include <math.h>
#include <string.h>

#include "base/sealed.h"
#include "knn/internal.h"

static const size_t LARGEST = (size_t)1 << 36;
static const sp_seal SEAL = {"spryknn\n", SP_BYTE_ORDER, 1, 0};

typedef struct {
    sp_seal seal;
    uint64_t count, uppers;
    uint32_t dim, degree, entry, zero;
} head;

/* How many bytes each part has. */
typedef struct {
    size_t layers, pad, vectors, bottom, upper;
} parts;

static parts parts_of(const head *h)
{
    size_t n = (size_t)h->count, degree = h->degree;

    return (parts){n, -n & 7, n * h->dim * sizeof(float),
                   n * 2 * degree * sizeof(int32_t),
                   (size_t)h->uppers * degree * sizeof(int32_t)};
}

static size_t length_of(const parts *p)
{
    return sizeof(head) + p->layers + p->pad + p->vectors + p->bottom +
           p->upper + SP_SHA256;
}

/* ---- writing ---- */

spry_status sp_knn_save(const sp_knn *g, const char *path)
{
    static const char zero[8];
    head h = {.seal = SEAL,
              .count = (uint64_t)g->count,
              .uppers = (uint64_t)g->uppers,
              .dim = (uint32_t)g->dim,
              .degree = (uint32_t)g->degree,
              .entry = (uint32_t)g->entry};
    parts p = parts_of(&h);
    sp_buf b = {0};

    sp_buf_bytes(&b, &h, sizeof h);
    sp_buf_bytes(&b, g->layer, p.layers);
    sp_buf_bytes(&b, zero, p.pad);
    sp_buf_bytes(&b, g->vector, p.vectors);
    sp_buf_bytes(&b, g->bottom, p.bottom);
    sp_buf_bytes(&b, g->upper, p.upper);
    return sp_sealed_write(path, &b);
}

/* ---- reading ---- */

/* Counts so small that nothing made of them overflows. */
static int modest(const head *h, size_t len)
{
    return h->count >= 1 && h->count <= INT32_MAX && h->count <= len &&
           h->uppers <= len && h->dim >= 1 && h->dim <= 1 << 16 &&
           h->degree >= 2 && h->degree <= SP_KNN_DEGREE &&
           h->entry < h->count && !h->zero;
}

static spry_status read_head(head *h, const void *data, size_t len)
{
    spry_status s = sp_sealed_open(h, sizeof *h, &SEAL, "graph", data, len);
    parts p;

    if (s != SPRY_OK)
        return s;
    if (!modest(h, len))
        return sp_fail(SPRY_INPUT, "is damaged: no graph has such counts");
    p = parts_of(h);
    if (length_of(&p) != len)
        return sp_fail(SPRY_INPUT, "has %zu bytes where %zu were expected", len,
                       length_of(&p));
    return SPRY_OK;
}

static spry_status check_layers(const sp_knn *g, const head *h)
{
    uint64_t sum = 0;
    int top = 0;

    for (int64_t i = 0; i < g->count; i++) {
        sum += g->layer[i];
        top = g->layer[i] > top ? g->layer[i] : top;
    }
    if (top >= SP_KNN_LAYERS || sum != h->uppers || g->layer[h->entry] != top)
        return sp_fail(SPRY_INPUT, "is damaged: its layers do not add up");
    return SPRY_OK;
}

/* Neighbours exist on this layer, and none follows the end. */
static int good_list(const sp_knn *g, int64_t item, int layer)
{
    const int32_t *list = sp_knn_list(g, item, layer);
    int ended = 0;

    for (int i = 0; i < sp_knn_width(g, layer); i++) {
        if (list[i] < -1 || list[i] >= g->count || (ended && list[i] >= 0))
            return 0;
        ended |= list[i] < 0;
        if (!ended && g->layer[list[i]] < layer)
            return 0;
    }
    return 1;
}

static spry_status check_graph(const sp_knn *g)
{
    for (int64_t i = 0; i < g->count * g->dim; i++)
        if (!isfinite(g->vector[i]))
            return sp_fail(SPRY_INPUT, "vector %lld is not finite",
                           (long long)(i / g->dim));
    for (int64_t i = 0; i < g->count; i++)
        for (int f = 0; f <= g->layer[i]; f++)
            if (!good_list(g, i, f))
                return sp_fail(SPRY_INPUT,
                               "item %lld has neighbours that are not there",
                               (long long)i);
    return SPRY_OK;
}

static spry_status fill(sp_knn *g, const head *h, const char *at)
{
    parts p = parts_of(h);
    spry_status s;

    memcpy(g->layer, at, p.layers);
    s = check_layers(g, h);
    if (s == SPRY_OK)
        s = sp_knn_raise(g);
    if (s != SPRY_OK)
        return s;
    g->entry = (int32_t)h->entry;
    at += p.layers + p.pad;
    memcpy(g->vector, at, p.vectors);
    at += p.vectors;
    memcpy(g->bottom, at, p.bottom);
    at += p.bottom;
    memcpy(g->upper, at, p.upper);
    return check_graph(g);
}

spry_status sp_knn_parse(sp_knn **out, const void *data, size_t len,
                         const char *path_for_errors)
{
    head h = {0};
    spry_status s = read_head(&h, data, len);

    *out = NULL;
    if (s == SPRY_OK)
        s = sp_knn_new(out, (int64_t)h.count, (int)h.dim, (int)h.degree);
    if (s == SPRY_OK)
        s = fill(*out, &h, (const char *)data + sizeof h);
    if (s == SPRY_OK)
        return SPRY_OK;
    sp_knn_free(*out);
    *out = NULL;
    return sp_fail_in(s, path_for_errors);
}

spry_status sp_knn_load(sp_knn **out, const char *path)
{
    sp_file f;
    spry_status s = sp_file_read(&f, path, LARGEST);

    *out = NULL;
    if (s == SPRY_OK)
        s = sp_knn_parse(out, f.data, f.len, path);
    sp_file_free(&f);
    return s;
}
