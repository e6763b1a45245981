/* ways.c - what to measure of a dense operator: the ways that seem best, and
 * others by chance, so that a model learns what is slow as well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collect/internal.h"
#include "dense/learned.h"

/* What is expected to be this many times slower than the best is left out: a
 * model need not know by how much. */
static const double SLOW = 6;

void sp_names_free(sp_names *n)
{
    for (int i = 0; i < n->count; i++)
        free(n->name[i]);
    sp_free(n->name);
    *n = (sp_names){0};
}

int sp_names_has(const sp_names *n, const char *name)
{
    for (int i = 0; i < n->count; i++)
        if (strcmp(n->name[i], name) == 0)
            return 1;
    return 0;
}

spry_status sp_names_add(sp_names *n, const char *name)
{
    int room = n->room ? 2 * n->room : 64;

    if (n->count == n->room) {
        char **more = sp_grow(n->name, n->count, room, sizeof(char *));

        if (!more)
            return sp_fail_memory((size_t)room * sizeof(char *));
        n->name = more;
        n->room = room;
    }
    n->name[n->count] = sp_strdup(name);
    if (!n->name[n->count])
        return sp_fail_memory(strlen(name));
    n->count++;
    return SPRY_OK;
}

typedef struct {
    sp_dense_way way;
    double seconds;
} guess;

static int by_seconds(const void *a, const void *b)
{
    double x = ((const guess *)a)->seconds, y = ((const guess *)b)->seconds;

    return (x > y) - (x < y);
}

/* All ways, the best guess first. */
static spry_status guesses(guess **out, int *count, const sp_dense_problem *p,
                           const spry_machine *m)
{
    sp_dense_way *way = NULL;
    double *seconds;
    spry_status s = sp_dense_ways(&way, count, p, m);

    *out = NULL;
    if (s != SPRY_OK)
        return s;
    *out = sp_alloc(*count + 1, sizeof **out);
    seconds = sp_alloc(*count + 1, sizeof *seconds);
    if (*out && seconds) {
        (void)sp_dense_expect(seconds, p, way, *count, m);
        for (int i = 0; i < *count; i++)
            (*out)[i] = (guess){way[i], seconds[i]};
        qsort(*out, (size_t)*count, sizeof **out, by_seconds);
    } else {
        sp_free(*out);
        *out = NULL;
        s = sp_fail_memory((size_t)*count * sizeof **out);
    }
    sp_free(way);
    sp_free(seconds);
    return s;
}

/* One of [from, to) by chance comes to `from`. */
static void draw_one(guess *g, int from, int to, sp_rng *r)
{
    int i = from + (int)sp_rng_below(r, (uint64_t)(to - from));
    guess x = g[i];

    g[i] = g[from];
    g[from] = x;
}

spry_status sp_draw_ways(sp_names *out, const sp_names *known,
                         const spry_problem *p, const spry_machine *m,
                         int wanted, uint64_t seed)
{
    sp_rng r = sp_rng_seed(seed);
    guess *g;
    int count, end = 0;
    spry_status s = guesses(&g, &count, sp_dense_of(p), m);

    if (s != SPRY_OK)
        return s;
    while (end < count && g[end].seconds < SLOW * g[0].seconds)
        end++;
    for (int i = 0; i < end && out->count < wanted && s == SPRY_OK; i++) {
        char text[SPRY_SCHEDULE_TEXT];

        if (i >= wanted / 3)
            draw_one(g, i, end, &r);
        if (g[i].way.algorithm == SP_PLAIN)
            continue; /* measured anyway */
        sp_dense_way_text(text, &g[i].way);
        if (!sp_names_has(known, text) && !sp_names_has(out, text))
            s = sp_names_add(out, text);
    }
    sp_free(g);
    return s;
}

int sp_way_threads(const char *text)
{
    sp_dense_way x;

    return sp_dense_way_parse(&x, text) == SPRY_OK ? x.threads : 1;
}
