/* runs.c - places whose entries are evenly spaced, of one triangle.
 *
 * Along a diagonal the entries, and those in their mirror places, are mostly a
 * row's length apart. A list of such runs takes a fraction of a list of places,
 * and they can come in the order of the entries: then values are read front to
 * back, where a whole diagonal of a block would ask for a line of the cache per
 * value. They are read once: whether they are symmetric is known in the end
 * only, so they go to memory of their own, which then takes the place of the
 * packed ones. */
#include <stdlib.h>
#include <string.h>

#include "pack/internal.h"

enum {
    LONGEST = 32, /* so that all diagonals of these rows stay in a cache */
    PIECE = 256   /* runs that a thread takes at a time */
};

typedef struct {
    int64_t place, entry, mirror; /* of the first, */
    int64_t step, mirror_step;    /* from one to the next */
    int64_t count;
} run;

struct sp_runs {
    void *spare; /* as large as the packed values, and 0 where they are */
    int64_t count;
    run run[];
};

/* ---- finding them ---- */

/* What the packer was asked to pack: at each place 1 + an entry, 0: padding. */
typedef struct {
    const double *number;
    int64_t count;
    const int64_t *mirror; /* by entry */
} places;

static int64_t entry_at(const places *p, int64_t k)
{
    return (int64_t)p->number[k] - 1;
}

/* Does the next place go on as the run began? The second says how. */
static int goes_on(run *r, const places *p)
{
    int64_t k = r->place + r->count, e;

    if (r->count == LONGEST || k == p->count || p->number[k] == 0)
        return 0;
    e = entry_at(p, k);
    if (r->count == 1) {
        r->step = e - r->entry;
        r->mirror_step = p->mirror[e] - r->mirror;
    }
    return e == r->entry + r->count * r->step &&
           p->mirror[e] == r->mirror + r->count * r->mirror_step;
}

/* Into out[], unless it is NULL; returns how many. */
static int64_t find(run *out, const places *p)
{
    int64_t found = 0;

    for (int64_t k = 0; k < p->count;) {
        run r = {.place = k, .count = 1};

        if (p->number[k] > 0) {
            r.entry = entry_at(p, k);
            r.mirror = p->mirror[r.entry];
            while (goes_on(&r, p))
                r.count++;
            if (out)
                out[found] = r;
            found++;
        }
        k += r.count;
    }
    return found;
}

static int by_entry(const void *a, const void *b)
{
    int64_t x = ((const run *)a)->entry, y = ((const run *)b)->entry;

    return (x > y) - (x < y);
}

static spry_status list_runs(sp_runs **out, const places *p)
{
    int64_t count = find(NULL, p);
    size_t bytes = sizeof **out + (size_t)count * sizeof(run);

    *out = sp_alloc(1, bytes);
    if (!*out)
        return sp_fail_memory(bytes);
    (*out)->count = find((*out)->run, p);
    qsort((*out)->run, (size_t)count, sizeof(run), by_entry);
    return SPRY_OK;
}

/* mirror[]: entries as whoever brings values counts them. */
static spry_status find_mirrors(int64_t *mirror, int64_t *twin,
                                const sp_sparse *p)
{
    spry_status s = sp_matrix_twins(twin, p->A);

    for (int64_t e = 0; s == SPRY_OK && e < p->A->nnz; e++)
        mirror[p->order ? p->order[e] : e] =
            p->order ? p->order[twin[e]] : twin[e];
    return s;
}

static spry_status room_for_values(sp_runs *w, int64_t count, spry_type type)
{
    w->spare = sp_alloc(count, type);
    return w->spare ? SPRY_OK : sp_fail_memory((size_t)count * type);
}

spry_status sp_runs_make(sp_runs **out, const sp_sparse *p,
                         const sp_packed *numbers)
{
    const sp_part *q = numbers->part;
    int64_t nnz = p->A->nnz;
    int64_t *twin = sp_alloc_raw(nnz, sizeof *twin);
    int64_t *mirror = sp_alloc_raw(nnz, sizeof *mirror);
    spry_status s;

    *out = NULL;
    if (!twin || !mirror)
        s = sp_fail_memory((size_t)nnz * 16);
    else
        s = find_mirrors(mirror, twin, p);
    if (s == SPRY_OK)
        s = list_runs(out, &(places){q->val, q->values, mirror});
    if (s == SPRY_OK)
        s = room_for_values(*out, q->values + numbers->spare, p->type);
    sp_free(twin);
    sp_free(mirror);
    return s;
}

void sp_runs_free(sp_runs *w)
{
    if (!w)
        return;
    sp_free(w->spare);
    sp_free(w);
}

/* ---- values ---- */

/* Have mirror places one value each? Their bits nearly always say so, and are
 * compared without a question for each; 0 and -0 are one value, too. */
#define SAME(name, Value, Bits)                                       \
    static int name(const void *in, const run *r)                     \
    {                                                                 \
        const Value *value = (const Value *)in + r->entry;            \
        const Value *other = (const Value *)in + r->mirror;           \
        int64_t step = r->step, mirror_step = r->mirror_step;         \
        Bits a, b, differ = 0;                                        \
        int same = 1;                                                 \
                                                                      \
        for (int64_t i = 0; i < r->count; i++) {                      \
            memcpy(&a, value + i * step, sizeof a);                   \
            memcpy(&b, other + i * mirror_step, sizeof b);            \
            differ |= a ^ b;                                          \
        }                                                             \
        for (int64_t i = 0; differ && i < r->count; i++)              \
            same &= value[i * step] == other[i * mirror_step] ||      \
                    memcmp(value + i * step, other + i * mirror_step, \
                           sizeof a) == 0;                            \
        return same;                                                  \
    }

SAME(same_f32, float, uint32_t)
SAME(same_f64, double, uint64_t)

#define PUT(name, To, From)                                       \
    static void name(void *out, const void *in, const run *r)     \
    {                                                             \
        To *restrict val = (To *)out + r->place;                  \
        const From *restrict value = (const From *)in + r->entry; \
        int64_t step = r->step;                                   \
                                                                  \
        for (int64_t i = 0; i < r->count; i++)                    \
            val[i] = (To)value[i * step];                         \
    }

PUT(f32_f32, float, float)
PUT(f32_f64, float, double)
PUT(f64_f32, double, float)
PUT(f64_f64, double, double)

int sp_runs_put(sp_part *q, sp_runs *w, const sp_sparse *p, const void *value,
                int threads)
{
    typedef void putter(void *out, const void *in, const run *r);
    static putter *const all[2][2] = {{f32_f32, f32_f64}, {f64_f32, f64_f64}};
    int f64 = p->A->type == SPRY_F64, found = 1;
    putter *put = all[p->type == SPRY_F64][f64];
    void *packed = q->val;

#pragma omp parallel for num_threads(threads) schedule(static, PIECE) \
    reduction(& : found) if (threads > 1)
    for (int64_t i = 0; i < w->count; i++) {
        if (w->run[i].entry != w->run[i].mirror) /* else the main diagonal's */
            found &= (f64 ? same_f64 : same_f32)(value, &w->run[i]);
        put(w->spare, value, &w->run[i]);
    }
    if (!found)
        return 0;
    q->val = w->spare;
    w->spare = packed;
    return 1;
}

void sp_runs_values(void *out, const sp_runs *w, const sp_sparse *p,
                    const void *val)
{
    for (int64_t k = 0; k < w->count; k++) {
        const run *r = &w->run[k];

        for (int64_t i = 0; i < r->count; i++) {
            double v = sp_dense_get(p, val, r->place + i);

            sp_dense_put(p, out, r->entry + i * r->step, v);
            sp_dense_put(p, out, r->mirror + i * r->mirror_step, v);
        }
    }
}
