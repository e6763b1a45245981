/* arena.c - one arena for all buffers, planned before anything runs.
 *
 * Buffers that are never needed at the same time may share their place. Each
 * is put at the lowest place where it fits, the largest first; a few other
 * orders are tried, too, and the smallest arena wins. */
#include <stdlib.h>

#include "graph/program.h"

enum { LINE = 64 };

static void used_by(sp_program *p, const sp_strided *v, int stage)
{
    sp_buffer *b;

    if (v->buffer < 0)
        return;
    b = &p->buffer[v->buffer];
    b->first = stage < b->first ? stage : b->first;
    b->last = stage > b->last ? stage : b->last;
}

static void find_lives(sp_program *p)
{
    for (int i = 0; i < p->buffers; i++) {
        p->buffer[i].first = p->stages;
        p->buffer[i].last = -1;
    }
    for (int i = 0; i < p->stages; i++) {
        const sp_stage *s = &p->stage[i];

        used_by(p, &s->in, i);
        used_by(p, &s->b, i);
        used_by(p, &s->add, i);
        used_by(p, &s->out, i);
        for (int k = 0; k < SPRY_STEPS; k++)
            used_by(p, &s->more[k], i);
        for (int k = 0; s->list && k < s->node->inputs + s->node->outputs; k++)
            used_by(p, &s->list[k], i);
    }
}

/* Bytes that begin and end to be needed at each stage, summed up. */
static spry_status find_most(sp_program *p)
{
    int64_t *change = sp_alloc(p->stages + 1, sizeof *change), sum = 0;

    if (!change)
        return sp_fail_memory((size_t)p->stages * sizeof *change);
    for (int b = 0; b < p->buffers; b++) {
        const sp_buffer *x = &p->buffer[b];

        if (x->home != SP_IN_ARENA || x->last < 0)
            continue;
        change[x->first] += sp_round_up(x->bytes, LINE);
        change[x->last + 1] -= sp_round_up(x->bytes, LINE);
    }
    for (int i = 0; i < p->stages; i++) {
        sum += change[i];
        p->live = sum > p->live ? sum : p->live;
    }
    sp_free(change);
    return SPRY_OK;
}

typedef int buffer_order(const void *a, const void *b);

static int compare(double x, double y, const sp_buffer *a, const sp_buffer *b)
{
    return x > y ? -1 : x < y ? 1 : a < b ? -1 : a > b;
}

static int larger_first(const void *a, const void *b)
{
    const sp_buffer *x = *(sp_buffer *const *)a, *y = *(sp_buffer *const *)b;

    return compare((double)x->bytes, (double)y->bytes, x, y);
}

/* What is large and needed for long is hard to place late. */
static int more_first(const void *a, const void *b)
{
    const sp_buffer *x = *(sp_buffer *const *)a, *y = *(sp_buffer *const *)b;

    return compare((double)x->bytes * (x->last - x->first + 1),
                   (double)y->bytes * (y->last - y->first + 1), x, y);
}

static int longer_first(const void *a, const void *b)
{
    const sp_buffer *x = *(sp_buffer *const *)a, *y = *(sp_buffer *const *)b;

    return compare(x->last - x->first + (double)x->bytes * 1e-12,
                   y->last - y->first + (double)y->bytes * 1e-12, x, y);
}

static int earlier_first(const void *a, const void *b)
{
    const sp_buffer *x = *(sp_buffer *const *)a, *y = *(sp_buffer *const *)b;

    return compare(-(double)x->first + (double)x->bytes * 1e-12,
                   -(double)y->first + (double)y->bytes * 1e-12, x, y);
}

static int meet(const sp_buffer *a, const sp_buffer *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The lowest place for `b` beside those that live with it; placed[] goes up. */
static int64_t lowest(const sp_buffer *b, sp_buffer *const *placed, int count)
{
    int64_t at = 0;

    for (int i = 0; i < count; i++) {
        int64_t end = placed[i]->place + sp_round_up(placed[i]->bytes, LINE);

        if (!meet(b, placed[i]))
            continue;
        if (at + sp_round_up(b->bytes, LINE) <= placed[i]->place)
            break;
        at = end > at ? end : at;
    }
    return at;
}

static void insert(sp_buffer *b, sp_buffer **placed, int count)
{
    for (; count > 0 && placed[count - 1]->place > b->place; count--)
        placed[count] = placed[count - 1];
    placed[count] = b;
}

/* Bytes that the buffers take, placed in this order. */
static int64_t place_all(sp_buffer **list, sp_buffer **placed, int count,
                         buffer_order *order)
{
    int64_t arena = 0;

    qsort(list, (size_t)count, sizeof(sp_buffer *), order);
    for (int i = 0; i < count; i++) {
        int64_t end;

        list[i]->place = lowest(list[i], placed, i);
        insert(list[i], placed, i);
        end = list[i]->place + sp_round_up(list[i]->bytes, LINE);
        arena = end > arena ? end : arena;
    }
    return arena;
}

/* Nothing that is needed at the same time shares a byte, and all is inside. */
static int is_apart(sp_buffer **list, int count, int64_t arena)
{
    int holds = 1;

    for (int i = 0; i < count; i++) {
        int64_t end = list[i]->place + list[i]->bytes;

        holds &= list[i]->place >= 0 && end <= arena;
        for (int k = 0; k < i; k++)
            holds &= !meet(list[i], list[k]) || end <= list[k]->place ||
                     list[k]->place + list[k]->bytes <= list[i]->place;
    }
    return holds;
}

spry_status sp_arena_plan(sp_program *p)
{
    static buffer_order *const orders[] = {larger_first, more_first,
                                           longer_first, earlier_first};
    enum { MANY = 4096 }; /* so many take long enough in one order */
    sp_buffer **list = sp_alloc(2 * (p->buffers + 1), sizeof(sp_buffer *));
    sp_buffer **placed;
    int count = 0, best = 0;
    spry_status s;

    if (!list)
        return sp_fail_memory((size_t)p->buffers * sizeof(sp_buffer *));
    placed = list + p->buffers + 1;
    find_lives(p);
    s = find_most(p);
    for (int i = 0; i < p->buffers; i++)
        if (p->buffer[i].home == SP_IN_ARENA && p->buffer[i].last >= 0)
            list[count++] = &p->buffer[i];
    p->arena = INT64_MAX;
    for (int i = 0; i < (count > MANY ? 1 : 4); i++) {
        int64_t bytes = place_all(list, placed, count, orders[i]);

        if (bytes < p->arena) {
            p->arena = bytes;
            best = i;
        }
    }
    place_all(list, placed, count, orders[best]);
    SP_ASSERT(count > MANY || is_apart(list, count, p->arena));
    sp_free(list);
    return s;
}
