/* space.c - WACO's space, every point once.
 *
 * WACO's generators also write the inner loop and the format of an index
 * that is not split, and ignore them: those lines are one point. Here only
 * loops that exist are ordered and only levels that exist have a format, so
 * no point comes twice. */
#include "spry/space.h"

#include <string.h>

#include "schedule/super.h"

enum { DENSE_SPLITS = 8, ORDERS = 512, NARROW = 3 };

/* What all points with the same indices split have in common. */
typedef struct {
    const sp_operation *d;
    spry_super s; /* splits set, the rest being built */
    uint8_t order[ORDERS][SPRY_LOOPS];
    int orders;
} corner;

/* ---- orders ---- */

/* May `loop` stand at `place` behind the loops in `seen`? */
static int may_stand(const corner *c, int loop, int place, unsigned seen)
{
    const sp_operation *d = c->d;
    int inner = sp_loop_inner(loop), index = sp_loop_index(loop);
    int last = place + 1 == c->s.loops;

    if (seen >> loop & 1 || (inner && !(seen >> (loop - 1) & 1)))
        return 0;
    if (index != d->dense)
        return 1;
    if (inner || !c->s.split[index])
        return last;
    if (c->s.split[index] < NARROW)
        return place + 2 == c->s.loops;
    return d->sparse[1] == SP_J || seen >> (2 * SP_I) & 1;
}

/* The loops of the indices as they are split, in no order yet. */
static unsigned loops_of(corner *c)
{
    unsigned set = 0;

    for (int i = 0; i <= c->d->modes; i++) {
        int index = sp_index_at(c->d, i);

        if (index >= 0)
            set |= (c->s.split[index] ? 3u : 1u) << (2 * index);
    }
    c->s.loops = (uint8_t)__builtin_popcount(set);
    return set;
}

static void add_orders(corner *c, unsigned set, unsigned seen, int place)
{
    if (place == c->s.loops) {
        memcpy(c->order[c->orders++], c->s.order, SPRY_LOOPS);
        return;
    }
    for (int loop = 0; loop < SPRY_LOOPS; loop++)
        if (set >> loop & 1 && may_stand(c, loop, place, seen)) {
            c->s.order[place] = (uint8_t)loop;
            add_orders(c, set, seen | 1u << loop, place + 1);
        }
}

static void find_orders(corner *c)
{
    unsigned set = loops_of(c);

    c->orders = 0;
    memset(c->s.order, 0, sizeof c->s.order);
    add_orders(c, set, 0, 0);
}

/* ---- formats ---- */

static int levels_of(const corner *c)
{
    int dense = c->d->dense;

    return c->s.loops - (dense < 0 ? 0 : 1 + (c->s.split[dense] > 0));
}

/* sddmm's generator never writes 1 1 1 1; with an index that is not split,
 * other bits mean the same. */
static int formats_of(const corner *c)
{
    int levels = levels_of(c), sampled = c->d->sparse[1] == SP_J;

    return (1 << levels) - (sampled && levels == 2 * c->d->modes);
}

/* Bit b of `format` belongs to the b-th loop of the sparse indices. */
static uint16_t dense_bits(const corner *c, int format)
{
    unsigned dense = 0;
    int bit = 0;

    for (int i = 0; i < c->d->modes; i++) {
        int index = c->d->sparse[i];

        dense |= (unsigned)(format >> bit++ & 1) << (2 * index);
        if (c->s.split[index])
            dense |= (unsigned)(format >> bit++ & 1) << (2 * index + 1);
    }
    return (uint16_t)dense;
}

/* ---- the walk ---- */

static int chunks_of(const spry_space *s)
{
    if (s->threads == 1)
        return 1;
    return sp_operation_of(s->op)->chunks;
}

/* i, or for sddmm whichever of its sparse indices comes first. */
static uint8_t parallel_of(const sp_operation *d, const spry_super *s)
{
    int q = 0;

    if (d->sparse[1] == SP_J)
        while (!sp_is_sparse(d, sp_loop_index(s->order[q])))
            q++;
    else
        while (s->order[q] != 2 * SP_I)
            q++;
    return (uint8_t)(s->order[q] + 1);
}

typedef struct {
    const spry_space *s;
    spry_visit *visit;
    void *payload;
} walk;

static int visit_chunks(const walk *w, const corner *c)
{
    spry_schedule x = sp_schedule_default(SPRY_SUPER);
    int stop = 0;

    x.super = c->s;
    x.threads = w->s->threads;
    x.super.parallel = w->s->threads > 1 ? parallel_of(c->d, &c->s) : 0;
    for (int i = 0; !stop && i < chunks_of(w->s); i++) {
        x.chunk = w->s->threads > 1 ? 1 << i : 0;
        stop = w->visit(&x, w->payload);
    }
    return stop;
}

static int visit_corner(const walk *w, corner *c)
{
    int stop = 0;

    find_orders(c);
    for (int o = 0; o < c->orders; o++)
        for (int f = 0; !stop && f < formats_of(c); f++) {
            memcpy(c->s.order, c->order[o], SPRY_LOOPS);
            c->s.dense = dense_bits(c, f);
            stop = visit_chunks(w, c);
        }
    return stop;
}

/* Choose the split of the i-th index and of all after it. */
static int visit_splits(const walk *w, corner *c, int i)
{
    int dense = i == c->d->modes, stop = 0;
    int index = sp_index_at(c->d, i);
    int many;

    if (index < 0)
        return visit_corner(w, c);
    many = dense ? DENSE_SPLITS : w->s->splits[i];
    for (int split = 0; !stop && split < many; split++) {
        c->s.split[index] = (uint8_t)split;
        stop = visit_splits(w, c, i + 1);
    }
    return stop;
}

void spry_space_each(const spry_space *s, spry_visit *visit, void *payload)
{
    SP_NEED_OR(, s);

    walk w = {s, visit, payload};
    corner c = {.d = sp_operation_of(s->op)};

    visit_splits(&w, &c, 0);
}

/* ---- how many ---- */

/* Only whether an index is split matters, and whether dense blocks are
 * narrow: each such corner is counted once and weighed. */
static int64_t count_splits(const spry_space *s, corner *c, int i)
{
    int dense = i == c->d->modes;
    int index = sp_index_at(c->d, i);
    int64_t sum;

    if (index < 0) {
        find_orders(c);
        return (int64_t)c->orders * formats_of(c);
    }
    c->s.split[index] = 0;
    sum = count_splits(s, c, i + 1);
    c->s.split[index] = 1;
    if (!dense)
        return sum + (s->splits[i] - 1) * count_splits(s, c, i + 1);
    sum += (NARROW - 1) * count_splits(s, c, i + 1);
    c->s.split[index] = NARROW;
    return sum + (DENSE_SPLITS - NARROW) * count_splits(s, c, i + 1);
}

int64_t spry_space_count(const spry_space *s)
{
    SP_NEED_OR(0, s);

    corner c = {.d = sp_operation_of(s->op)};

    return count_splits(s, &c, 0) * chunks_of(s);
}

spry_space spry_space_of(const spry_problem *problem, int threads)
{
    SP_NEED_OR((spry_space){0}, problem);
    enum { MOST = 17 };
    const sp_sparse *p = sp_sparse_of(problem);
    const sp_operation *d = p ? sp_operation_of(p->op) : NULL;
    spry_space s = {.op = spry_problem_op(problem), .threads = threads};
    int64_t dim[SPRY_INDICES];

    if (!p)
        return (spry_space){.threads = threads};
    sp_dims_of(dim, p);
    for (int i = 0; i < d->modes; i++) {
        int64_t length = dim[d->sparse[i]];
        int bits = length > 3 ? 63 - __builtin_clzll((uint64_t)length) : 1;

        s.splits[i] = bits < MOST ? bits : MOST;
    }
    return s;
}

spry_status spry_space_storage(spry_storage *out, const spry_schedule *x,
                               const spry_problem *problem)
{
    SP_NEED(out, x, problem);
    SP_ROOM(out);

    spry_storage whole = {.levels = 0};
    sp_super_storage k;
    const sp_sparse *p;
    spry_status s = sp_sparse_need(&p, problem);

    if (s != SPRY_OK)
        return s;
    if (x->format != SPRY_SUPER || sp_super_fault(x, p->op))
        return sp_fail(SPRY_USAGE, "not a super schedule for %s",
                       spry_op_name(p->op));
    s = sp_super_store(&k, x, p);
    whole.levels = k.levels.count;
    for (int l = 0; l < k.levels.count; l++) {
        sp_loop_name(whole.name[l], &x->super, k.levels.level[l].loop);
        whole.pos[l] = k.sizes.pos[l];
        whole.crd[l] = k.sizes.crd[l];
    }
    whole.values = k.sizes.values;
    whole.index = k.index;
    whole.bytes = k.bytes;
    SP_GIVE(out, &whole);
    return s;
}
