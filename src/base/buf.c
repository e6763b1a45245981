/* buf.c - text that grows. */
#include "base/base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Make room for n more bytes and the zero. */
static int reserve(sp_buf *b, size_t n)
{
    size_t cap = b->cap ? b->cap : 256;
    char *p;

    if (b->failed)
        return 0;
    if (b->data && b->cap - b->len > n)
        return 1;
    while (cap - b->len <= n && cap < SIZE_MAX / 2)
        cap *= 2;
    p = cap - b->len > n ? realloc(b->data, cap) : NULL;
    if (!p) {
        b->failed = 1;
        return 0;
    }
    b->data = p;
    b->cap = cap;
    return 1;
}

void sp_buf_bytes(sp_buf *b, const void *data, size_t n)
{
    if (!reserve(b, n))
        return;
    if (n)
        memcpy(b->data + b->len, data, n);
    b->len += n;
    b->data[b->len] = 0;
}

void sp_buf_add(sp_buf *b, const char *text)
{
    sp_buf_bytes(b, text, strlen(text));
}

void sp_buf_printf(sp_buf *b, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0 || !reserve(b, (size_t)n))
        return;
    va_start(args, fmt);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, args);
    va_end(args);
    b->len += (size_t)n;
}

void sp_buf_free(sp_buf *b)
{
    free(b->data);
    *b = (sp_buf){0};
}

char *sp_buf_steal(sp_buf *b)
{
    char *text = NULL;

    if (!b->failed) {
        sp_buf_add(b, "");
        text = b->failed ? NULL : b->data;
    }
    if (!text)
        free(b->data);
    *b = (sp_buf){0};
    return text;
}
