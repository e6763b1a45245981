/* keep.c - the shortlist: the best few, unlike each other. */
#include "search/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/super.h"

/* A format this much slower than the best may still win when measured. */
static const double plausible = 2.5;

enum { FIRST_SIZE = 256 };

spry_status sp_keep_open(sp_keep *k)
{
    *k = (sp_keep){.size = FIRST_SIZE};
    k->table = sp_alloc(k->size, sizeof *k->table);
    return k->table ? SPRY_OK
                    : sp_fail_memory((size_t)k->size * sizeof *k->table);
}

void sp_keep_close(sp_keep *k)
{
    sp_free(k->table);
    *k = (sp_keep){0};
}

/* Nests differ in all but their sharing. */
static uint64_t kind_of_nest(const spry_super *n)
{
    sp_hash h = sp_hash_begin();

    sp_hash_add(&h, n->order, sizeof n->order);
    sp_hash_add(&h, n->split, sizeof n->split);
    sp_hash_add(&h, &n->dense, sizeof n->dense);
    sp_hash_add(&h, &n->parallel, sizeof n->parallel);
    return h.a | 1;
}

/* What makes two schedules different in kind, as one number, never 0. */
uint64_t sp_kind_of(const spry_schedule *x)
{
    const int32_t part[] = {
        x->format,     x->tile,          x->r,         x->c,
        x->slice,      x->gather,        x->order,     x->stream,
        x->panel != 0, x->prefetch != 0, x->pass != 0, x->threads > 1,
        x->modes,      x->palette,       x->copy,      x->symmetric,
    };
    uint64_t kind = 1;

    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        kind = kind * 29 + (uint64_t)part[i];
    return x->format == SPRY_SUPER ? kind_of_nest(&x->super) : kind;
}

static sp_keep_slot *find_kind(const sp_keep *k, uint64_t kind)
{
    uint64_t mask = (uint64_t)k->size - 1;
    uint64_t at = (kind * 0x9e3779b97f4a7c15u) >> 32 & mask;

    while (k->table[at].kind && k->table[at].kind != kind)
        at = (at + 1) & mask;
    return &k->table[at];
}

/* Double the table. */
static spry_status grow(sp_keep *k)
{
    sp_keep larger = {.size = 2 * k->size, .kinds = k->kinds};

    larger.table = sp_alloc(larger.size, sizeof *larger.table);
    if (!larger.table)
        return sp_fail_memory((size_t)larger.size * sizeof *larger.table);
    for (int64_t i = 0; i < k->size; i++)
        if (k->table[i].kind)
            *find_kind(&larger, k->table[i].kind) = k->table[i];
    sp_free(k->table);
    *k = larger;
    return SPRY_OK;
}

static int compare(const void *a, const void *b)
{
    const sp_candidate *x = a, *y = b;

    if (x->predicted != y->predicted)
        return x->predicted < y->predicted ? -1 : 1;
    return memcmp(&x->x, &y->x, sizeof x->x);
}

void sp_sort_candidates(sp_candidate *c, int64_t n)
{
    if (n > 1)
        qsort(c, (size_t)n, sizeof *c, compare);
}

spry_status sp_keep_add(sp_keep *k, const spry_schedule *x, double predicted)
{
    sp_candidate new = {*x, predicted};
    spry_status s = SPRY_OK;
    sp_keep_slot *g;

    if (!(predicted < HUGE_VAL))
        return SPRY_OK;
    if (2 * (k->kinds + 1) > k->size && (s = grow(k)) != SPRY_OK)
        return s;
    g = find_kind(k, sp_kind_of(x));
    if (!g->kind || compare(&new, &g->best) < 0)
        g->best = new;
    k->kinds += !g->kind;
    g->kind = sp_kind_of(x);
    return SPRY_OK;
}

/* ---- quotas ----
 *
 * The score knows least about what depends on the pattern's finer structure.
 * Whether a row order or a panel helps is seen after a few tries; the rest
 * of the places go to others. */

typedef struct {
    int32_t least, most; /* values of the field that share the quota */
    size_t field;
    double share; /* of all places, but at least one */
} quota;

#define FIELD(name) offsetof(spry_schedule, name)
static const quota quotas[] = {
    {SPRY_ORDER_LENGTH, SPRY_ORDER_LENGTH, FIELD(order), 0.04},
    {SPRY_ORDER_RCM, SPRY_ORDER_RCM, FIELD(order), 0.04},
    {SPRY_ORDER_CLUSTER, SPRY_ORDER_CLUSTER, FIELD(order), 0.04},
    {1, INT32_MAX, FIELD(pass), 0.25},
    {1, INT32_MAX, FIELD(panel), 0.34},
};
enum { QUOTAS = sizeof quotas / sizeof quotas[0] };

static int counts(const quota *q, const sp_candidate *c)
{
    int32_t value;

    memcpy(&value, (const char *)&c->x + q->field, sizeof value);
    return value >= q->least && value <= q->most;
}

/* Is there room for c? Then it takes its places. */
static int admit(int taken[QUOTAS], const sp_candidate *c, int most)
{
    for (int i = 0; i < QUOTAS; i++)
        if (counts(&quotas[i], c) &&
            taken[i] >= fmax(1, quotas[i].share * most))
            return 0;
    for (int i = 0; i < QUOTAS; i++)
        taken[i] += counts(&quotas[i], c);
    return 1;
}

/* Who is admitted first, in order; then the others, in order. */
static spry_status seat(sp_candidate *all, int64_t n, int most)
{
    sp_candidate *late = sp_alloc_raw(n + 1, sizeof *late);
    int taken[QUOTAS] = {0};
    int64_t in = 0, out = 0;

    if (!late)
        return sp_fail_memory((size_t)n * sizeof *late);
    for (int64_t i = 0; i < n; i++)
        if (admit(taken, &all[i], most))
            all[in++] = all[i];
        else
            late[out++] = all[i];
    memcpy(all + in, late, (size_t)out * sizeof *late);
    sp_free(late);
    return SPRY_OK;
}

/* A format, serial or threaded: what should be tried at least once. */
enum { CAMPS = 32 };

static int camp_of(const sp_candidate *c)
{
    return (2 * c->x.format + (c->x.threads > 1)) % CAMPS;
}

/* Move the best of every plausible camp into the first `most` places, in
 * exchange for the last there of a camp that has more. */
static void place_camps(sp_candidate *all, int64_t n, int most)
{
    int members[CAMPS] = {0};

    for (int i = 0; i < most; i++)
        members[camp_of(&all[i])]++;
    for (int64_t i = most; i < n; i++) {
        int at = most - 1;
        sp_candidate swap = all[i];

        if (all[i].predicted > plausible * all[0].predicted)
            continue;
        if (members[camp_of(&all[i])])
            continue;
        while (at > 0 && members[camp_of(&all[at])] < 2)
            at--;
        if (at == 0)
            return;
        members[camp_of(&all[at])]--;
        members[camp_of(&all[i])]++;
        all[i] = all[at];
        all[at] = swap;
    }
}

/* Drop nests that cannot be stored from a sorted list, which their score may
 * not have known, and those behind the best few unseen. */
static int64_t drop_infeasible(sp_candidate *all, int64_t n, int most,
                               const sp_sparse *p)
{
    int64_t kept = 0, nests = 0;

    for (int64_t i = 0; i < n; i++) {
        int nest = all[i].x.format == SPRY_SUPER;

        if (nest && (nests == 4 * (int64_t)most || !sp_nest_fits(&all[i].x, p)))
            continue;
        nests += nest;
        all[kept++] = all[i];
    }
    return kept;
}

int sp_nest_fits(const spry_schedule *x, const sp_sparse *p)
{
    sp_super_storage k;

    return x->format != SPRY_SUPER || sp_super_store(&k, x, p) == SPRY_OK;
}

spry_status sp_keep_best(sp_candidate *out, int *count, int most,
                         const sp_keep *k, const sp_sparse *p)
{
    sp_candidate *all = sp_alloc_raw(k->kinds + 1, sizeof *all);
    int64_t n = 0;
    spry_status s = SPRY_OK;

    *count = 0;
    if (!all)
        return sp_fail_memory((size_t)k->kinds * sizeof *all);
    for (int64_t i = 0; i < k->size; i++)
        if (k->table[i].kind)
            all[n++] = k->table[i].best;
    sp_sort_candidates(all, n);
    n = drop_infeasible(all, n, most, p);
    if (n > most && most > 0) {
        s = seat(all, n, most);
        place_camps(all, n, most);
    }
    *count = s != SPRY_OK ? 0 : n < most ? (int)n : most;
    sp_sort_candidates(all, *count);
    if (*count > 0)
        memcpy(out, all, (size_t)*count * sizeof *out);
    sp_free(all);
    return s;
}
