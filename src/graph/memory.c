/* memory.c - memory that is freed together with its graph. */
#include "graph/internal.h"

#include <string.h>

enum { BLOCK = 1 << 16, ALIGN = 64 };

struct sp_block {
    sp_block *before;
    char room[ALIGN - sizeof(void *)]; /* so that data begins aligned */
    char data[];
};

static void *new_block(sp_pool *p, size_t bytes)
{
    sp_block *b = sp_alloc(1, sizeof *b + bytes);

    if (!b)
        return NULL;
    b->before = p->last;
    p->last = b;
    return b->data;
}

void *sp_pool_get(sp_pool *p, int64_t count, size_t size)
{
    size_t bytes;
    char *at;

    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN + (bytes == 0 ? ALIGN : 0);
    if (bytes > BLOCK / 4) { /* its own, behind the one in use */
        sp_block *open = p->last;
        void *data = new_block(p, bytes);

        if (data && open) {
            p->last->before = open->before;
            open->before = p->last;
            p->last = open;
        } else if (data)
            p->used = BLOCK;
        return data;
    }
    if (!p->last || p->used + bytes > BLOCK) {
        if (!new_block(p, BLOCK))
            return NULL;
        p->used = 0;
    }
    at = p->last->data + p->used;
    p->used += bytes;
    return at;
}

char *sp_pool_text(sp_pool *p, const char *text, size_t len)
{
    char *copy = sp_pool_get(p, (int64_t)len + 1, 1);

    if (copy && len)
        memcpy(copy, text, len);
    return copy;
}

void sp_pool_free(sp_pool *p)
{
    while (p->last) {
        sp_block *b = p->last;

        p->last = b->before;
        sp_free(b);
    }
}
