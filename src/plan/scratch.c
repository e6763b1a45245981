/* scratch.c - memory that runs borrow, so that a page is found only once. */
#include "plan/plan.h"

#include <stdatomic.h>

#include "base/base.h"

struct sp_scratch {
    _Atomic(void *) idle; /* NULL: taken, or never needed yet */
    int64_t count;
    size_t size;
};

spry_status sp_scratch_open(sp_scratch **out, int64_t count, size_t size)
{
    sp_scratch *s = sp_alloc(1, sizeof *s);

    *out = s;
    if (!s)
        return sp_fail_memory(sizeof *s);
    s->count = count;
    s->size = size;
    return SPRY_OK;
}

void sp_scratch_close(sp_scratch *s)
{
    if (s)
        sp_free(atomic_load(&s->idle));
    sp_free(s);
}

void *sp_scratch_take(sp_scratch *s)
{
    void *memory = atomic_exchange(&s->idle, NULL);

    if (!memory)
        memory = sp_alloc_raw(s->count, s->size);
    if (!memory)
        sp_fail_memory((size_t)s->count * s->size);
    return memory;
}

void sp_scratch_give(sp_scratch *s, void *memory)
{
    sp_free(atomic_exchange(&s->idle, memory));
}
