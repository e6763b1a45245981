/* simulate_min.c - Belady's MIN: the line needed last leaves.
 *
 * A heap holds the lines in memory, the one whose next use is furthest away
 * on top; O(log room) each. The lines of the edge that runs now have that
 * edge as their next use until it has used them, so they are never on top. */
#include "order/simulate.h"

typedef struct {
    const sp_trace *trace;
    int32_t *next; /* [uses edges] the edge that next uses the same line */
    int32_t *heap; /* [room] lines */
    int32_t *need; /* [lines] when each is needed, */
    int32_t *at;   /* [lines] and where it is in the heap */
    int64_t held;
} belady;

static void belady_close(void *state)
{
    belady *b = state;

    if (b) {
        sp_free(b->next);
        sp_free(b->heap);
        sp_free(b->need);
        sp_free(b->at);
    }
    sp_free(b);
}

/* Backwards through the edges; need[] remembers the last use seen. */
static void find_next_uses(belady *b)
{
    const sp_trace *t = b->trace;

    for (int64_t x = 0; x < t->lines; x++)
        b->need[x] = INT32_MAX;
    for (int64_t i = t->edges; i-- > 0;) {
        for (int k = 0; k < t->uses; k++)
            b->next[t->uses * i + k] = b->need[sp_trace_line(t, i, k)];
        for (int k = 0; k < t->uses; k++)
            b->need[sp_trace_line(t, i, k)] = (int32_t)i;
    }
}

static spry_status belady_open(void **state, const sp_trace *t)
{
    belady *b = sp_alloc(1, sizeof *b);

    *state = b;
    if (!b)
        return sp_fail_memory(sizeof *b);
    *b = (belady){t,
                  sp_alloc_raw(t->uses * t->edges, sizeof *b->next),
                  sp_alloc_raw(t->room, sizeof *b->heap),
                  sp_alloc_raw(t->lines, sizeof *b->need),
                  sp_alloc_raw(t->lines, sizeof *b->at),
                  0};
    if (!b->next || !b->heap || !b->need || !b->at)
        return sp_fail_memory((size_t)t->edges * 8);
    find_next_uses(b);
    return SPRY_OK;
}

static void place(belady *b, int64_t at, int32_t line)
{
    b->heap[at] = line;
    b->at[line] = (int32_t)at;
}

static void rise(belady *b, int64_t at)
{
    int32_t line = b->heap[at];

    while (at > 0 && b->need[b->heap[(at - 1) / 2]] < b->need[line]) {
        place(b, at, b->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(b, at, line);
}

static void sink(belady *b, int64_t at)
{
    int32_t line = b->heap[at];

    for (int64_t down = 2 * at + 1; down < b->held; down = 2 * at + 1) {
        if (down + 1 < b->held &&
            b->need[b->heap[down + 1]] > b->need[b->heap[down]])
            down++;
        if (b->need[b->heap[down]] <= b->need[line])
            break;
        place(b, at, b->heap[down]);
        at = down;
    }
    place(b, at, line);
}

static void belady_enter(void *state, int64_t i, int32_t line)
{
    belady *b = state;

    b->need[line] = (int32_t)i;
    place(b, b->held++, line);
}

static void belady_used(void *state, int64_t i, int which)
{
    belady *b = state;
    int32_t line = sp_trace_line(b->trace, i, which);

    b->need[line] = b->next[b->trace->uses * i + which];
    rise(b, b->at[line]);
}

/* The last of the heap takes its place, and goes where it belongs. */
static void belady_drop(void *state, int32_t line)
{
    belady *b = state;
    int64_t at = b->at[line];

    if (at == --b->held)
        return;
    place(b, at, b->heap[b->held]);
    rise(b, at);
    sink(b, at);
}

static int32_t belady_leave(void *state, int64_t i)
{
    belady *b = state;
    int32_t line = b->heap[0];

    (void)i;
    belady_drop(b, line);
    return line;
}

const sp_replacement sp_replacement_min = {
    "min",       belady_open,  belady_close, belady_enter,
    belady_used, belady_leave, belady_drop};
