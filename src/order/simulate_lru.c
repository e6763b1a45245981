/* simulate_lru.c - lines in a list by when they were used last; O(1) each. */
#include "order/simulate.h"

enum { NONE = -1 };

typedef struct {
    const sp_trace *trace;
    int32_t *older, *newer; /* [lines] neighbours in the list */
    int32_t oldest, newest;
} lru;

static void lru_close(void *state)
{
    lru *l = state;

    if (l) {
        sp_free(l->older);
        sp_free(l->newer);
    }
    sp_free(l);
}

static spry_status lru_open(void **state, const sp_trace *t)
{
    lru *l = sp_alloc(1, sizeof *l);

    *state = l;
    if (!l)
        return sp_fail_memory(sizeof *l);
    *l = (lru){t, sp_alloc_raw(t->lines, sizeof *l->older),
               sp_alloc_raw(t->lines, sizeof *l->newer), NONE, NONE};
    if (l->older && l->newer)
        return SPRY_OK;
    return sp_fail_memory((size_t)t->lines * 8);
}

static void put_newest(lru *l, int32_t x)
{
    l->older[x] = l->newest;
    l->newer[x] = NONE;
    if (l->newest == NONE)
        l->oldest = x;
    else
        l->newer[l->newest] = x;
    l->newest = x;
}

static void take_out(lru *l, int32_t x)
{
    int32_t older = l->older[x], newer = l->newer[x];

    if (older == NONE)
        l->oldest = newer;
    else
        l->newer[older] = newer;
    if (newer == NONE)
        l->newest = older;
    else
        l->older[newer] = older;
}

static void lru_enter(void *state, int64_t i, int32_t line)
{
    (void)i;
    put_newest(state, line);
}

static void lru_used(void *state, int64_t i, int which)
{
    lru *l = state;
    int32_t x = sp_trace_line(l->trace, i, which);

    take_out(l, x);
    put_newest(l, x);
}

static int32_t lru_leave(void *state, int64_t i)
{
    lru *l = state;
    int32_t x = l->oldest;

    while (sp_trace_uses(l->trace, i, x))
        x = l->newer[x];
    take_out(l, x);
    return x;
}

static void lru_drop(void *state, int32_t line)
{
    take_out(state, line);
}

const sp_replacement sp_replacement_lru = {
    "lru", lru_open, lru_close, lru_enter, lru_used, lru_leave, lru_drop};
