/* simulate.h - which line leaves a full memory: the policies. */
#ifndef SP_ORDER_SIMULATE_H
#define SP_ORDER_SIMULATE_H

#include "order/internal.h"

/* What a policy may know: edge i of `edges` uses the lines use[2 i] and
 * use[2 i + 1], which may be the same one. */
typedef struct {
    int64_t edges, lines;
    int64_t room; /* lines that fit into memory, >= 2 */
    const int32_t *use;
} sp_trace;

/* Edge i is run so: a line it uses that is not in memory enters, after
 * another one left if memory was full; then both are used. */
typedef struct {
    const char *name;
    spry_status (*open)(void **state, const sp_trace *t);
    void (*close)(void *state);
    void (*enter)(void *state, int64_t i, int32_t line);
    void (*used)(void *state, int64_t i, int which); /* 0 or 1 */
    /* The line that leaves; not one of the two that edge i uses. */
    int32_t (*leave)(void *state, int64_t i);
    void (*drop)(void *state, int32_t line); /* it leaves, unasked */
} sp_replacement;

extern const sp_replacement sp_replacement_lru, sp_replacement_rr,
    sp_replacement_min;

#endif
