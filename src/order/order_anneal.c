/* order_anneal.c - simulated annealing: the best of the orders that are made
 * at once, and thousands of small changes that lower its I/O.
 *
 * After the connection reordering of Gleinig, Ben-Nun and Hoefler, 2023. A
 * move takes an edge, or a run of edges with the same source, to another
 * place nearby: to any, or next to an edge with the same source or target.
 * Moves that break the order are not tried. What a move costs is found by
 * running only the edges that feel it (replay.c). Costs are whole numbers and
 * local, so the temperature is below 1 from the beginning; much hotter, and
 * the order that it began with is lost for good. */
#include <math.h>
#include <string.h>

#include "order/replay.h"

enum { LOOK_EVERY = 64, COPIES = 64, FEWEST = 1024, REACH = 8 };
static const double HOT = 0.2, COLD = 0.05, REPORT_SECONDS = 0.1;

typedef struct {
    const spry_network *net;
    const spry_order_options *options;
    sp_fanout out;
    sp_replay replay;
    sp_rng chance;
    int32_t *edge;  /* [edges] the order being changed */
    int32_t *place; /* [edges] where each edge is */
    int32_t *spare; /* [edges] */
    int64_t *mark;  /* [neurons] the last move that looked at it */
    int32_t *best;  /* [edges] the best order so far, and its I/O */
    int64_t best_total;
    int64_t moves, reach;
    double begin, reported;
} annealing;

/* ---- changing the order ---- */

/* from .. middle - 1 and middle .. end - 1 change places. */
typedef struct {
    int64_t from, middle, end;
} swap;

static void apply(annealing *a, swap s)
{
    size_t first = (size_t)(s.middle - s.from);
    size_t second = (size_t)(s.end - s.middle);

    memcpy(a->spare, a->edge + s.from, first * sizeof *a->edge);
    memmove(a->edge + s.from, a->edge + s.middle, second * sizeof *a->edge);
    memcpy(a->edge + s.from + second, a->spare, first * sizeof *a->edge);
    for (int64_t i = s.from; i < s.end; i++)
        a->place[a->edge[i]] = (int32_t)i;
}

static swap inverse(swap s)
{
    return (swap){s.from, s.from + s.end - s.middle, s.end};
}

/* No edge may pass one that leads to its source. */
static int is_allowed(annealing *a, swap s)
{
    for (int64_t i = s.from; i < s.middle; i++)
        a->mark[a->out.target[a->edge[i]]] = a->moves;
    for (int64_t i = s.middle; i < s.end; i++)
        if (a->mark[a->net->source[a->edge[i]]] == a->moves)
            return 0;
    return 1;
}

/* ---- choosing a move ---- */

static int64_t any_below(annealing *a, int64_t n)
{
    return (int64_t)sp_rng_below(&a->chance, (uint64_t)n);
}

/* Where another edge with the same source or target is. */
static int64_t place_of_kin(annealing *a, int32_t k)
{
    int32_t u = a->net->source[k], v = a->out.target[k];
    int64_t first = a->net->start[v], count = a->net->start[v + 1] - first;

    if (any_below(a, 2))
        return a->place[first + any_below(a, count)];
    first = a->out.start[u];
    count = a->out.start[u + 1] - first;
    return a->place[a->out.edge[first + any_below(a, count)]];
}

static int64_t place_nearby(annealing *a, int64_t at)
{
    int64_t to = at - a->reach + any_below(a, 2 * a->reach + 1);

    return to < 0 ? 0 : to < a->net->edges ? to : a->net->edges - 1;
}

/* The run of edges with one source that lies around `at`. */
static void find_run(const annealing *a, int64_t at, int64_t *from,
                     int64_t *end)
{
    int32_t u = a->net->source[a->edge[at]];

    *from = at;
    *end = at + 1;
    while (*from > 0 && a->net->source[a->edge[*from - 1]] == u)
        --*from;
    while (*end < a->net->edges && a->net->source[a->edge[*end]] == u)
        ++*end;
}

/* 0 when the move leads nowhere, or too far. */
static int choose(annealing *a, swap *s)
{
    int64_t at = any_below(a, a->net->edges), from = at, end = at + 1, to;

    if (any_below(a, 2))
        find_run(a, at, &from, &end);
    to = any_below(a, 4) ? place_of_kin(a, a->edge[at]) : place_nearby(a, at);
    if (to >= from && to < end)
        return 0;
    *s = to < from ? (swap){to, from, end} : (swap){from, end, to + 1};
    return s->end - s->from <= 2 * a->reach && is_allowed(a, *s);
}

/* ---- annealing ---- */

/* How far we are: 0 .. 1. */
static double progress_of(const annealing *a)
{
    const spry_order_options *o = a->options;

    if (o->moves > 0)
        return (double)a->moves / (double)o->moves;
    return o->seconds > 0 ? (sp_seconds() - a->begin) / o->seconds : 1;
}

/* Worse by at most this is taken: with chance exp(-worse / temperature). */
static int64_t draw_most(annealing *a, double temperature)
{
    return (int64_t)(-temperature * log(1 - sp_rng_unit(&a->chance)));
}

static void move_once(annealing *a, double temperature)
{
    swap s;

    a->moves++;
    if (!choose(a, &s))
        return;
    apply(a, s);
    if (sp_replay_try(&a->replay, s.from, s.end, draw_most(a, temperature)) !=
        INT64_MAX) {
        sp_replay_keep(&a->replay);
        return;
    }
    apply(a, inverse(s));
    sp_replay_forget(&a->replay, s.from, s.end);
}

static void remember_if_best(annealing *a)
{
    if (a->replay.total >= a->best_total)
        return;
    a->best_total = a->replay.total;
    memcpy(a->best, a->edge, (size_t)a->net->edges * sizeof *a->best);
}

/* Is it time to end? */
static int is_stopped(annealing *a, double part)
{
    double now = sp_seconds();

    if (now - a->reported < REPORT_SECONDS)
        return 0;
    a->reported = now;
    return sp_order_progress(a->options, (int64_t)(part * 1000), 1000) !=
           SPRY_OK;
}

static void anneal_edges(annealing *a)
{
    int64_t copy_every = a->net->edges / COPIES;
    double part = 0, temperature = HOT;

    copy_every = copy_every > FEWEST ? copy_every : FEWEST;
    while (part < 1) {
        if (a->moves % LOOK_EVERY == 0 || a->moves == a->options->moves) {
            part = progress_of(a);
            temperature = HOT * pow(COLD / HOT, part);
            if (part >= 1 || is_stopped(a, part))
                break;
        }
        move_once(a, temperature);
        if (a->moves % copy_every == 0)
            remember_if_best(a);
    }
    remember_if_best(a);
}

/* ---- from a network to an order ---- */

static spry_status begin(annealing *a)
{
    const spry_network *n = a->net;
    spry_status s = sp_fanout_make(&a->out, n);

    if (s != SPRY_OK)
        return s;
    a->edge = sp_alloc_raw(n->edges, sizeof *a->edge);
    a->place = sp_alloc_raw(n->edges, sizeof *a->place);
    a->spare = sp_alloc_raw(n->edges, sizeof *a->spare);
    a->mark = sp_alloc(n->neurons, sizeof *a->mark);
    if (!a->edge || !a->place || !a->spare || !a->mark)
        return sp_fail_memory((size_t)n->edges * 12);
    memcpy(a->edge, a->best, (size_t)n->edges * sizeof *a->edge);
    for (int64_t i = 0; i < n->edges; i++)
        a->place[a->edge[i]] = (int32_t)i;
    return sp_replay_open(&a->replay, n, a->out.target, a->edge,
                          a->options->memory);
}

/* Into edge[] the best order to begin with. Moves lower blocks by more than
 * go, which must be better by a tenth. One that was stopped is passed over;
 * blocked cannot be. */
static spry_status find_start(int32_t *edge, int32_t *other,
                              const spry_network *n,
                              const spry_order_options *o)
{
    const struct {
        const sp_order *order;
        int64_t percent; /* of the best one's I/O, to replace it */
    } rest[] = {{&sp_order_clustered, 100}, {&sp_order_go, 90}};
    int64_t best, total;
    spry_status s = sp_order_blocked.make(edge, n, o);

    if (s == SPRY_OK)
        s = sp_order_count(&best, edge, n, o->memory);
    for (int i = 0; s == SPRY_OK && i < 2; i++) {
        s = rest[i].order->make(other, n, o);
        if (s == SPRY_OK)
            s = sp_order_count(&total, other, n, o->memory);
        if (s == SPRY_OK && total * 100 < best * rest[i].percent) {
            best = total;
            memcpy(edge, other, (size_t)n->edges * sizeof *edge);
        }
    }
    return s == SPRY_STOPPED ? SPRY_OK : s;
}

static spry_status start_at_best(int32_t *edge, const spry_network *n,
                                 const spry_order_options *o)
{
    int32_t *other = sp_alloc_raw(n->edges, sizeof *other);
    spry_status s = other ? find_start(edge, other, n, o)
                          : sp_fail_memory((size_t)n->edges * sizeof *other);

    sp_free(other);
    return s;
}

static spry_status anneal(int32_t *edge, const spry_network *n,
                          const spry_order_options *o)
{
    annealing a = {.net = n, .options = o, .best = edge};
    spry_status s = start_at_best(edge, n, o);

    if (s != SPRY_OK || n->edges < 2)
        return s;
    s = begin(&a);
    if (s == SPRY_OK) {
        a.chance = sp_rng_seed(o->seed);
        a.reach = REACH * a.replay.every;
        a.best_total = a.replay.total;
        a.begin = a.reported = sp_seconds();
        anneal_edges(&a);
    }
    sp_replay_close(&a.replay);
    sp_fanout_free(&a.out);
    sp_free(a.edge);
    sp_free(a.place);
    sp_free(a.spare);
    sp_free(a.mark);
    return s;
}

const sp_order sp_order_anneal = {
    "anneal", "the best of blocked, clustered and go, improved by moves",
    anneal};
