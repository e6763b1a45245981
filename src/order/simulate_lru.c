/* simulate_lru.c - lines in a list by when they were used last; O(1) each. */
#include "order/linked.h"
#include "order/simulate.h"

typedef struct {
    const sp_trace *trace;
    sp_linked by_use; /* lines, the one used last at its end */
} lru;

static void lru_close(void *state)
{
    lru *l = state;

    if (l)
        sp_linked_free(&l->by_use);
    sp_free(l);
}

static spry_status lru_open(void **state, const sp_trace *t)
{
    lru *l = sp_alloc(1, sizeof *l);

    *state = l;
    if (!l)
        return sp_fail_memory(sizeof *l);
    l->trace = t;
    if (sp_linked_alloc(&l->by_use, t->lines))
        return SPRY_OK;
    return sp_fail_memory((size_t)t->lines * 8);
}

static void lru_enter(void *state, int64_t i, int32_t line)
{
    lru *l = state;

    (void)i;
    sp_linked_append(&l->by_use, line);
}

static void lru_used(void *state, int64_t i, int which)
{
    lru *l = state;

    sp_linked_renew(&l->by_use, sp_trace_line(l->trace, i, which));
}

static int32_t lru_leave(void *state, int64_t i)
{
    lru *l = state;
    int32_t x = l->by_use.first;

    while (sp_trace_uses(l->trace, i, x))
        x = l->by_use.after[x];
    sp_linked_remove(&l->by_use, x);
    return x;
}

static void lru_drop(void *state, int32_t line)
{
    lru *l = state;

    sp_linked_remove(&l->by_use, line);
}

const sp_replacement sp_replacement_lru = {
    "lru", lru_open, lru_close, lru_enter, lru_used, lru_leave, lru_drop};
