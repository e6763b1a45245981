/* sample.c - nests by chance: any legal one, or as WACO draws them. */
#include "spry/space.h"

#include <math.h>

#include "schedule/super.h"

enum { DENSE_SPLITS = 8, NARROW = 3, CHUNKS = 9 };

static int below(sp_rng *r, int n)
{
    return (int)sp_rng_below(r, (uint64_t)n);
}

static int splits_at(const spry_space *s, int i)
{
    return i < sp_operation_of(s->op)->modes ? s->splits[i] : DENSE_SPLITS;
}

/* Swap so that blocks come before their inside. Applied to a random order of
 * the loops, every legal order is as likely as the others. */
static void put_blocks_first(spry_super *s)
{
    int place[SPRY_LOOPS] = {0};

    for (int q = 0; q < s->loops; q++)
        place[s->order[q]] = q;
    for (int i = 0; i < SPRY_INDICES; i++)
        if (s->split[i] && place[2 * i] > place[2 * i + 1]) {
            s->order[place[2 * i]] = (uint8_t)(2 * i + 1);
            s->order[place[2 * i + 1]] = (uint8_t)(2 * i);
        }
}

static void shuffle(uint8_t *a, int n, sp_rng *r)
{
    for (int i = n - 1; i > 0; i--) {
        int j = below(r, i + 1);
        uint8_t t = a[i];

        a[i] = a[j];
        a[j] = t;
    }
}

/* Every loop that the splits ask for, in random legal order. */
static void draw_order(spry_super *s, const sp_operation *d, sp_rng *r)
{
    s->loops = 0;
    for (int i = 0; i < SPRY_LOOPS; i++)
        s->order[i] = 0;
    for (int i = 0, index; (index = sp_index_at(d, i)) >= 0; i++)
        for (int inner = 0; inner < (s->split[index] > 0 ? 2 : 1); inner++)
            s->order[s->loops++] = (uint8_t)(2 * index + inner);
    shuffle(s->order, s->loops, r);
    put_blocks_first(s);
}

static void draw_formats(spry_super *s, const sp_operation *d, sp_rng *r)
{
    s->dense = 0;
    for (int q = 0; q < s->loops; q++)
        if (sp_is_sparse(d, sp_loop_index(s->order[q])))
            s->dense |= (uint16_t)(below(r, 2) << s->order[q]);
}

/* ---- all legal nests ---- */

/* Ways to share one of `loops` loops: serial, or any loop on any number of
 * threads in static shares or in chunks. */
static int sharings(const spry_space *s, int loops)
{
    return 1 + (s->threads - 1) * loops * (1 + CHUNKS);
}

/* How many points have exactly the indices in `set` split. */
static double weigh(const spry_space *s, unsigned set)
{
    const sp_operation *d = sp_operation_of(s->op);
    double points = 1;
    int loops = 0;

    for (int i = 0, index; (index = sp_index_at(d, i)) >= 0; i++) {
        int split = set >> i & 1;

        points *= split ? splits_at(s, i) - 1 : 1;
        points *= split ? 0.5 : 1; /* half of the orders have blocks first */
        points *= sp_is_sparse(d, index) ? (split ? 4 : 2) : 1;
        loops += 1 + split;
    }
    return points * tgamma(loops + 1) * sharings(s, loops);
}

static unsigned draw_set(const spry_space *s, sp_rng *r)
{
    const sp_operation *d = sp_operation_of(s->op);
    unsigned sets = 1u << (d->modes + (d->dense >= 0)), set = 0;
    double sum = 0, at;

    for (unsigned i = 0; i < sets; i++)
        sum += weigh(s, i);
    at = sp_rng_unit(r) * sum;
    while (set + 1 < sets && (at -= weigh(s, set)) >= 0)
        set++;
    return set;
}

static void draw_sharing(spry_schedule *x, const spry_space *s, sp_rng *r)
{
    int way = below(r, sharings(s, x->super.loops)) - 1, chunk;

    if (way < 0)
        return;
    chunk = way % (1 + CHUNKS);
    x->chunk = chunk ? 1 << (chunk - 1) : 0;
    way /= 1 + CHUNKS;
    x->super.parallel = (uint8_t)(1 + x->super.order[way % x->super.loops]);
    x->threads = 2 + way / x->super.loops;
}

static spry_schedule draw_any(const spry_space *s, sp_rng *r)
{
    const sp_operation *d = sp_operation_of(s->op);
    spry_schedule x = sp_schedule_default(SPRY_SUPER);
    unsigned set = draw_set(s, r);

    for (int i = 0, index; (index = sp_index_at(d, i)) >= 0; i++)
        if (set >> i & 1)
            x.super.split[index] = (uint8_t)(1 + below(r, splits_at(s, i) - 1));
    draw_order(&x.super, d, r);
    draw_formats(&x.super, d, r);
    draw_sharing(&x, s, r);
    return x;
}

/* ---- as WACO draws ---- */

/* Move a loop to the end, the others closing up. */
static void to_end(spry_super *s, int loop)
{
    int kept = 0;

    for (int q = 0; q < s->loops; q++)
        if (s->order[q] != loop)
            s->order[kept++] = s->order[q];
    if (kept < s->loops)
        s->order[kept] = (uint8_t)loop;
}

static int place_of(const spry_super *s, int loop)
{
    int q = 0;

    while (q < s->loops && s->order[q] != loop)
        q++;
    return q;
}

/* A random order that obeys WACO's rules; all loops are there, also inside
 * indices that are not split. */
static void draw_waco_order(spry_super *s, const sp_operation *d, sp_rng *r)
{
    int dense = d->dense, late = dense >= 0 && d->sparse[1] != SP_J;

    do {
        draw_order(s, d, r);
        if (dense >= 0 && s->split[dense] <= NARROW)
            to_end(s, 2 * dense);
        if (dense >= 0)
            to_end(s, 2 * dense + 1);
    } while (late && place_of(s, 2 * dense) < place_of(s, 2 * SP_I));
}

/* i1 k1 j1 i0 k0 j0; of sddmm either sparse index may lead, in the blocks and
 * inside them. Blocks are stored whole. */
static void draw_blocked(spry_super *s, const sp_operation *d, sp_rng *r)
{
    int swap_outer = d->sparse[1] == SP_J && below(r, 2);
    int swap_inner = d->sparse[1] == SP_J && below(r, 2), n = 0;

    for (int inner = 0; inner < 2; inner++) {
        int swapped = inner ? swap_inner : swap_outer;

        for (int i = 0; i < d->modes; i++) {
            int which = swapped ? d->modes - 1 - i : i;

            s->order[n++] = (uint8_t)(2 * d->sparse[which] + inner);
        }
        s->order[n++] = (uint8_t)(2 * d->dense + inner);
    }
    s->dense = 0;
    for (int i = 0; i < d->modes; i++) {
        int free = i == 0 || d->sparse[1] == SP_J;

        s->dense |= (uint16_t)(2u << (2 * d->sparse[i]));
        if (free)
            s->dense |= (uint16_t)(below(r, 2) << (2 * d->sparse[i]));
    }
}

static int all_dense(const spry_super *s, const sp_operation *d)
{
    unsigned all = 0;

    for (int i = 0; i < d->modes; i++)
        all |= 3u << (2 * d->sparse[i]);
    return s->dense == all;
}

/* The first of WACO's parallel candidates in the order. */
static uint8_t first_parallel(const spry_super *s, const sp_operation *d)
{
    int i = place_of(s, 2 * SP_I), j = place_of(s, 2 * SP_J);

    return (uint8_t)(1 + 2 * (d->sparse[1] == SP_J && j < i ? SP_J : SP_I));
}

static spry_schedule draw_waco(const spry_space *s, int blocked, sp_rng *r)
{
    const sp_operation *d = sp_operation_of(s->op);
    spry_schedule x = sp_schedule_default(SPRY_SUPER);

    for (int i = 0, index; (index = sp_index_at(d, i)) >= 0; i++)
        x.super.split[index] = (uint8_t)(1 + below(r, splits_at(s, i)));
    draw_waco_order(&x.super, d, r);
    do
        if (blocked)
            draw_blocked(&x.super, d, r);
        else
            draw_formats(&x.super, d, r);
    while (d->sampled && all_dense(&x.super, d));
    for (int i = 0, index; (index = sp_index_at(d, i)) >= 0; i++)
        x.super.split[index]--; /* until here, all of them were split */
    x.threads = s->threads;
    if (s->threads > 1) {
        x.super.parallel = first_parallel(&x.super, d);
        x.chunk = 1 << below(r, d->chunks);
    }
    sp_super_settle(&x.super);
    return x;
}

/* Which of a hundred points are drawn in blocks. */
static int is_blocked(spry_op op, int64_t i)
{
    if (!sp_has_columns(op))
        return 0;
    return sp_is_sampled(op) ? i % 100 >= 32 : i % 100 < 32;
}

void spry_space_sample(spry_schedule *out, int64_t count, const spry_space *s,
                       spry_sample how, uint64_t seed)
{
    SP_NEED_OR(, out, s);
    if (how != SPRY_SAMPLE_ALL && how != SPRY_SAMPLE_WACO) {
        (void)sp_fail(SPRY_USAGE, "%d is no way to sample", (int)how);
        return;
    }

    sp_rng r = sp_rng_seed(seed);

    for (int64_t i = 0; i < count; i++) {
        out[i] = how == SPRY_SAMPLE_ALL
                     ? draw_any(s, &r)
                     : draw_waco(s, is_blocked(s->op, i), &r);
        SP_ASSERT(!sp_super_fault(&out[i], s->op));
    }
}
