/* file.c - weights to bytes and back (docs/formats.md).
 *
 *   magic 8 | byte order 4 | version 4 | length 8 | card length 4 | tensors 4
 *   card, padded to 8
 *   per tensor: name 64 | rank 4 | zero 4 | dimensions 4 x 8
 *   padded to 64; values of each tensor, each padded to 64
 *   SHA-256 of all before
 *
 * Reading believes nothing: lengths are compared before they are used, and
 * what is left over is an error like what is missing. */
#include "nn/nn.h"

#include <math.h>
#include <string.h>

#include "base/sealed.h"
#include "nn/internal.h"

enum { LINE = 64 };
static const size_t LARGEST = (size_t)1 << 32;
static const sp_seal SEAL = {"spry-nn\n", SP_BYTE_ORDER, 1, 0};

typedef struct {
    sp_seal seal;
    uint32_t card, tensors;
} head;

typedef struct {
    char name[SP_NN_NAME];
    uint32_t rank, zero;
    uint64_t dim[SP_RANK]; /* 1 beyond rank */
} entry;

static size_t padded(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* ---- writing ---- */

static void pad(sp_buf *b, size_t to)
{
    static const char zero[LINE];

    sp_buf_bytes(b, zero, padded(b->len, to) - b->len);
}

static void put_entry(sp_buf *b, const sp_weights *w)
{
    entry e = {.rank = (uint32_t)w->t.shape.rank};

    memcpy(e.name, w->name, strlen(w->name));
    for (int i = 0; i < SP_RANK; i++)
        e.dim[i] = i < w->t.shape.rank ? (uint64_t)w->t.shape.dim[i] : 1;
    sp_buf_bytes(b, &e, sizeof e);
}

static void put_all(sp_buf *b, const sp_nn *n, const char *card)
{
    head h = {SEAL, (uint32_t)strlen(card), (uint32_t)n->count};

    sp_buf_bytes(b, &h, sizeof h);
    sp_buf_add(b, card);
    pad(b, 8);
    for (int i = 0; i < n->count; i++)
        put_entry(b, n->weights[i]);
    for (int i = 0; i < n->count; i++) {
        const sp_tensor *t = &n->weights[i]->t;

        pad(b, LINE);
        sp_buf_bytes(b, t->value, (size_t)t->size * sizeof *t->value);
    }
    pad(b, LINE);
}

static spry_status check_card(const char *card, size_t len)
{
    sp_json_doc doc = {0};
    spry_status s;

    if (len > SP_NN_CARD)
        return sp_fail(SPRY_INPUT, "the card is longer than %d bytes",
                       SP_NN_CARD);
    s = sp_json_parse(&doc, card, len);
    if (s == SPRY_OK && doc.value[0].kind != SP_JSON_OBJECT)
        s = sp_fail(SPRY_INPUT, "the card is no JSON object");
    sp_json_free(&doc);
    return s;
}

static int finite_values(const sp_tensor *t)
{
    for (int64_t i = 0; i < t->size; i++)
        if (!isfinite(t->value[i]))
            return 0;
    return 1;
}

static spry_status check_finite(const sp_nn *n)
{
    for (int i = 0; i < n->count; i++)
        if (!finite_values(&n->weights[i]->t))
            return sp_fail(SPRY_INPUT, "tensor %s has a number not finite",
                           n->weights[i]->name);
    return SPRY_OK;
}

spry_status sp_nn_save(const sp_nn *n, const char *card, const char *path)
{
    spry_status s = check_card(card, strlen(card));
    sp_buf b = {0};

    if (s == SPRY_OK)
        s = check_finite(n);
    if (s != SPRY_OK)
        return s;
    put_all(&b, n, card);
    return sp_sealed_write(path, &b);
}

/* ---- reading ---- */

/* Bytes that remain to be read. */
typedef struct {
    const char *at, *end;
} span;

static const void *take(span *b, size_t n)
{
    const void *p = b->at;

    if ((size_t)(b->end - b->at) < n)
        return NULL;
    b->at += n;
    return p;
}

/* The zeros that fill up to a multiple of `to` from `start` on. */
static int skip_pad(span *b, const char *start, size_t to)
{
    size_t done = (size_t)(b->at - start);
    const char *p = take(b, padded(done, to) - done);

    for (size_t i = 0; p && i < padded(done, to) - done; i++)
        if (p[i])
            return 0;
    return p != NULL;
}

static spry_status read_card(sp_nn *n, span *b, uint32_t len)
{
    const char *card = len <= SP_NN_CARD ? take(b, len) : NULL;
    spry_status s;

    if (!card)
        return sp_fail(SPRY_INPUT, "the card is too long");
    s = check_card(card, len);
    if (s != SPRY_OK)
        return s;
    n->card = sp_alloc((int64_t)len + 1, 1);
    if (!n->card)
        return sp_fail_memory(len);
    memcpy(n->card, card, len);
    return SPRY_OK;
}

/* A name ends within its field, and nothing hides behind its end. */
static int good_name(const char name[SP_NN_NAME])
{
    const char *end = memchr(name, 0, SP_NN_NAME);

    for (const char *p = end; p && p < name + SP_NN_NAME; p++)
        if (*p)
            return 0;
    return end && sp_nn_good_name(name);
}

static int good_shape(sp_shape *out, const entry *e)
{
    *out = (sp_shape){.rank = (int)e->rank};
    if (e->rank < 1 || e->rank > SP_RANK || e->zero)
        return 0;
    for (uint32_t i = 0; i < SP_RANK; i++) {
        if (i < e->rank ? e->dim[i] < 1 || e->dim[i] > INT32_MAX
                        : e->dim[i] != 1)
            return 0;
        out->dim[i] = (int64_t)e->dim[i];
    }
    return sp_shape_size(*out) > 0;
}

/* `bytes` are left for this tensor and those after it. */
static spry_status read_entry(sp_nn *n, const entry *e, size_t bytes)
{
    sp_shape shape;

    if (!good_name(e->name))
        return sp_fail(SPRY_INPUT, "tensor %d has no proper name", n->count);
    if (sp_nn_find(n, e->name))
        return sp_fail(SPRY_INPUT, "has two tensors %s", e->name);
    if (!good_shape(&shape, e))
        return sp_fail(SPRY_INPUT, "tensor %s has no proper shape", e->name);
    if ((uint64_t)sp_shape_size(shape) > bytes / sizeof(float))
        return sp_fail(SPRY_INPUT, "tensor %s is larger than the file",
                       e->name);
    return sp_nn_append(n, e->name, shape) ? SPRY_OK : SPRY_SYSTEM;
}

static spry_status read_entries(sp_nn *n, span *b, uint32_t count)
{
    spry_status s = SPRY_OK;
    size_t promised = 0;

    if (count > SP_NN_TENSORS ||
        (size_t)(b->end - b->at) / sizeof(entry) < count)
        return sp_fail(SPRY_INPUT, "has no room for %u tensors", count);
    for (uint32_t i = 0; i < count && s == SPRY_OK; i++) {
        size_t left = (size_t)(b->end - b->at);
        entry e;

        memcpy(&e, take(b, sizeof e), sizeof e);
        s = read_entry(n, &e, left > promised ? left - promised : 0);
        if (s == SPRY_OK)
            promised +=
                (size_t)n->weights[n->count - 1]->t.size * sizeof(float);
    }
    return s;
}

static spry_status read_values(sp_nn *n, span *b, const char *start)
{
    for (int i = 0; i < n->count; i++) {
        sp_weights *w = n->weights[i];
        size_t bytes = (size_t)w->t.size * sizeof(float);
        const void *values = skip_pad(b, start, LINE) ? take(b, bytes) : NULL;

        if (!values)
            return sp_fail(SPRY_INPUT, "tensor %s is not whole", w->name);
        memcpy(w->t.value, values, bytes);
    }
    if (!skip_pad(b, start, LINE) || b->at != b->end)
        return sp_fail(SPRY_INPUT, "goes on behind its last tensor");
    return check_finite(n);
}

static spry_status read_all(sp_nn *n, const char *data, size_t len)
{
    head h = {0};
    spry_status s = sp_sealed_open(&h, sizeof h, &SEAL, "model", data, len);
    span b;

    if (s != SPRY_OK)
        return s;
    b = (span){data + sizeof h, data + len - SP_SHA256};
    s = read_card(n, &b, h.card);
    if (s == SPRY_OK && !skip_pad(&b, data, 8))
        s = sp_fail(SPRY_INPUT, "has no end of its card");
    if (s == SPRY_OK)
        s = read_entries(n, &b, h.tensors);
    return s == SPRY_OK ? read_values(n, &b, data) : s;
}

spry_status sp_nn_parse(sp_nn **out, const void *data, size_t len,
                        const char *path_for_errors)
{
    spry_status s = sp_nn_new(out, 0);

    if (s != SPRY_OK)
        return s;
    (*out)->loaded = 1;
    s = read_all(*out, data, len);
    if (s == SPRY_OK)
        return SPRY_OK;
    sp_nn_free(*out);
    *out = NULL;
    return sp_fail_in(s, path_for_errors);
}

spry_status sp_nn_load(sp_nn **out, const char *path)
{
    sp_file f;
    spry_status s = sp_file_read(&f, path, LARGEST);

    *out = NULL;
    if (s == SPRY_OK)
        s = sp_nn_parse(out, f.data, f.len, path);
    sp_file_free(&f);
    return s;
}
