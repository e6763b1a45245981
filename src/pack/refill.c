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
    void *entry;   /* [count] the entry at each place, `entries` for padding;
                      as wide as the numbers need. NULL: place k has entry k */
    int64_t count; /* places */
    sp_code_tiles *tiles; /* of codes that lie side by side: instead of entry */
} part_slots;

struct sp_slots {
    int threads, wide, parts;
    int64_t entries;
    uint8_t *code; /* [entries + SP_CODES_BEHIND] with a palette: room for
                      their codes, and behind them that of padding, 0 */
    sp_runs *runs; /* of one triangle: instead of places */
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

static void enlist(const sp_slots *w, void *list, int64_t k, int64_t item)
{
    if (w->wide)
        ((int64_t *)list)[k] = item;
    else
        ((int32_t *)list)[k] = (int32_t)item;
}

/* ---- finding places ---- */

/* The numbers that were packed as values; 0 was packed as padding. */
static spry_status list_places(const sp_slots *w, part_slots *q,
                               const sp_part *part)
{
    const double *number = part->val;
    int in_order = w->parts == 1 && part->values == w->entries;

    q->entry = sp_alloc_raw(q->count, w->wide ? 8 : 4);
    if (!q->entry)
        return sp_fail_memory((size_t)q->count * 8);
#pragma omp parallel for num_threads(w->threads) \
    schedule(static) reduction(& : in_order)
    for (int64_t k = 0; k < q->count; k++) {
        int64_t entry = number[k] > 0 ? (int64_t)number[k] - 1 : w->entries;

        enlist(w, q->entry, k, entry);
        in_order &= entry == k;
    }
    if (in_order) {
        sp_free(q->entry);
        q->entry = NULL;
    }
    return SPRY_OK;
}

static spry_status note_part(const sp_slots *w, part_slots *q,
                             const sp_part *part, int slice)
{
    spry_status s = SPRY_OK;

    q->count = part->values;
    if (sp_code_tiles_fit(slice))
        s = sp_code_tiles_make(&q->tiles, slice, part);
    return s == SPRY_OK && !q->tiles ? list_places(w, q, part) : s;
}

/* Slots of so many parts, of which nothing is known yet. */
static spry_status open_slots(sp_slots **out, const sp_sparse *p, int parts,
                              int threads)
{
    size_t bytes = sizeof **out + (size_t)parts * sizeof(part_slots);
    sp_slots *w = sp_alloc(1, bytes);

    *out = w;
    if (!w)
        return sp_fail_memory(bytes);
    w->threads = threads;
    w->entries = p->A->nnz;
    w->wide = w->entries >= INT32_MAX;
    w->parts = parts;
    return SPRY_OK;
}

static spry_status pack_numbers(sp_packed **out, const sp_sparse *p,
                                const spry_schedule *x, int lanes, int threads)
{
    spry_matrix A = *p->A;
    spry_schedule plain = *x;
    sp_sparse numbered = *p;
    double *number = sp_alloc_raw(A.nnz, sizeof *number);
    spry_status s;

    if (!number)
        return sp_fail_memory((size_t)A.nnz * sizeof *number);
    for (int64_t e = 0; e < A.nnz; e++)
        number[e] = (double)((p->order ? p->order[e] : e) + 1); /* exact */
    A.type = numbered.type = SPRY_F64;
    A.val = number;
    numbered.A = &A;
    plain.palette = 0;
    s = sp_pack_as_is(out, &numbered, &plain, lanes, threads);
    sp_free(number);
    return s;
}

static spry_status ask_packer(sp_slots **out, const sp_sparse *p,
                              const spry_schedule *x, int lanes, int threads)
{
    int slice = x->palette ? sp_schedule_slice(x, p->op, lanes) : 1;
    sp_packed *k = NULL;
    spry_status s = pack_numbers(&k, p, x, lanes, threads);

    if (s == SPRY_OK)
        s = open_slots(out, p, k->parts, threads);
    if (s == SPRY_OK && x->symmetric)
        s = sp_runs_make(&(*out)->runs, p, k);
    for (int i = 0; s == SPRY_OK && !x->symmetric && i < k->parts; i++)
        s = note_part(*out, &(*out)->part[i], &k->part[i], slice);
    sp_packed_free(k);
    return s;
}

/* Compressed rows as they are need no asking. */
static spry_status ask_nobody(sp_slots **out, const sp_sparse *p, int threads)
{
    spry_status s = open_slots(out, p, 1, threads);

    if (s == SPRY_OK)
        (*out)->part[0].count = p->A->nnz;
    return s;
}

static spry_status room_for_codes(sp_slots *w)
{
    w->code = sp_alloc(w->entries + SP_CODES_BEHIND, 1);
    return w->code ? SPRY_OK : sp_fail_memory((size_t)w->entries);
}

spry_status sp_slots_make(sp_slots **out, const sp_sparse *p,
                          const spry_schedule *x, int lanes, int threads)
{
    int as_given = x->format == SPRY_CSR && !sp_schedule_sorts(x) &&
                   !x->panel && !sp_has_tensor(p->op) && !p->order;
    spry_status s;

    *out = NULL;
    threads = sp_pack_threads(p->A, threads);
    s = as_given || x->palette == 1 ? ask_nobody(out, p, threads)
                                    : ask_packer(out, p, x, lanes, threads);
    if (s == SPRY_OK && x->palette > 1)
        s = room_for_codes(*out);
    if (s == SPRY_OK)
        return s;
    sp_slots_free(*out);
    *out = NULL;
    return s;
}

void sp_slots_free(sp_slots *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->parts; i++) {
        sp_free(w->part[i].entry);
        sp_code_tiles_free(w->part[i].tiles);
    }
    sp_free(w->code);
    sp_runs_free(w->runs);
    sp_free(w);
}

/* ---- values in ---- */

/* Places [from, to); of a list of places only those that are no padding. */
#define PUT(name, To, From, Entry)                                \
    static void name(void *out, const void *in, const void *list, \
                     int64_t from, int64_t to, int64_t padding)   \
    {                                                             \
        To *restrict val = out;                                   \
        const From *restrict value = in;                          \
        const Entry *restrict entry = list;                       \
                                                                  \
        for (int64_t k = from; !entry && k < to; k++)             \
            val[k] = (To)value[k];                                \
        for (int64_t k = from; entry && k < to; k++)              \
            if (entry[k] != padding)                              \
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
                    int64_t to, int64_t padding);

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
                q->count - from < PIECE ? q->count : from + PIECE, w->entries);
    }
}

/* Codes of places [from, to) out of those of the entries. */
static void put_piece(uint8_t *restrict code, const sp_slots *w,
                      const part_slots *q, int64_t from, int64_t to)
{
    const uint8_t *restrict of = w->code;
    const int32_t *restrict narrow = q->entry;
    const int64_t *restrict wide = q->entry;

    if (!q->entry)
        memcpy(code + from, of + from, (size_t)(to - from));
    for (int64_t k = from; narrow && !w->wide && k < to; k++)
        code[k] = of[narrow[k]];
    for (int64_t k = from; wide && w->wide && k < to; k++)
        code[k] = of[wide[k]];
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
        if (q->tiles) {
            sp_code_tiles_put(part->code, q->tiles, w->code, w->threads);
            continue;
        }
#pragma omp parallel for num_threads(w->threads) \
    schedule(static) if (w->threads > 1)
        for (int64_t from = 0; from < q->count; from += PIECE)
            put_piece(part->code, w, q, from,
                      q->count - from < PIECE ? q->count : from + PIECE);
    }
    return SPRY_OK;
}

static spry_status put_triangle(sp_packed *k, const sp_slots *w,
                                const sp_sparse *p, const void *value)
{
    if (sp_runs_put(k->part, w->runs, p, value, w->threads))
        return SPRY_OK;
    return sp_fail(SPRY_USAGE, "this plan keeps one triangle of a symmetric "
                               "matrix, and these values are not symmetric: "
                               "make another plan");
}

spry_status sp_packed_refill(sp_packed *k, const sp_slots *w,
                             const sp_sparse *p, int palette, const void *value)
{
    spry_matrix A = *p->A;

    A.val = value;
    if (palette > 1)
        return put_codes(k, w, p, &A, palette);
    if (w->runs)
        return put_triangle(k, w, p, value);
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

        if (q->tiles)
            sp_code_tiles_values(out, q->tiles, p, part);
        for (int64_t at = 0; !q->tiles && at < q->count; at++) {
            int64_t e = listed(w, q->entry, at), from = at;

            if (palette)
                from = palette == 1 ? 0 : part->code[at];
            if (e < w->entries)
                sp_dense_put(p, out, e, sp_dense_get(p, part->val, from));
        }
    }
    if (w->runs)
        sp_runs_values(out, w->runs, p, k->part->val);
}
