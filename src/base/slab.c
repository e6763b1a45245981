/* slab.c - many arrays that are freed together. */
#include "base/slab.h"

#include <pthread.h>

#include "base/base.h"

enum { LINE = 64, BLOCK = 8 << 20 };

typedef struct slab_block slab_block;
struct slab_block {
    slab_block *before;
    char room[LINE - sizeof(void *)]; /* so that data begins on a line */
    char data[];
};

struct sp_slab {
    pthread_mutex_t lock;
    slab_block *last;
    size_t used, size; /* bytes of the last block */
};

sp_slab *sp_slab_open(void)
{
    sp_slab *s = sp_alloc(1, sizeof *s);

    if (s)
        pthread_mutex_init(&s->lock, NULL);
    return s;
}

static int add_block(sp_slab *s, size_t least)
{
    size_t size = least > BLOCK ? least : BLOCK;
    slab_block *b = sp_alloc_raw(1, sizeof *b + size);

    if (!b)
        return 0;
    b->before = s->last;
    s->last = b;
    s->size = size;
    s->used = 0;
    return 1;
}

void *sp_slab_get(sp_slab *s, int64_t count, size_t size)
{
    size_t bytes;
    void *at = NULL;

    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + LINE) / LINE * LINE; /* never zero, whole lines */
    pthread_mutex_lock(&s->lock);
    if ((s->last && bytes <= s->size - s->used) || add_block(s, bytes)) {
        at = s->last->data + s->used;
        s->used += bytes;
    }
    pthread_mutex_unlock(&s->lock);
    return at;
}

void sp_slab_free(sp_slab *s)
{
    if (!s)
        return;
    while (s->last) {
        slab_block *b = s->last;

        s->last = b->before;
        sp_free(b);
    }
    pthread_mutex_destroy(&s->lock);
    sp_free(s);
}
