/* curve.c - latency over working set -> the caches that are really ours.
 *
 * What a guest is told about its caches may belong to others as well, or lie
 * so far away that it is no faster than memory. The curve shows what is left:
 * while a working set fits, a load takes as long as that level needs; beyond,
 * the share that still fits is served by it and the rest by the next one. So
 *
 *     share of hits = (next - latency) / (next - level)
 *
 * and share times working set is the size, wherever on the slope it is read.
 * Noise only ever adds time, and a smaller working set is never slower: the
 * least of all points from here on is the best guess of each point. Nothing
 * here is larger than reported, and what the curve leaves open stays as
 * reported. */
#include "machine/internal.h"

#include <math.h>
#include <string.h>

/* A level that takes longer than this share of memory's time saves nothing. */
static const double NEARLY_MEMORY = 0.7;
/* Levels closer than this cannot be told apart. */
static const double APART = 1.15;
/* What is found of a reported size is all of it from here on: of a cache that
 * cores share, and of one that no neighbour can take from us. */
static const double WHOLE_SHARED = 0.8, WHOLE_OWN = 0.55;
/* Points with fewer hits say little about the size. */
static const double HITS = 0.5;

/* From how many sizes of the level below a working set shows this level. */
enum { BEYOND = 4, PAGE = 4096 };

typedef struct {
    sp_curve c;                /* never falling */
    double level[SPRY_CACHES]; /* seconds of each; 0: not seen */
} levels;

static void smooth(sp_curve *c)
{
    for (int i = c->count - 2; i >= 0; i--)
        c->seconds[i] = fmin(c->seconds[i], c->seconds[i + 1]);
    if (c->count > 0)
        c->memory = fmax(c->memory, c->seconds[c->count - 1]);
}

/* The first point of at least so many bytes; count when there is none. */
static int point_at(const sp_curve *c, double bytes)
{
    int i = 0;

    while (i < c->count && (double)c->bytes[i] < bytes)
        i++;
    return i;
}

/* Seconds of a level, from a point beyond the one below; 0 when no point
 * lies between the two. */
static double level_seconds(const sp_curve *c, int64_t below, double faster,
                            int64_t size)
{
    int i = point_at(
        c, fmin(BEYOND * (double)below, sqrt((double)below * (double)size)));
    double hits;

    if (i == c->count || c->bytes[i] <= below || c->bytes[i] > size)
        return 0;
    hits = (double)below / (double)c->bytes[i];
    return fmax(faster, (c->seconds[i] - hits * faster) / (1 - hits));
}

static void find_levels(levels *l, const spry_cache reported[SPRY_CACHES])
{
    int64_t below = 0;
    double faster = 0;

    for (int i = 0; i < SPRY_CACHES; i++) {
        int64_t size = reported[i].bytes;

        if (size <= 0)
            continue;
        if (below > 0)
            l->level[i] = level_seconds(&l->c, below, faster, size);
        else if (l->c.bytes[0] <= size / 2)
            l->level[i] = l->c.seconds[0];
        if (l->level[i] > 0)
            faster = l->level[i];
        below = size;
    }
}

static int saves_time(const levels *l, int i)
{
    return l->level[i] > 0 && l->level[i] < NEARLY_MEMORY * l->c.memory;
}

/* Seconds of what comes after level i. */
static double next_seconds(const levels *l, int i)
{
    while (++i < SPRY_CACHES)
        if (saves_time(l, i))
            return l->level[i];
    return l->c.memory;
}

static double hits_at(const levels *l, int point, double level, double next)
{
    double share = (next - l->c.seconds[point]) / (next - level);

    return fmin(1, fmax(0, share));
}

/* Bytes of level i; as reported when the curve does not show its end. */
static int64_t size_of(const levels *l, int i, const spry_cache *reported)
{
    double level = l->level[i], next = next_seconds(l, i), most = 0;
    double whole = reported->shared_by > 1 ? WHOLE_SHARED : WHOLE_OWN;

    if (next < APART * level || hits_at(l, l->c.count - 1, level, next) >= HITS)
        return reported->bytes;
    for (int k = 0; k < l->c.count; k++) {
        double hits = hits_at(l, k, level, next);

        if (hits >= HITS)
            most = fmax(most, hits * (double)l->c.bytes[k]);
    }
    if (most >= whole * (double)reported->bytes)
        return reported->bytes;
    return (int64_t)most / PAGE * PAGE;
}

void sp_curve_caches(int64_t out[SPRY_CACHES], const sp_curve *c,
                     const spry_cache reported[SPRY_CACHES])
{
    levels l = {.c = *c};
    int64_t below = 0;

    for (int i = 0; i < SPRY_CACHES; i++)
        out[i] = reported[i].bytes;
    if (c->count < 2)
        return;
    smooth(&l.c);
    find_levels(&l, reported);
    if (!saves_time(&l, 0))
        return; /* no curve of a machine with caches */
    for (int i = 0; i < SPRY_CACHES; i++) {
        if (l.level[i] == 0)
            continue; /* not reported, or no point inside */
        out[i] = saves_time(&l, i) ? size_of(&l, i, &reported[i]) : 0;
        if (i > 0 && out[i] <= below)
            out[i] = 0;
        below = out[i] > 0 ? out[i] : below;
    }
}
