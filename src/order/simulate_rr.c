/* simulate_rr.c - round-robin: a hand goes round the places of memory, and
 * what it points at leaves; O(1) each. */
#include "order/simulate.h"

enum { EMPTY = -1 };

typedef struct {
    const sp_trace *trace;
    int32_t *place; /* [room] the line in each, or EMPTY */
    int32_t *at;    /* [lines] which place each is in */
    int32_t *free;  /* [room] the empty places, to be filled from the end */
    int64_t frees, hand;
} ring;

static void ring_close(void *state)
{
    ring *r = state;

    if (r) {
        sp_free(r->place);
        sp_free(r->at);
        sp_free(r->free);
    }
    sp_free(r);
}

static spry_status ring_open(void **state, const sp_trace *t)
{
    ring *r = sp_alloc(1, sizeof *r);

    *state = r;
    if (!r)
        return sp_fail_memory(sizeof *r);
    *r = (ring){t,
                sp_alloc_raw(t->room, sizeof *r->place),
                sp_alloc_raw(t->lines, sizeof *r->at),
                sp_alloc_raw(t->room, sizeof *r->free),
                t->room,
                0};
    if (!r->place || !r->at || !r->free)
        return sp_fail_memory((size_t)(t->room * 2 + t->lines) * 4);
    for (int64_t p = 0; p < t->room; p++) {
        r->place[p] = EMPTY;
        r->free[p] = (int32_t)(t->room - 1 - p);
    }
    return SPRY_OK;
}

static void ring_enter(void *state, int64_t i, int32_t line)
{
    ring *r = state;
    int32_t p = r->free[--r->frees];

    (void)i;
    r->place[p] = line;
    r->at[line] = p;
}

static void ring_used(void *state, int64_t i, int which)
{
    (void)state;
    (void)i;
    (void)which;
}

static void ring_drop(void *state, int32_t line)
{
    ring *r = state;

    r->place[r->at[line]] = EMPTY;
    r->free[r->frees++] = r->at[line];
}

/* Memory is full: there is a line in every place. */
static int32_t ring_leave(void *state, int64_t i)
{
    ring *r = state;
    int32_t x;

    do {
        x = r->place[r->hand];
        r->hand = (r->hand + 1) % r->trace->room;
    } while (sp_trace_uses(r->trace, i, x));
    ring_drop(r, x);
    return x;
}

const sp_replacement sp_replacement_rr = {
    "rr", ring_open, ring_close, ring_enter, ring_used, ring_leave, ring_drop};
