/* pack.c - from a matrix and a schedule to storage. */
#include "pack/pack.h"

#include <omp.h>

#include "pack/internal.h"

static sp_packer *const packers[] = {
    [SPRY_CSR] = sp_pack_csr,   [SPRY_BCSR] = sp_pack_bcsr,
    [SPRY_SELL] = sp_pack_sell, [SPRY_DCSR] = sp_pack_csr,
    [SPRY_DIA] = sp_pack_dia,   [SPRY_SUPER] = sp_pack_super,
};

/* Kernels look ahead for what to prefetch: entries in most formats, steps of
 * a whole slice in sell. The largest unroll comes on top. */
static int64_t spare_entries(const sp_sparse *p, const spry_schedule *x,
                             int lanes)
{
    int64_t step = sp_schedule_slice(x, p->op, lanes);

    return (x->prefetch + 1) * step + 16;
}

static sp_packer *packer_of(const sp_sparse *p, const spry_schedule *x)
{
    if (sp_has_tensor(p->op) && x->format != SPRY_SUPER)
        return sp_pack_tensor;
    return x->panel ? sp_pack_panels : packers[x->format];
}

/* As many threads as may be used and have something to do: few entries are
 * packed before another thread has started. */
int sp_pack_threads(const spry_matrix *A, int threads)
{
    enum { FEW = 32768 };
    int most = omp_get_max_threads();

    if (A->nnz < FEW || threads < 1)
        return 1;
    return threads < most ? threads : most;
}

/* The values that codes stand for, when x asks for codes. */
static spry_status choose_palette(sp_pack_job *w, sp_palette *palette)
{
    if (w->x->palette == 1 && !sp_matrix_one_value(w->A))
        return sp_fail(SPRY_USAGE, "the values are not all the same");
    if (w->x->palette <= 1)
        return SPRY_OK;
    sp_palette_of(palette, w->A);
    if (palette->count > w->x->palette)
        return sp_fail(SPRY_USAGE, "with 0 there are more than %d values",
                       (int)w->x->palette);
    w->palette = palette;
    return SPRY_OK;
}

spry_status sp_pack_as_is(sp_packed **out, const sp_sparse *p,
                          const spry_schedule *x, int lanes, int threads)
{
    sp_packed *k = sp_alloc(1, sizeof *k);
    sp_pack_job w = {p, p->A, x, lanes, sp_pack_threads(p->A, threads),
                     k, NULL};
    sp_palette palette;
    spry_status s;

    *out = NULL;
    if (!k)
        return sp_fail_memory(sizeof *k);
    k->covers = 1;
    k->spare = spare_entries(p, x, lanes);
    s = choose_palette(&w, &palette);
    if (s == SPRY_OK)
        s = packer_of(p, x)(&w);
    if (x->format != SPRY_SUPER) {
        k->covers |= sp_is_sampled(p->op); /* each entry is visited once */
        if (s == SPRY_OK)
            s = sp_pack_cut(&w);
    }
    if (s != SPRY_OK) {
        sp_packed_free(k);
        return s;
    }
    *out = k;
    return SPRY_OK;
}

spry_status sp_pack(sp_packed **out, const sp_sparse *p, const spry_schedule *x,
                    int lanes, int threads)
{
    spry_status s = x->symmetric ? sp_matrix_symmetric(p->A) : SPRY_OK;

    *out = NULL;
    return s == SPRY_OK ? sp_pack_as_is(out, p, x, lanes, threads) : s;
}

void sp_packed_free(sp_packed *k)
{
    if (!k)
        return;
    for (int i = 0; k->part && i < k->parts; i++) {
        sp_part *q = &k->part[i];
        void *array[] = {q->start, q->col,       q->val,   q->code,
                         q->row,   q->base,      q->out,   q->cut,
                         q->mid,   q->mid_start, q->whole, q->length};

        for (size_t j = 0; j < sizeof array / sizeof array[0]; j++)
            sp_free(array[j]);
    }
    sp_free(k->part);
    sp_free(k->diagonal);
    sp_free(k);
}

spry_status sp_pack_parts(sp_pack_job *w, int count)
{
    w->k->part = sp_alloc(count, sizeof *w->k->part);
    if (!w->k->part)
        return sp_fail_memory((size_t)count * sizeof *w->k->part);
    w->k->parts = count;
    return SPRY_OK;
}

/* Zeroed by all threads: each page is new, and finding it takes longer than
 * clearing it. */
static void *room(const sp_pack_job *w, int64_t count, size_t size)
{
    enum { PIECE = 1 << 21 };
    char *p = sp_alloc_raw(count, size);
    int64_t bytes = count * (int64_t)size;

    if (!p)
        return NULL;
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t at = 0; at < bytes; at += PIECE)
        memset(p + at, 0, (size_t)(bytes - at < PIECE ? bytes - at : PIECE));
    return p;
}

void *sp_pack_indices(sp_pack_job *w, int64_t count)
{
    size_t size = w->k->index == 64 ? 8 : 4;

    w->k->bytes += (double)count * (double)size;
    return room(w, count, size);
}

/* The table of a palette, or its one value. */
static void put_palette(const sp_pack_job *w, sp_part *q)
{
    if (w->x->palette == 1)
        sp_dense_put(w->p, q->val, 0, sp_val(w->A, 0));
    for (int i = 0; w->palette && i < w->palette->count; i++)
        sp_dense_put(w->p, q->val, i, w->palette->value[i]);
}

spry_status sp_pack_arrays(sp_pack_job *w, sp_part *q, int64_t units,
                           int64_t entries, int64_t values)
{
    size_t width = (size_t)w->k->index / 8, size = (size_t)w->p->type;

    values = w->x->palette ? w->x->palette : values;
    q->units = units;
    q->entries = entries;
    q->values = values;
    q->start = sp_pack_indices(w, units + 1);
    q->col = room(w, entries + w->k->spare, width);
    q->val = room(w, values + w->k->spare, size);
    if (w->palette)
        q->code = room(w, entries + w->k->spare, 1);
    w->k->bytes += (double)entries * (double)(width + (w->palette != NULL)) +
                   (double)values * (double)size;
    if (!q->start || !q->col || !q->val || (w->palette && !q->code))
        return sp_fail_memory((size_t)entries * width + (size_t)values * size);
    put_palette(w, q);
    return SPRY_OK;
}

/* 32 or 64, what the matrix and `entries` stored entries need. */
static int32_t natural_width(const sp_pack_job *w, int64_t entries)
{
    int wide = w->p->mid > INT32_MAX || w->p->inner > INT32_MAX ||
               w->A->rows > INT32_MAX || entries > INT32_MAX ||
               w->x->index == 64;

    return wide ? 64 : 32;
}

spry_status sp_pack_width(sp_pack_job *w, int64_t entries, int64_t span)
{
    int64_t reach = w->x->index == 8 ? UINT8_MAX + 1 : UINT16_MAX + 1;

    w->k->index = natural_width(w, entries);
    if (w->x->index != 8 && w->x->index != 16)
        return SPRY_OK;
    if (span > reach || w->k->index == 64)
        return sp_fail(SPRY_USAGE,
                       "columns %lld apart do not fit %d-bit indices",
                       (long long)span, (int)w->x->index);
    w->k->index = w->x->index;
    return SPRY_OK;
}

spry_status sp_pack_limit(const sp_pack_job *w, double values)
{
    double limit = 6.0 * (double)w->A->nnz + 65536;

    if (values <= limit)
        return SPRY_OK;
    return sp_fail(SPRY_USAGE, "would store %.0f values for %lld entries",
                   values, (long long)w->A->nnz);
}
