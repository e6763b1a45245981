/* slow_simulator.h - I/O by the rules and nothing else, however long it takes. */
#ifndef SPRY_SLOW_SIMULATOR_H
#define SPRY_SLOW_SIMULATOR_H

#include <string.h>

#include "base/base.h"
#include "order/order.h"

enum { MOST = 4096 };

typedef struct {
    const spry_network *net;
    const int32_t *edge;
    const int32_t *target;
    spry_simulate_options o;
    int64_t room, hand;
    int32_t place[MOST]; /* what is in memory */
    int64_t used[MOST];  /* when each place was used last */
    int64_t came[MOST];  /* when each place was emptied, by a count */
    int64_t count;
    int changed[MOST]; /* neurons, since they were read */
    int64_t reads, writes;
} slow;

static inline int32_t line_of(const slow *s, int64_t i, int which)
{
    int32_t k = s->edge[i];

    if (which == 2)
        return (int32_t)((s->net->neurons + s->o.line - 1) / s->o.line +
                         s->o.weight[k] / s->o.line);
    return (int32_t)((which ? s->target[k] : s->net->source[k]) / s->o.line);
}

/* Is v needed by an edge behind i, or as an output? */
static inline int is_needed(const slow *s, int32_t v, int64_t i)
{
    for (int64_t j = i; j < s->net->edges; j++)
        if (s->net->source[s->edge[j]] == v)
            return 1;
    for (int64_t o = 0; o < s->net->outputs; o++)
        if (s->net->output[o] == v)
            return 1;
    return 0;
}

/* Edges before i are done. */
static inline void write_back(slow *s, int32_t line, int64_t i)
{
    int any = 0;

    for (int64_t v = line * s->o.line;
         v < (line + 1) * s->o.line && v < s->net->neurons; v++) {
        any |= s->changed[v] && is_needed(s, (int32_t)v, i);
        s->changed[v] = 0;
    }
    s->writes += any;
}

static inline int64_t next_use(const slow *s, int32_t line, int64_t i)
{
    for (; i < s->net->edges; i++)
        if (line_of(s, i, 0) == line || line_of(s, i, 1) == line ||
            (s->o.weight && line_of(s, i, 2) == line))
            break;
    return i;
}

static inline int is_operand(const slow *s, int64_t place, int64_t i)
{
    return s->place[place] == line_of(s, i, 0) ||
           s->place[place] == line_of(s, i, 1) ||
           (s->o.weight && s->place[place] == line_of(s, i, 2));
}

static inline int64_t place_to_free(slow *s, int64_t i)
{
    int64_t best = -1;

    if (s->o.policy == SPRY_RR) {
        while (is_operand(s, s->hand, i))
            s->hand = (s->hand + 1) % s->room;
        best = s->hand;
        s->hand = (s->hand + 1) % s->room;
        return best;
    }
    for (int64_t p = 0; p < s->room; p++) {
        if (is_operand(s, p, i))
            continue;
        if (best < 0 ||
            (s->o.policy == SPRY_LRU ? s->used[p] < s->used[best]
                                     : next_use(s, s->place[p], i) >
                                           next_use(s, s->place[best], i)))
            best = p;
    }
    return best;
}

/* Of the empty places the one emptied last, or -1. */
static inline int64_t empty_place(const slow *s)
{
    int64_t best = -1;

    for (int64_t p = 0; p < s->room; p++)
        if (s->place[p] < 0 && (best < 0 || s->came[p] > s->came[best]))
            best = p;
    return best;
}

static inline int64_t find_place(slow *s, int64_t i, int which)
{
    int32_t line = line_of(s, i, which);
    int64_t p = 0;

    while (p < s->room && s->place[p] != line)
        p++;
    if (p < s->room)
        return p;
    p = empty_place(s);
    if (p < 0) {
        p = place_to_free(s, i);
        write_back(s, s->place[p], i);
    }
    s->place[p] = line;
    s->reads++;
    return p;
}

/* What edge i was the last to use leaves, unless it must be written. */
static inline void drop_dead(slow *s, int64_t i, int64_t p)
{
    int32_t line = s->place[p];

    if (line < 0 || next_use(s, line, i + 1) < s->net->edges)
        return;
    for (int64_t v = line * s->o.line;
         v < (line + 1) * s->o.line && v < s->net->neurons; v++)
        if (s->changed[v] && is_needed(s, (int32_t)v, i + 1))
            return;
    s->place[p] = -1;
    s->came[p] = ++s->count;
}

static inline void run_slowly(slow *s)
{
    s->room = s->o.memory / s->o.line;
    for (int64_t p = 0; p < s->room; p++) {
        s->place[p] = -1;
        s->came[p] = -p; /* the first is taken first */
    }
    for (int64_t i = 0; i < s->net->edges; i++) {
        int64_t a = find_place(s, i, 0), b = find_place(s, i, 1);
        int64_t c = s->o.weight ? find_place(s, i, 2) : -1;

        s->used[a] = 3 * i;
        s->used[b] = 3 * i + 1;
        if (c >= 0)
            s->used[c] = 3 * i + 2;
        s->changed[s->target[s->edge[i]]] = 1;
        drop_dead(s, i, a);
        drop_dead(s, i, b);
        if (c >= 0)
            drop_dead(s, i, c);
    }
    for (int64_t p = 0; p < s->room; p++)
        if (s->place[p] >= 0)
            write_back(s, s->place[p], s->net->edges);
}

#endif
