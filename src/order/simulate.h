/* simulate.h - which line leaves a full memory: the policies. */
#ifndef SP_ORDER_SIMULATE_H
#define SP_ORDER_SIMULATE_H

#include "order/internal.h"

/* What a policy may know: edge i of `edges` uses the lines use[uses i] and
 * those behind it, its source's, its target's and its shared weight's, of
 * which some may be the same one. */
typedef struct {
    int64_t edges, lines;
    int64_t room; /* lines that fit into memory, >= uses */
    int uses;     /* lines of an edge, 2 or 3 */
    const int32_t *use;
} sp_trace;

/* Edge i is run so: a line it uses that is not in memory enters, after
 * another one left if memory was full; then all are used. */
typedef struct {
    const char *name;
    spry_status (*open)(void **state, const sp_trace *t);
    void (*close)(void *state);
    void (*enter)(void *state, int64_t i, int32_t line);
    void (*used)(void *state, int64_t i, int which); /* < uses */
    /* The line that leaves; not one of those that edge i uses. */
    int32_t (*leave)(void *state, int64_t i);
    void (*drop)(void *state, int32_t line); /* it leaves, unasked */
} sp_replacement;

static inline int32_t sp_trace_line(const sp_trace *t, int64_t i, int which)
{
    return t->use[t->uses * i + which];
}

static inline int sp_trace_uses(const sp_trace *t, int64_t i, int32_t line)
{
    int found = 0;

    for (int k = 0; k < t->uses; k++)
        found |= sp_trace_line(t, i, k) == line;
    return found;
}

extern const sp_replacement sp_replacement_lru, sp_replacement_rr,
    sp_replacement_min;

#endif
