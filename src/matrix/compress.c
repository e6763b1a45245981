/* compress.c - from entries in any order to rows in order.
 *
 * A counting sort by row, stable, so entries that arrive column by column
 * (as most files have them) leave with ascending columns and need no second
 * sort. Each thread counts and places its own slice of the entries. */
#include <omp.h>

#include "matrix/internal.h"

/* How many slices: counters for all of them must stay small beside the
 * entries themselves. */
static int slices(const sp_entries *e)
{
    int64_t threads = omp_get_max_threads();
    int64_t most = e->nnz / (e->rows + 4096);

    return (int)(most < 1 ? 1 : most < threads ? most : threads);
}

static void count_rows(int64_t *count, const sp_entries *e, int64_t from,
                       int64_t to)
{
    for (int64_t k = from; k < to; k++) {
        count[e->row[k]]++;
        if (e->mirror && e->row[k] != e->col[k])
            count[e->col[k]]++;
    }
}

/* Counts of each slice become the places where its entries go. Returns how
 * many entries there are. */
static int64_t counts_to_places(int64_t *place, int64_t rows, int n)
{
    int64_t at = 0;

    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < n; i++) {
            int64_t count = place[i * rows + r];

            place[i * rows + r] = at;
            at += count;
        }
    return at;
}

static double load_val(const sp_entries *e, int64_t k)
{
    if (!e->val)
        return 1;
    return e->val_type == SPRY_F32 ? (double)((const float *)e->val)[k]
                                   : ((const double *)e->val)[k];
}

static void place_entries(const sp_draft *d, int64_t *place,
                          const sp_entries *e, int64_t from, int64_t to)
{
    spry_index index = d->m->index;
    spry_type type = d->m->type;

    for (int64_t k = from; k < to; k++) {
        int64_t r = e->row[k], c = e->col[k], at = place[r]++;
        double v = load_val(e, k);

        sp_store_col(d->col, index, at, c);
        sp_store_val(d->val, type, at, v);
        if (e->mirror && r != c) {
            at = place[c]++;
            sp_store_col(d->col, index, at, r);
            sp_store_val(d->val, type, at, e->mirror * v);
        }
    }
}

spry_status sp_compress(spry_matrix **out, const sp_entries *e)
{
    int n = slices(e);
    int64_t *place = sp_alloc(n * e->rows, sizeof *place), nnz;
    sp_draft d;
    spry_status s;

    *out = NULL;
    if (!place)
        return sp_fail_memory((size_t)(n * e->rows) * sizeof *place);
#pragma omp parallel for num_threads(n) schedule(static, 1) if (n > 1)
    for (int i = 0; i < n; i++)
        count_rows(place + i * e->rows, e, e->nnz / n * i,
                   i + 1 < n ? e->nnz / n * (i + 1) : e->nnz);
    nnz = counts_to_places(place, e->rows, n);
    s = sp_draft_make(&d, e->rows, e->cols, nnz, sp_index_for(e->cols),
                      e->type);
    if (s == SPRY_OK) {
        for (int64_t r = 0; r < e->rows; r++)
            d.start[r] = place[r];
        d.start[e->rows] = nnz;
#pragma omp parallel for num_threads(n) schedule(static, 1) if (n > 1)
        for (int i = 0; i < n; i++)
            place_entries(&d, place + i * e->rows, e, e->nnz / n * i,
                          i + 1 < n ? e->nnz / n * (i + 1) : e->nnz);
        s = sp_draft_finish(out, &d);
    }
    sp_free(place);
    return s;
}
