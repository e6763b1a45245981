/* draw.c - which schedules of a problem to learn from.
 *
 * Chance alone seldom meets a good one, and a model that has seen no good ones
 * cannot tell the best from the good. So some are those that the analytic
 * model likes, some their neighbours, and the rest is chance. */
#include <math.h>
#include <string.h>

#include "collect/internal.h"
#include "problem/sparse.h"
#include "schedule/schedule.h"
#include "search/search.h"
#include "spry/space.h"

/* Of the points asked for, one in so many is the model's choice, a failure,
 * or a format whose kernel is not built in. */
enum {
    LIKED = 4,
    POOL = 4,
    STEPS = 3,
    TRIES = 40,
    FAILURES = 8,
    SHARED = 192,
    BLOCKS = 6,
    COMPILED = 4
};

/* Beyond so many times the plain loop's time there is little to learn. */
static const double HOPELESS = 25;

/* ---- lists ---- */

spry_status sp_schedule_list_open(sp_schedule_list *l, int room)
{
    *l = (sp_schedule_list){.room = room};
    l->x = sp_alloc_raw(room + 1, sizeof *l->x);
    return l->x ? SPRY_OK : sp_fail_memory((size_t)room * sizeof *l->x);
}

void sp_schedule_list_close(sp_schedule_list *l)
{
    sp_free(l->x);
    *l = (sp_schedule_list){0};
}

int sp_schedule_list_has(const sp_schedule_list *l, const spry_schedule *x)
{
    for (int i = 0; i < l->count; i++)
        if (sp_schedule_equal(&l->x[i], x))
            return 1;
    return 0;
}

int sp_schedule_list_add(sp_schedule_list *l, const spry_schedule *x)
{
    if (l->count == l->room || sp_schedule_list_has(l, x))
        return 0;
    l->x[l->count++] = *x;
    return 1;
}

/* ---- what is drawn into ---- */

typedef struct {
    sp_schedule_list *list;
    const sp_schedule_list *known;
    const sp_urn *u;
    int end;      /* the list is not to grow beyond */
    double plain; /* predicted seconds of the plain loop */
    int dear;     /* kernels that may yet be compiled, but for nests */
    sp_rng rng;
} hand;

static double predicted(const sp_urn *u, const spry_schedule *x)
{
    spry_prediction guess = {.size = sizeof guess};

    if (!sp_sparse_available(u->p, x, u->m,
                             u->compile ? SP_COMPILE_ALL : SP_COMPILE_NONE) ||
        spry_predict(&guess, &u->p->head, x, u->m) != SPRY_OK)
        return HUGE_VAL;
    return guess.seconds;
}

static void score(double *out, const spry_schedule *x, int n, void *payload)
{
    for (int i = 0; i < n; i++)
        out[i] = predicted(payload, &x[i]);
}

int sp_urn_can(const sp_urn *u, const spry_schedule *x)
{
    return predicted(u, x) < HUGE_VAL;
}

static int is_full(const hand *h)
{
    return h->list->count >= h->end;
}

static int is_new(const hand *h, const spry_schedule *x)
{
    return !is_full(h) && !sp_schedule_list_has(h->known, x) &&
           spry_schedule_legal(x, &h->u->p->head, h->u->m) == SPRY_OK;
}

/* Would x cost more to compile than to measure? Nests all do. */
static int is_dear(const hand *h, const spry_schedule *x)
{
    return x->format != SPRY_SUPER &&
           !sp_sparse_available(h->u->p, x, h->u->m, SP_COMPILE_NONE);
}

/* Take x if it is new, can be had and has a hope. */
static int take(hand *h, const spry_schedule *x)
{
    int dear = is_dear(h, x);

    if (!is_new(h, x) || (dear && h->dear == 0) ||
        predicted(h->u, x) >= HOPELESS * h->plain ||
        !sp_schedule_list_add(h->list, x))
        return 0;
    h->dear -= dear;
    return 1;
}

/* Neighbours of list[from ...] until there are `count` more. */
static void take_neighbours(hand *h, int from, int count)
{
    int seeds = h->list->count - from, end = h->list->count + count;

    for (int i = 0;
         seeds > 0 && i < TRIES * count && !is_full(h) && h->list->count < end;
         i++) {
        int steps = 1 + (int)sp_rng_below(&h->rng, STEPS);
        spry_schedule x =
            h->list->x[from + (int)sp_rng_below(&h->rng, (uint64_t)seeds)];

        while (steps-- > 0)
            sp_schedule_mutate(&x, h->u->p, h->u->m, &h->rng);
        if (x.format != SPRY_SUPER || h->u->compile)
            take(h, &x);
    }
}

/* ---- families ---- */

static spry_status take_liked(hand *h, const sp_space *space, int count)
{
    sp_candidate *found = sp_alloc_raw(count + 1, sizeof *found);
    int n = 0;
    spry_status s;

    if (!found)
        return sp_fail_memory((size_t)count * sizeof *found);
    s = sp_strategy_find("exhaustive")->find(found, &n, count, space);
    for (int i = 0; s == SPRY_OK && i < n; i++)
        take(h, &found[i].x);
    sp_free(found);
    return s;
}

static spry_status draw_families(hand *h, int count)
{
    sp_urn urn = *h->u;
    sp_space space = {.p = h->u->p,
                      .m = h->u->m,
                      .score = score,
                      .payload = &urn,
                      .seed = h->u->seed,
                      .compile = h->u->compile,
                      .domain = SP_FAMILIES};
    int from = h->list->count;
    spry_schedule x;
    spry_status s = take_liked(h, &space, count / LIKED);

    take_neighbours(h, from, count / LIKED);
    for (int i = 0; s == SPRY_OK && i < TRIES * count && !is_full(h); i++)
        if (sp_point_random(&x, &space, &h->rng))
            take(h, &x);
    return s;
}

/* ---- nests ---- */

/* A nest that would be too large or far too slow is a fact worth keeping,
 * too. */
static int take_failure(hand *h, const spry_schedule *x)
{
    return is_new(h, x) && sp_schedule_list_add(h->list, x);
}

/* The first of pool[] that is predicted to be fastest. */
static int fastest(const hand *h, const spry_schedule *pool, double *cost,
                   int count)
{
    int best = 0;

    for (int i = 0; i < count; i++) {
        if (cost[i] < 0)
            cost[i] = predicted(h->u, &pool[i]);
        if (cost[i] < cost[best])
            best = i;
    }
    return best;
}

static void take_fastest(hand *h, const spry_schedule *pool, double *cost,
                         int size, int count)
{
    for (int i = 0; i < size; i++)
        cost[i] = -1;
    for (int i = 0; i < count; i++) {
        int best = fastest(h, pool, cost, size);

        if (cost[best] == HUGE_VAL)
            break;
        take(h, &pool[best]);
        cost[best] = HUGE_VAL;
    }
}

static void shuffle(spry_schedule *x, int n, sp_rng *r)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)sp_rng_below(r, (uint64_t)i + 1);
        spry_schedule t = x[i];

        x[i] = x[k];
        x[k] = t;
    }
}

/* The model's favourites, their neighbours, then as they come: mostly those
 * that all problems share. */
static void choose(hand *h, spry_schedule *pool, double *cost, int size,
                   int count)
{
    int from = h->list->count, failures = count / FAILURES;
    int own = SHARED, shared = 0;

    take_fastest(h, pool, cost, size, count / LIKED);
    take_neighbours(h, from, count / FAILURES);
    shuffle(pool, SHARED, &h->rng);
    while (!is_full(h) && (own < size || shared < SHARED)) {
        int mine = own < size && (shared == SHARED || (own + shared) % 4 == 0);
        const spry_schedule *x = &pool[mine ? own++ : shared++];

        if (!take(h, x) && failures > 0)
            failures -= take_failure(h, x);
    }
}

/* The first SHARED nests are the same for all problems of an operation, in
 * blocks of up to 32, so that their kernels are compiled but once; the others
 * are as WACO draws them for this matrix. */
static void fill_pool(spry_schedule *pool, int size, const hand *h)
{
    spry_space space = spry_space_of(&h->u->p->head, h->u->m->threads),
               few = space;

    for (int i = 0; i < SPRY_INDICES - 1; i++)
        few.splits[i] = few.splits[i] < BLOCKS ? few.splits[i] : BLOCKS;
    spry_space_sample(pool, SHARED, &few, SPRY_SAMPLE_WACO, 1);
    spry_space_sample(pool + SHARED, size - SHARED, &space, SPRY_SAMPLE_WACO,
                      h->u->seed);
}

static spry_status draw_supers(hand *h, int count)
{
    int size = SHARED + POOL * count;
    spry_schedule *pool = sp_alloc_raw(size + 1, sizeof *pool), fixed;
    double *cost = sp_alloc_raw(size + 1, sizeof *cost);
    char text[64];
    spry_status s = SPRY_OK;

    if (!pool || !cost)
        s = sp_fail_memory((size_t)size * (sizeof *pool + sizeof *cost));
    else {
        snprintf(text, sizeof text, "fixed-csr threads=%d", h->u->m->threads);
        if (spry_schedule_parse_for(&fixed, text, h->u->p->op) == SPRY_OK)
            take(h, &fixed);
        fill_pool(pool, size, h);
        choose(h, pool, cost, size, count);
    }
    sp_free(pool);
    sp_free(cost);
    return s;
}

spry_status sp_urn_draw(sp_schedule_list *l, const sp_schedule_list *known,
                        const sp_urn *u, int families, int supers)
{
    spry_schedule plain = spry_schedule_baseline(u->m->threads);
    hand h = {.list = l, .known = known, .u = u, .rng = sp_rng_seed(u->seed)};
    spry_status s;

    h.plain = predicted(u, &plain);
    h.dear = families / COMPILED;
    h.end = l->count + families;
    s = draw_families(&h, families);
    h.end = l->count + supers;
    if (s == SPRY_OK && supers > 0 && u->compile)
        s = draw_supers(&h, supers);
    return s;
}
