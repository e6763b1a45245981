/* refill.c - new values into storage that is packed already.
 *
 * Where an entry went is asked of the packer itself, once: it packs a matrix
 * of the same pattern whose values are the entries' numbers, as whoever brings
 * the values counts them. So no format has to say twice how it lays things
 * out. */
#include "pack/pack.h"

#include <string.h>

#include "pack/internal.h"

typedef struct {
    void *entry;   /* [count] the entry at each place, -1 for padding; as wide
                      as the numbers need. NULL: place k holds entry k */
    void *twin;    /* [count] of one triangle: the entry in its mirror place */
    int64_t count; /* places */
} part_slots;

struct sp_slots {
    int threads, wide, parts;
    uint8_t *code; /* [entries + 1] with a palette: room for their codes, and
                      behind them that of padding, 0 */
    int64_t entries;
    part_slots part[];
};

enum { PIECE = 1 << 14 }; /* places a thread takes at a time */

/* Item k of a list that is NULL when item k is k. */
static int64_t listed(const sp_slots *w, const void *list, int64_t k)
{
    if (!list)
        return k;
    return w->wide ? ((const int64_t *)list)[k] : ((const int32_t *)list)[k];
}

/* ---- finding places ---- */

/* The numbers that were packed as values. */
static spry_status note_numbers(void **out, const sp_slots *w,
                                const sp_part *part)
{
    const double *number = part->val;
    void *list = sp_alloc_raw(part->values, w->wide ? 8 : 4);

    *out = list;
    if (!list)
        return sp_fail_memory((size_t)part->values * 8);
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t k = 0; k < part->values; k++) {
        int64_t entry = (int64_t)number[k] - 1;

        if (w->wide)
            ((int64_t *)list)[k] = entry;
        else
            ((int32_t *)list)[k] = (int32_t)entry;
    }
    return SPRY_OK;
}

static spry_status note_part(const sp_slots *w, part_slots *q,
                             const sp_part *part, int64_t nnz)
{
    spry_status s = note_numbers(&q->entry, w, part);

    q->count = part->values;
    if (s != SPRY_OK || w->parts > 1 || q->count != nnz)
        return s;
    for (int64_t k = 0; k < nnz; k++)
        if (listed(w, q->entry, k) != k)
            return SPRY_OK;
    sp_free(q->entry);
    q->entry = NULL;
    return SPRY_OK;
}

static spry_status note_all(sp_slots **out, const sp_packed *k, int64_t nnz,
                            int threads)
{
    size_t bytes = sizeof **out + (size_t)k->parts * sizeof(part_slots);
    sp_slots *w = sp_alloc(1, bytes);
    spry_status s = SPRY_OK;

    if (!w)
        return sp_fail_memory(bytes);
    w->threads = threads;
    w->wide = nnz >= INT32_MAX;
    w->parts = k->parts;
    for (int i = 0; s == SPRY_OK && i < k->parts; i++)
        s = note_part(w, &w->part[i], &k->part[i], nnz);
    if (s == SPRY_OK)
        *out = w;
    else
        sp_slots_free(w);
    return s;
}

/* Compressed rows as they are need no asking. */
static spry_status note_nothing(sp_slots **out, int64_t nnz, int threads)
{
    sp_slots *w = sp_alloc(1, sizeof *w + sizeof(part_slots));

    if (!w)
        return sp_fail_memory(sizeof *w);
    w->threads = threads;
    w->parts = 1;
    w->part[0].count = nnz;
    *out = w;
    return SPRY_OK;
}

/* Pack numbers: of the entries, or of those that `other` has for them. */
static spry_status pack_numbers(sp_packed **out, const sp_sparse *p,
                                const spry_schedule *x, int lanes, int threads,
                                const int64_t *other)
{
    spry_matrix A = *p->A;
    spry_schedule plain = *x;
    sp_sparse numbered = *p;
    double *number = sp_alloc_raw(A.nnz, sizeof *number);
    spry_status s;

    if (!number)
        return sp_fail_memory((size_t)A.nnz * sizeof *number);
    for (int64_t e = 0; e < A.nnz; e++) {
        int64_t of = other ? other[e] : e;

        number[e] = (double)((p->order ? p->order[of] : of) + 1); /* exact */
    }
    A.type = numbered.type = SPRY_F64;
    A.val = number;
    numbered.A = &A;
    plain.palette = 0;
    s = sp_pack_as_is(out, &numbered, &plain, lanes, threads);
    sp_free(number);
    return s;
}

/* Of one triangle: whom each stored entry stands for, too. */
static spry_status note_twins(sp_slots *w, const sp_sparse *p,
                              const spry_schedule *x, int lanes, int threads)
{
    int64_t *twin = sp_alloc_raw(p->A->nnz + 1, sizeof *twin);
    sp_packed *k = NULL;
    spry_status s;

    if (!twin)
        return sp_fail_memory((size_t)p->A->nnz * sizeof *twin);
    s = sp_matrix_twins(twin, p->A);
    if (s == SPRY_OK)
        s = pack_numbers(&k, p, x, lanes, threads, twin);
    for (int i = 0; s == SPRY_OK && i < w->parts; i++)
        s = note_numbers(&w->part[i].twin, w, &k->part[i]);
    sp_packed_free(k);
    sp_free(twin);
    return s;
}

static spry_status ask_packer(sp_slots **out, const sp_sparse *p,
                              const spry_schedule *x, int lanes, int threads)
{
    sp_packed *k = NULL;
    spry_status s = pack_numbers(&k, p, x, lanes, threads, NULL);

    if (s == SPRY_OK)
        s = note_all(out, k, p->A->nnz, threads);
    sp_packed_free(k);
    if (s != SPRY_OK || !x->symmetric)
        return s;
    s = note_twins(*out, p, x, lanes, threads);
    if (s == SPRY_OK)
        return s;
    sp_slots_free(*out);
    *out = NULL;
    return s;
}

spry_status sp_slots_make(sp_slots **out, const sp_sparse *p,
                          const spry_schedule *x, int lanes, int threads)
{
    int as_given = x->format == SPRY_CSR && !x->order && !x->panel &&
                   !sp_has_tensor(p->op) && !p->order;

    spry_status s;

    *out = NULL;
    threads = sp_pack_threads(p->A, threads);
    s = as_given || x->palette == 1 ? note_nothing(out, p->A->nnz, threads)
                                    : ask_packer(out, p, x, lanes, threads);
    if (s != SPRY_OK || x->palette < 2)
        return s;
    (*out)->entries = p->A->nnz;
    (*out)->code = sp_alloc(p->A->nnz + 1, 1);
    if ((*out)->code)
        return SPRY_OK;
    sp_slots_free(*out);
    *out = NULL;
    return sp_fail_memory((size_t)p->A->nnz);
}

void sp_slots_free(sp_slots *w)
{
    for (int i = 0; w && i < w->parts; i++) {
        sp_free(w->part[i].entry);
        sp_free(w->part[i].twin);
    }
    if (w)
        sp_free(w->code);
    sp_free(w);
}

/* ---- values in ---- */

/* Places [from, to); of a list of places only those that are no padding. */
#define PUT(name, To, From, Entry)                                \
    static void name(void *out, const void *in, const void *list, \
                     int64_t from, int64_t to)                    \
    {                                                             \
        To *restrict val = out;                                   \
        const From *restrict value = in;                          \
        const Entry *restrict entry = list;                       \
                                                                  \
        for (int64_t k = from; !entry && k < to; k++)             \
            val[k] = (To)value[k];                                \
        for (int64_t k = from; entry && k < to; k++)              \
            if (entry[k] >= 0)                                    \
                val[k] = (To)value[entry[k]];                     \
    }

PUT(f32_f32, float, float, int32_t)
PUT(f32_f64, float, double, int32_t)
PUT(f64_f32, double, float, int32_t)
PUT(f64_f64, double, double, int32_t)
PUT(f32_f32_wide, float, float, int64_t)
PUT(f32_f64_wide, float, double, int64_t)
PUT(f64_f32_wide, double, float, int64_t)
PUT(f64_f64_wide, double, double, int64_t)

typedef void putter(void *out, const void *in, const void *list, int64_t from,
                    int64_t to);

static void put_values(sp_packed *k, const sp_slots *w, const sp_sparse *p,
                       const void *value)
{
    static putter *const all[2][2][2] = {
        {{f32_f32, f32_f32_wide}, {f32_f64, f32_f64_wide}},
        {{f64_f32, f64_f32_wide}, {f64_f64, f64_f64_wide}}};
    putter *put = all[p->type == SPRY_F64][p->A->type == SPRY_F64][w->wide];

    for (int i = 0; i < w->parts; i++) {
        const part_slots *q = &w->part[i];
        void *val = k->part[i].val;

#pragma omp parallel for num_threads(w->threads) \
    schedule(static) if (w->threads > 1)
        for (int64_t from = 0; from < q->count; from += PIECE)
            put(val, value, q->entry, from,
                q->count - from < PIECE ? q->count : from + PIECE);
    }
}

/* Do the entries that places [from, to) stand for have one value? */
#define SAME(name, From, Entry)                                          \
    static int name(const void *in, const void *list, const void *twins, \
                    int64_t from, int64_t to)                            \
    {                                                                    \
        const From *restrict value = in;                                 \
        const Entry *restrict entry = list, *restrict twin = twins;      \
        int same = 1;                                                    \
                                                                         \
        for (int64_t k = from; k < to; k++)                              \
            if (entry[k] >= 0)                                           \
                same &= value[entry[k]] == value[twin[k]];               \
        return same;                                                     \
    }

SAME(same_f32, float, int32_t)
SAME(same_f64, double, int32_t)
SAME(same_f32_wide, float, int64_t)
SAME(same_f64_wide, double, int64_t)

static int is_symmetric(const sp_slots *w, const sp_sparse *p,
                        const void *value)
{
    typedef int asker(const void *, const void *, const void *, int64_t,
                      int64_t);
    static asker *const all[2][2] = {{same_f32, same_f32_wide},
                                     {same_f64, same_f64_wide}};
    asker *same = all[p->A->type == SPRY_F64][w->wide];
    int found = 1;

    for (int i = 0; i < w->parts; i++) {
        const part_slots *q = &w->part[i];

#pragma omp parallel for num_threads(w->threads) schedule(static) \
    reduction(& : found) if (w->threads > 1)
        for (int64_t from = 0; from < q->count; from += PIECE)
            found &= same(value, q->entry, q->twin, from,
                          q->count - from < PIECE ? q->count : from + PIECE);
    }
    return found;
}

/* Codes of places [from, to) out of those of the entries. */
static void put_piece(uint8_t *code, const sp_slots *w, const part_slots *q,
                      int64_t from, int64_t to)
{
    const uint32_t *narrow = q->entry; /* padding, -1, is the largest */
    const uint64_t *wide = q->entry;
    const uint64_t most = (uint64_t)w->entries;
    const uint32_t none = (uint32_t)most;

    if (!q->entry)
        memcpy(code + from, w->code + from, (size_t)(to - from));
    for (int64_t k = from; narrow && !w->wide && k < to; k++)
        code[k] = w->code[narrow[k] < none ? narrow[k] : none];
    for (int64_t k = from; wide && w->wide && k < to; k++)
        code[k] = w->code[wide[k] < most ? wide[k] : most];
}

/* Nothing changes before it is known that the values fit. */
static spry_status put_codes(sp_packed *k, const sp_slots *w,
                             const sp_sparse *p, const spry_matrix *A, int most)
{
    sp_palette table;

    sp_palette_codes(&table, w->code, A, w->threads);
    if (table.count > most)
        return sp_fail(SPRY_USAGE,
                       "this plan keeps codes for at most %d values, and with "
                       "0 there are more: make another plan",
                       most);
    for (int i = 0; i < w->parts; i++) {
        const part_slots *q = &w->part[i];
        sp_part *part = &k->part[i];

        for (int t = 0; t < most; t++)
            sp_dense_put(p, part->val, t, t < table.count ? table.value[t] : 0);
#pragma omp parallel for num_threads(w->threads) \
    schedule(static) if (w->threads > 1)
        for (int64_t from = 0; from < q->count; from += PIECE)
            put_piece(part->code, w, q, from,
                      q->count - from < PIECE ? q->count : from + PIECE);
    }
    return SPRY_OK;
}

spry_status sp_packed_refill(sp_packed *k, const sp_slots *w,
                             const sp_sparse *p, int palette, const void *value)
{
    spry_matrix A = *p->A;

    A.val = value;
    if (palette > 1)
        return put_codes(k, w, p, &A, palette);
    if (w->part[0].twin && !is_symmetric(w, p, value))
        return sp_fail(SPRY_USAGE, "this plan keeps one triangle of a "
                                   "symmetric matrix, and these values are not "
                                   "symmetric: make another plan");
    if (palette == 0) {
        put_values(k, w, p, value);
        return SPRY_OK;
    }
    if (!sp_matrix_one_value(&A))
        return sp_fail(SPRY_USAGE, "this plan keeps one value for all entries, "
                                   "and these differ: make another plan");
    for (int i = 0; i < k->parts; i++)
        sp_dense_put(p, k->part[i].val, 0, sp_val(&A, 0));
    return SPRY_OK;
}

/* ---- values out ---- */

void sp_packed_values(void *out, const sp_packed *k, const sp_slots *w,
                      const sp_sparse *p, int palette)
{
    for (int i = 0; i < w->parts; i++) {
        const part_slots *q = &w->part[i];
        const sp_part *part = &k->part[i];

        for (int64_t at = 0; at < q->count; at++) {
            int64_t e = listed(w, q->entry, at), from = at;

            if (palette)
                from = palette == 1 ? 0 : part->code[at];
            if (e >= 0)
                sp_dense_put(p, out, e, sp_dense_get(p, part->val, from));
            if (e >= 0 && q->twin)
                sp_dense_put(p, out, listed(w, q->twin, at),
                             sp_dense_get(p, part->val, from));
        }
    }
}
