/* linked.h - neurons or lines in a doubly linked list, each once: appended
 * and removed in O(1). Kept in order of use it is what LRU needs. */
#ifndef SP_ORDER_LINKED_H
#define SP_ORDER_LINKED_H

#include <stdint.h>

#include "base/base.h"

enum { SP_NOBODY = -1 };

typedef struct {
    int32_t *before, *after; /* [count] neighbours of those in the list */
    int32_t first, last;     /* SP_NOBODY: it is empty */
} sp_linked;

/* 0: no memory; sp_linked_free in any case. */
static inline int sp_linked_alloc(sp_linked *l, int64_t count)
{
    *l = (sp_linked){sp_alloc_raw(count, sizeof *l->before),
                     sp_alloc_raw(count, sizeof *l->after), SP_NOBODY,
                     SP_NOBODY};
    return l->before && l->after;
}

static inline void sp_linked_free(sp_linked *l)
{
    sp_free(l->before);
    sp_free(l->after);
}

static inline void sp_linked_append(sp_linked *l, int32_t x)
{
    l->before[x] = l->last;
    l->after[x] = SP_NOBODY;
    if (l->last == SP_NOBODY)
        l->first = x;
    else
        l->after[l->last] = x;
    l->last = x;
}

static inline void sp_linked_remove(sp_linked *l, int32_t x)
{
    int32_t before = l->before[x], after = l->after[x];

    if (before == SP_NOBODY)
        l->first = after;
    else
        l->after[before] = after;
    if (after == SP_NOBODY)
        l->last = before;
    else
        l->before[after] = before;
}

/* x becomes the last. */
static inline void sp_linked_renew(sp_linked *l, int32_t x)
{
    if (l->last == x)
        return;
    sp_linked_remove(l, x);
    sp_linked_append(l, x);
}

#endif
