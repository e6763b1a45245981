/* file.c - a graph to bytes and back (docs/formats.md).
 *
 *   magic 8 | byte order 4 | version 4 | length 8 | count 8 | lists 8
 *   dim 4 | degree 4 | entry 4 | zero 4
 *   floors, 1 byte each, padded to 8
 *   vectors, float | ground lists, int32 | upper lists, int32
 *   SHA-256 of all before
 *
 * Reading believes nothing: the length follows from the counts and must be
 * the file's, and every neighbour must exist on the floor it is named on. */
#include <math.h>
#include <string.h>

#include "knn/internal.h"

#define MAGIC "spryknn\n"
enum { VERSION = 1, BYTE_ORDER_MARK = 0x01020304 };
static const size_t LARGEST = (size_t)1 << 36;

typedef struct {
    char magic[8];
    uint32_t byte_order, version;
    uint64_t length; /* of the whole file */
    uint64_t count, uppers;
    uint32_t dim, degree, entry, zero;
} head;

/* How many bytes each part has. */
typedef struct {
    size_t floors, pad, vectors, ground, upper;
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
    return sizeof(head) + p->floors + p->pad + p->vectors + p->ground +
           p->upper + SP_SHA256;
}

/* ---- writing ---- */

spry_status sp_knn_save(const sp_knn *g, const char *path)
{
    static const char zero[8];
    head h = {.magic = MAGIC, /* without its end */
              .byte_order = BYTE_ORDER_MARK,
              .version = VERSION,
              .count = (uint64_t)g->count,
              .uppers = (uint64_t)g->uppers,
              .dim = (uint32_t)g->dim,
              .degree = (uint32_t)g->degree,
              .entry = (uint32_t)g->entry};
    parts p = parts_of(&h);
    uint8_t sum[SP_SHA256];
    sp_buf b = {0};
    spry_status s;

    h.length = length_of(&p);
    sp_buf_bytes(&b, &h, sizeof h);
    sp_buf_bytes(&b, g->floor, p.floors);
    sp_buf_bytes(&b, zero, p.pad);
    sp_buf_bytes(&b, g->vector, p.vectors);
    sp_buf_bytes(&b, g->ground, p.ground);
    sp_buf_bytes(&b, g->upper, p.upper);
    if (!b.failed)
        sp_sha256(sum, b.data, b.len);
    sp_buf_bytes(&b, sum, sizeof sum);
    s = b.failed ? sp_fail_memory(h.length)
                 : sp_file_write(path, b.data, b.len);
    sp_buf_free(&b);
    return s;
}

/* ---- reading ---- */

static spry_status check_sum(const char *data, size_t len)
{
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    uint8_t sum[SP_SHA256];

    sp_sha256(sum, data, len - sizeof sum);
    if (memcmp(sum, data + len - sizeof sum, sizeof sum) != 0)
        return sp_fail(SPRY_INPUT, "is damaged: its checksum does not match");
#else
    (void)data;
    (void)len;
#endif
    return SPRY_OK;
}

/* Counts so small that nothing made of them overflows. */
static int modest(const head *h, size_t len)
{
    return h->count >= 1 && h->count <= INT32_MAX && h->count <= len &&
           h->uppers <= len && h->dim >= 1 && h->dim <= 1 << 16 &&
           h->degree >= 2 && h->degree <= SP_KNN_DEGREE &&
           h->entry < h->count && !h->zero;
}

static spry_status check_head(head *h, const char *data, size_t len)
{
    parts p;

    if (len < sizeof *h + SP_SHA256 ||
        memcmp(data, MAGIC, sizeof h->magic) != 0)
        return sp_fail(SPRY_INPUT, "is not a graph of spry");
    memcpy(h, data, sizeof *h);
    if (h->byte_order == __builtin_bswap32(BYTE_ORDER_MARK))
        return sp_fail(SPRY_INPUT,
                       "was written by a machine of the other byte order");
    if (h->byte_order != BYTE_ORDER_MARK)
        return sp_fail(SPRY_INPUT, "is damaged: no byte order is known");
    if (h->version != VERSION)
        return sp_fail(SPRY_INPUT, "has version %u; this spry reads %d",
                       h->version, (int)VERSION);
    if (!modest(h, len))
        return sp_fail(SPRY_INPUT, "is damaged: no graph has such counts");
    p = parts_of(h);
    if (h->length != len || length_of(&p) != len)
        return sp_fail(SPRY_INPUT, "has %zu bytes where %zu were expected", len,
                       length_of(&p));
    return check_sum(data, len);
}

static spry_status check_floors(const sp_knn *g, const head *h)
{
    uint64_t sum = 0;
    int top = 0;

    for (int64_t i = 0; i < g->count; i++) {
        sum += g->floor[i];
        top = g->floor[i] > top ? g->floor[i] : top;
    }
    if (top >= SP_KNN_FLOORS || sum != h->uppers || g->floor[h->entry] != top)
        return sp_fail(SPRY_INPUT, "is damaged: its floors do not add up");
    return SPRY_OK;
}

/* Neighbours exist on this floor, and none follows the end. */
static int good_list(const sp_knn *g, int64_t item, int floor)
{
    const int32_t *list = sp_knn_list(g, item, floor);
    int ended = 0;

    for (int i = 0; i < sp_knn_width(g, floor); i++) {
        if (list[i] < -1 || list[i] >= g->count || (ended && list[i] >= 0))
            return 0;
        ended |= list[i] < 0;
        if (!ended && g->floor[list[i]] < floor)
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
        for (int f = 0; f <= g->floor[i]; f++)
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

    memcpy(g->floor, at, p.floors);
    s = check_floors(g, h);
    if (s == SPRY_OK)
        s = sp_knn_raise(g);
    if (s != SPRY_OK)
        return s;
    g->entry = (int32_t)h->entry;
    at += p.floors + p.pad;
    memcpy(g->vector, at, p.vectors);
    at += p.vectors;
    memcpy(g->ground, at, p.ground);
    at += p.ground;
    memcpy(g->upper, at, p.upper);
    return check_graph(g);
}

spry_status sp_knn_parse(sp_knn **out, const void *data, size_t len,
                         const char *path_for_errors)
{
    head h = {0};
    spry_status s = check_head(&h, data, len);

    *out = NULL;
    if (s == SPRY_OK)
        s = sp_knn_new(out, (int64_t)h.count, (int)h.dim, (int)h.degree);
    if (s == SPRY_OK)
        s = fill(*out, &h, (const char *)data + sizeof h);
    if (s == SPRY_OK)
        return SPRY_OK;
    sp_knn_free(*out);
    *out = NULL;
    return s == SPRY_INPUT
               ? sp_fail(s, "%s: %s", path_for_errors, spry_message())
               : s;
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
