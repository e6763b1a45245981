/* super.c - how long a loop nest takes, from how often its loops turn.
 *
 * Storage is exact. Every loop is entered as often as the levels around it
 * have positions, so instructions and thread starts can be counted. Traffic
 * follows from footprints: what the loops inside a place touch, once it fits
 * a cache, is fetched once each time the place is reached. */
#include <math.h>

#include "model/internal.h"
#include "schedule/super.h"

/* Cycles: of a turn of a loop, and of an atomic addition. */
static const double turn = 3, atomic = 20;

typedef struct {
    const sp_ask *q;
    const sp_operation *d;
    const spry_super *s;
    sp_super_storage k;
    double starts[SPRY_LOOPS + 1]; /* times that a place is reached */
    double stored[SPRY_LOOPS + 1]; /* positions of A around it */
    double moved[SPRY_CACHES];     /* bytes from beyond each cache */
} nest;

/* ---- turns ---- */

static double dense_extent(const nest *w, int loop)
{
    double n = (double)w->q->p->n, size = ldexp(1, w->s->split[loop / 2]);

    if (!w->s->split[loop / 2])
        return n;
    return sp_loop_inner(loop) ? fmin(size, n) : ceil(n / size);
}

/* Positions of a level: those of the next array, or counted up. */
static void count_turns(nest *w)
{
    double stored = 1, dense = 1;
    int level = 0;

    w->starts[0] = w->stored[0] = 1;
    for (int q = 0; q < w->s->loops; q++) {
        int loop = w->s->order[q];

        if (!sp_is_sparse(w->d, sp_loop_index(loop)))
            dense *= dense_extent(w, loop);
        else {
            const sp_level *l = &w->k.levels.level[level];

            stored = l->dense ? stored * (double)l->extent
                              : (double)w->k.sizes.crd[level];
            level++;
        }
        w->starts[q + 1] = stored * dense;
        w->stored[q + 1] = stored;
    }
}

/* ---- footprints ---- */

/* How many values an index takes in the loops from a place on. */
static double reach(const nest *w, int index, int place)
{
    double reach = 1;

    for (int q = place; q < w->s->loops; q++) {
        int loop = w->s->order[q];

        if (sp_loop_index(loop) != index)
            continue;
        if (index == w->d->dense)
            reach *= dense_extent(w, loop);
        else if (sp_loop_inner(loop))
            reach *= (double)w->k.levels.size[index];
        else
            reach *= ceil((double)w->k.levels.dim[index] /
                          (double)w->k.levels.size[index]);
    }
    return reach;
}

/* Bytes of the dense operands and of A that the loops from a place on touch
 * in one go. Rows of an operand are no more than entries met. */
static double footprint(const nest *w, int place)
{
    const sp_sparse *p = w->q->p;
    double met = w->stored[w->s->loops] / w->stored[place], bytes = 0;
    double columns = w->d->dense >= 0 ? reach(w, w->d->dense, place) : 1;

    for (int i = 0; i < w->d->modes; i++)
        bytes += fmin(reach(w, w->d->sparse[i], place), met) * columns *
                 (double)p->type;
    if (sp_is_sampled(p->op))
        bytes += met * (double)p->type;
    return bytes + met * w->k.bytes / fmax(1, w->stored[w->s->loops]);
}

/* Bytes that come from beyond a cache with so much room. */
static double beyond(const nest *w, double room)
{
    int place = 0;

    while (place < w->s->loops && footprint(w, place) > room)
        place++;
    return footprint(w, place) * w->starts[place];
}

/* ---- seconds ---- */

/* The innermost loop runs in vectors when it walks through memory in order. */
static int in_vectors(const nest *w)
{
    int loop = w->s->order[w->s->loops - 1];

    return !sp_is_sparse(w->d, sp_loop_index(loop)) || w->s->dense >> loop & 1;
}

static int parallel_place(const nest *w)
{
    int q = 0;

    while (q < w->s->loops && w->s->order[q] + 1 != w->s->parallel)
        q++;
    return q;
}

/* Threads that share a reduction add atomically; all wait for the start of
 * a parallel loop each time it is reached. */
static double sharing_seconds(const nest *w, const sp_speeds *at)
{
    const sp_rates *r = &at->rates;
    int q = parallel_place(w), last = w->s->loops;
    double seconds, turns;

    if (!w->s->parallel)
        return 0;
    turns = w->starts[q + 1];
    seconds = w->starts[q] * r->fork;
    if (w->q->x->chunk)
        seconds += turns / w->q->x->chunk * at->core.chunk / r->cores;
    if (!sp_is_output(w->d, sp_loop_index(w->s->parallel - 1)) && q > 0)
        seconds += w->starts[last] * atomic * r->cycle;
    return seconds;
}

static double imbalance(const nest *w, double busy)
{
    double each;

    if (!w->s->parallel)
        return 0;
    each = w->starts[parallel_place(w) + 1] /
           fmax(1, w->starts[parallel_place(w)]);
    return busy * fmin(w->q->x->threads, 0.5 * fmax(1, w->q->x->chunk) *
                                             w->q->x->threads / fmax(1, each));
}

static void fill_terms(spry_prediction *out, const nest *w, const sp_speeds *at)
{
    const sp_rates *r = &at->rates;
    double turns = 0, steps, busy;

    for (int i = 0; i < w->s->loops; i++)
        turns += w->starts[i];
    steps = w->starts[w->s->loops] / (in_vectors(w) ? w->q->lanes : 0.5);
    out->bandwidth = 0;
    for (int i = 0; i < SPRY_CACHES; i++)
        out->bandwidth += w->moved[i] / r->bandwidth[i + 1];
    out->compute = steps * r->cycle / r->cores;
    out->overhead = turns * turn * r->cycle / r->cores + sharing_seconds(w, at);
    busy = fmax(out->compute, out->bandwidth);
    out->imbalance = imbalance(w, busy);
    out->seconds = busy + out->overhead + out->imbalance;
}

spry_status sp_model_super(spry_prediction *out, const sp_ask *q,
                           const sp_speeds *at, int times)
{
    nest w = {.q = q, .d = sp_operation_of(q->p->op), .s = &q->x->super};
    spry_status s = sp_super_store(&w.k, q->x, q->p);

    if (s != SPRY_OK)
        return s;
    count_turns(&w);
    for (int i = 0; i < SPRY_CACHES; i++)
        w.moved[i] = beyond(&w, at->rates.room[i]);
    for (int i = 0; i < times; i++)
        fill_terms(&out[i], &w, &at[i]);
    out->bytes = w.k.bytes;
    out->traffic = w.moved[SPRY_CACHES - 1];
    out->pack_seconds = (double)q->t->nnz * 60 * at->rates.cycle +
                        2 * w.k.bytes / at->rates.store;
    return SPRY_OK;
}
