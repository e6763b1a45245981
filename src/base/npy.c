/* npy.c - the header of NumPy's .npy files, a Python dictionary with three
 * keys behind eight bytes of magic and its own length. */
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

void sp_npy_write(char out[SP_NPY_HEAD], const char *type, int dims,
                  const int64_t *shape)
{
    char text[SP_NPY_HEAD], tuple[64] = "()";
    int n;

    if (dims == 1)
        snprintf(tuple, sizeof tuple, "(%lld,)", (long long)shape[0]);
    else if (dims == 2)
        snprintf(tuple, sizeof tuple, "(%lld, %lld)", (long long)shape[0],
                 (long long)shape[1]);
    n = snprintf(text, sizeof text,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type,
                 tuple);
    memset(out, ' ', SP_NPY_HEAD);
    memcpy(out, magic, 6);
    out[6] = 1;
    out[7] = 0;
    out[8] = SP_NPY_HEAD - 10;
    out[9] = 0;
    memcpy(out + 10, text, (size_t)n);
    out[SP_NPY_HEAD - 1] = '\n';
}
