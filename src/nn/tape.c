/* tape.c - the memory of one pass, and the way back.
 *
 * Tensors and notes are cut from blocks that the next pass uses again, so
 * learning allocates nothing once it has seen its largest pass. Notes form a
 * list, the newest first: walking it is the way back. */
#include "nn/nn.h"

#include <stdalign.h>
#include <stdarg.h>
#include <string.h>

#include "nn/internal.h"

enum { LINE = 64, FIRST_BLOCK = 1 << 18, WORTH_A_THREAD = 1 << 15 };

typedef struct block {
    struct block *next;
    size_t size, used; /* bytes of `data` */
    alignas(LINE) char data[];
} block;

typedef struct note {
    struct note *before;
    sp_way_back *back;
    alignas(LINE) char data[];
} note;

struct sp_tape {
    block *first, *now; /* blocks after `now` are empty */
    note *last;
    spry_status status;
    int threads;
    int learn;
};

/* ---- memory ---- */

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

static void *fail_memory(sp_tape *t, size_t bytes)
{
    t->status = sp_fail_memory(bytes);
    return NULL;
}

/* A block with room for `bytes`, behind `now`; an empty one that is too
 * small stays for the next pass. */
static block *another_block(sp_tape *t, size_t bytes)
{
    size_t size = t->now ? 2 * t->now->size : FIRST_BLOCK;
    block *b;

    if (size < bytes)
        size = bytes;
    b = sp_alloc_raw((int64_t)(sizeof *b + size), 1);
    if (!b)
        return NULL;
    b->size = size;
    b->used = 0;
    b->next = t->now ? t->now->next : NULL;
    if (t->now)
        t->now->next = b;
    else
        t->first = b;
    return b;
}

static void *cut(sp_tape *t, size_t bytes)
{
    block *b = t->now;
    char *p;

    while (b && b->size - b->used < bytes && b->next) {
        b = b->next;
        t->now = b;
    }
    if (!b || b->size - b->used < bytes)
        b = another_block(t, bytes);
    if (!b)
        return fail_memory(t, bytes);
    t->now = b;
    p = b->data + b->used;
    b->used += bytes;
    return p;
}

void *sp_tape_memory(sp_tape *t, int64_t count, size_t size)
{
    size_t bytes;

    if (t->status != SPRY_OK)
        return NULL;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > PTRDIFF_MAX / 4)
        return fail_memory(t, SIZE_MAX);
    return cut(t, whole_lines(bytes));
}

void *sp_tape_copy(sp_tape *t, const void *data, int64_t count, size_t size)
{
    void *p = sp_tape_memory(t, count, size);

    if (p && count > 0)
        memcpy(p, data, (size_t)count * size);
    return p;
}

/* ---- tensors ---- */

static sp_tensor *make(sp_tape *t, sp_shape shape, int grad)
{
    int64_t size = sp_shape_size(shape);
    char text[SP_SHAPE_TEXT];
    sp_tensor *x;

    if (t->status != SPRY_OK)
        return NULL;
    if (size < 0)
        return sp_tape_refuse(t, "%s is no shape", sp_shape_text(text, shape));
    x = sp_tape_memory(t, 1, sizeof *x);
    if (!x)
        return NULL;
    *x = (sp_tensor){shape, size, sp_tape_memory(t, size, sizeof(float)), NULL};
    if (grad && t->learn)
        x->grad = sp_tape_memory(t, size, sizeof(float));
    if (!x->value || t->status != SPRY_OK)
        return NULL;
    if (x->grad)
        memset(x->grad, 0, (size_t)size * sizeof(float));
    return x;
}

sp_tensor *sp_tape_result(sp_tape *t, sp_shape shape, sp_tensor *const from[],
                          int count)
{
    int grad = 0;

    for (int i = 0; i < count; i++)
        grad |= from[i] && from[i]->grad;
    return make(t, shape, grad);
}

sp_tensor *sp_nn_input(sp_tape *t, sp_shape shape, const float *value)
{
    sp_tensor *x = make(t, shape, 0);

    if (x && value)
        memcpy(x->value, value, (size_t)x->size * sizeof *value);
    else if (x)
        memset(x->value, 0, (size_t)x->size * sizeof *value);
    return x;
}

/* ---- the way back ---- */

void sp_tape_note(sp_tape *t, const sp_tensor *y, sp_way_back *back,
                  const void *data, size_t bytes)
{
    note *n;

    if (!y || !y->grad)
        return;
    n = sp_tape_memory(t, 1, sizeof *n + bytes);
    if (!n)
        return;
    *n = (note){.before = t->last, .back = back};
    memcpy(n->data, data, bytes);
    t->last = n;
}

spry_status sp_tape_backward(sp_tape *t, sp_tensor *loss)
{
    if (t->status != SPRY_OK)
        return t->status;
    if (!loss || loss->size != 1)
        sp_tape_refuse(t, "a loss is one number");
    else if (!loss->grad)
        sp_tape_refuse(t, "the loss depends on nothing that learns");
    else
        loss->grad[0] = 1;
    for (note *n = t->last; n && t->status == SPRY_OK; n = n->before)
        n->back(t, n->data);
    t->last = NULL;
    return t->status;
}

/* ---- the tape ---- */

spry_status sp_tape_new(sp_tape **out, int threads)
{
    sp_tape *t = sp_alloc(1, sizeof *t);

    *out = t;
    if (!t)
        return sp_fail_memory(sizeof *t);
    t->threads = threads < 1 ? 1 : threads;
    return SPRY_OK;
}

void sp_tape_free(sp_tape *t)
{
    block *b = t ? t->first : NULL;

    while (b) {
        block *next = b->next;

        sp_free(b);
        b = next;
    }
    sp_free(t);
}

void sp_tape_begin(sp_tape *t, int learn)
{
    for (block *b = t->first; b; b = b->next)
        b->used = 0;
    t->now = t->first;
    t->last = NULL;
    t->status = SPRY_OK;
    t->learn = learn;
}

spry_status sp_tape_status(const sp_tape *t)
{
    return t->status;
}

int sp_tape_good(const sp_tape *t)
{
    return t->status == SPRY_OK;
}

int sp_tape_threads(const sp_tape *t, int64_t n)
{
    int64_t worth = n / WORTH_A_THREAD + 1;

    return worth < t->threads ? (int)worth : t->threads;
}

void *sp_tape_refuse(sp_tape *t, const char *fmt, ...)
{
    char text[512];
    va_list args;

    if (t->status != SPRY_OK)
        return NULL;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    t->status = sp_fail(SPRY_USAGE, "%s", text);
    return NULL;
}
