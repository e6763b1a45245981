/* npy.c - NumPy's .npy files: a header, a Python dictionary with three keys
 * behind eight bytes of magic and its own length, and then the elements. */
#include "base/npy.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

static const char magic[] = "\x93NUMPY";

/* The length of the text: little-endian, in 2 bytes or 4. */
static size_t text_length(const char *data)
{
    const unsigned char *p = (const unsigned char *)data + 8;
    size_t low = p[0] | (size_t)p[1] << 8;

    return data[6] == 1 ? low : low | (size_t)p[2] << 16 | (size_t)p[3] << 24;
}

size_t sp_npy_length(const char *data)
{
    size_t text;

    if (memcmp(data, magic, 6) != 0 || data[6] < 1 || data[6] > 3)
        return 0;
    text = text_length(data);
    return text <= SP_NPY_LIMIT ? 8 + (data[6] == 1 ? 2 : 4) + text : 0;
}

/* Where the value of 'key' begins, or NULL. */
static const char *find_key(const char *at, const char *end, const char *key)
{
    size_t n = strlen(key);

    for (; (size_t)(end - at) > n; at++)
        if (memcmp(at, key, n) == 0) {
            at += n;
            while (at < end && *at == ' ')
                at++;
            return at;
        }
    return NULL;
}

/* "'<f8'": byte order, kind, size. */
static int parse_type(sp_npy *a, const char *at, const char *end)
{
    int64_t size;

    if (!at || end - at < 4 || *at != '\'' || !memchr("<>|=", at[1], 4))
        return 0;
    a->swap = at[1] == '>';
    a->kind = at[2];
    a->size = 1;
    if (a->kind == 'O')
        return 1;
    at += 3;
    if (!sp_scan_int(&at, end, &size) || size < 1 || size > 4096)
        return 0;
    a->size = (int)(a->kind == 'U' ? 4 * size : size);
    return at < end && *at == '\'';
}

/* "(3, 4)", "(3,)" or "()". */
static int parse_shape(sp_npy *a, const char *at, const char *end)
{
    a->dims = 0;
    a->count = 1;
    if (!at || at == end || *at++ != '(')
        return 0;
    for (;;) {
        while (at < end && (*at == ' ' || *at == ','))
            at++;
        if (at < end && *at == ')')
            return 1;
        if (a->dims == SP_NPY_DIMS ||
            !sp_scan_int(&at, end, &a->shape[a->dims]) ||
            a->shape[a->dims] < 0 ||
            __builtin_mul_overflow(a->count, a->shape[a->dims], &a->count))
            return 0;
        a->dims++;
    }
}

static int parse_order(sp_npy *a, const char *at, const char *end)
{
    if (!at || end - at < 5)
        return 0;
    a->columns_first = memcmp(at, "True", 4) == 0;
    return a->columns_first || memcmp(at, "False", 5) == 0;
}

int sp_npy_parse(sp_npy *out, const char *data)
{
    const char *end = data + sp_npy_length(data);

    *out = (sp_npy){.count = 0};
    return parse_type(out, find_key(data, end, "'descr':"), end) &&
           parse_order(out, find_key(data, end, "'fortran_order':"), end) &&
           parse_shape(out, find_key(data, end, "'shape':"), end);
}

/* ---- elements ---- */

const char *sp_npy_open(sp_npy *out, const char *data, size_t len)
{
    size_t head = len > SP_NPY_BEGIN ? sp_npy_length(data) : 0;

    if (head == 0 || head > len || !sp_npy_parse(out, data) ||
        out->count > (int64_t)(len - head) / out->size)
        return NULL;
    return data + head;
}

const char *sp_npy_refused(const sp_npy *a)
{
    if (a->kind == 'O')
        return "holds Python objects, which are never read";
    if (a->kind == 'c')
        return "holds complex values, which are not read";
    if (a->kind == 'S' || a->kind == 'U')
        return NULL;
    if (a->kind == 'f')
        return a->size == 4 || a->size == 8
                   ? NULL
                   : "holds neither 32-bit nor 64-bit reals";
    if (strchr("iub", a->kind) && a->kind)
        return a->size <= 8 ? NULL : "is damaged";
    return "holds a type that is not read";
}

/* The bits of element k, first byte lowest. */
static uint64_t bits_of(const sp_npy *a, const char *at, int64_t k)
{
    const unsigned char *p = (const unsigned char *)at + k * a->size;
    uint64_t v = 0;

    if (a->swap)
        for (int i = 0; i < a->size; i++)
            v = v << 8 | p[i];
    else
        for (int i = a->size; i-- > 0;)
            v = v << 8 | p[i];
    return v;
}

int64_t sp_npy_int(const sp_npy *a, const char *at, int64_t k)
{
    int unused = 64 - 8 * a->size;
    uint64_t v = bits_of(a, at, k) << unused;

    return a->kind == 'i' ? (int64_t)v >> unused : (int64_t)(v >> unused);
}

double sp_npy_real(const sp_npy *a, const char *at, int64_t k)
{
    uint64_t bits = bits_of(a, at, k);
    uint32_t low = (uint32_t)bits;
    double wide;
    float narrow;

    if (a->kind != 'f')
        return a->kind == 'u' ? (double)bits : (double)sp_npy_int(a, at, k);
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    return a->size == 4 ? (double)narrow : wide;
}

void sp_npy_write(char out[SP_NPY_HEAD], const char *type, int dims,
                  const int64_t *shape)
{
    char text[SP_NPY_HEAD - 10], tuple[60] = "";
    int n = 0;

    for (int i = 0; i < dims && n < (int)sizeof tuple; i++)
        n += snprintf(tuple + n, sizeof tuple - (size_t)n, "%s%lld",
                      i ? ", " : "", (long long)shape[i]);
    n = snprintf(text, sizeof text,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }",
                 type, tuple, dims == 1 ? "," : "");
    memset(out, ' ', SP_NPY_HEAD);
    memcpy(out, magic, 6);
    out[6] = 1;
    out[7] = 0;
    out[8] = SP_NPY_HEAD - 10;
    out[9] = 0;
    memcpy(out + 10, text, (size_t)n);
    out[SP_NPY_HEAD - 1] = '\n';
}

spry_status sp_npy_save(const char *path, const char *type, int dims,
                        const int64_t *shape, const void *data, size_t bytes)
{
    char head[SP_NPY_HEAD];
    sp_writer w;
    spry_status s = sp_writer_open(&w, path);

    if (s != SPRY_OK)
        return s;
    sp_npy_write(head, type, dims, shape);
    fwrite(head, 1, sizeof head, w.f);
    if (bytes > 0)
        fwrite(data, 1, bytes, w.f); /* ferror tells on closing */
    return sp_writer_close(&w, 1);
}
