/* sell.c - SELL-C-sigma: slices of C rows, sorted by length in windows.
 *
 * Within a slice entries lie column by column across its rows; rows shorter
 * than the longest are padded with zeros at their own last column, which is
 * in the cache already. */
#include <stdlib.h>

#include "pack/internal.h"

static int64_t length(const spry_matrix *A, int64_t i)
{
    return i < 0 ? 0 : A->start[i + 1] - A->start[i];
}

typedef struct {
    int64_t length, row;
} ranked;

static int longest_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->length != y->length)
        return x->length < y->length ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* row[] = rows in order, each window of sigma sorted; -1 past the last. */
static spry_status sort_windows(const sp_pack_job *w, int64_t *row,
                                int64_t count)
{
    const spry_matrix *A = w->A;
    int64_t sigma = w->x->sigma < A->rows ? w->x->sigma : A->rows;
    ranked *list = sp_alloc_raw(A->rows, sizeof *list);

    if (!list)
        return sp_fail_memory((size_t)A->rows * sizeof *list);
    for (int64_t i = 0; i < A->rows; i++)
        list[i] = (ranked){length(A, i), i};
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < A->rows; i += sigma)
        qsort(list + i, (size_t)(A->rows - i < sigma ? A->rows - i : sigma),
              sizeof *list, longest_first);
    for (int64_t i = 0; i < count; i++)
        row[i] = i < A->rows ? list[i].row : -1;
    sp_free(list);
    return SPRY_OK;
}

/* Longest row, and first and last column, of one slice. */
static int64_t measure(const spry_matrix *A, const int64_t *row, int lanes,
                       int64_t *low, int64_t *high)
{
    int64_t most = 0;

    *low = A->cols;
    *high = 0;
    for (int l = 0; l < lanes; l++) {
        int64_t n = length(A, row[l]);

        if (n == 0)
            continue;
        most = n > most ? n : most;
        if (sp_col(A, A->start[row[l]]) < *low)
            *low = sp_col(A, A->start[row[l]]);
        if (sp_col(A, A->start[row[l] + 1] - 1) > *high)
            *high = sp_col(A, A->start[row[l] + 1] - 1);
    }
    if (most == 0)
        *low = 0;
    return most;
}

static void fill_slice(const sp_pack_job *w, sp_part *q, int64_t u,
                       const int64_t *row, int lanes)
{
    const spry_matrix *A = w->A;
    int64_t at = sp_get_wide(w, q->start, u);
    int64_t steps = (sp_get_wide(w, q->start, u + 1) - at) / lanes;
    int64_t base = q->base ? sp_get_wide(w, q->base, u) : 0;

    for (int l = 0; l < lanes; l++) {
        int64_t n = length(A, row[l]), k = n ? A->start[row[l]] : 0;
        int64_t last = n ? sp_col(A, k + n - 1) - base : 0;

        for (int64_t i = 0; i < steps; i++) {
            int64_t to = at + i * lanes + l;

            sp_put_col(w, q->col, to, i < n ? sp_col(A, k + i) - base : last);
            sp_put_val(w, q->val, to, i < n ? sp_val(A, k + i) : 0);
        }
    }
}

static spry_status build(sp_pack_job *w, const int64_t *row, int64_t *step,
                         int64_t *base, int64_t units, int lanes)
{
    int64_t total = 0, span = 1;
    int based = w->x->index == 16 && w->A->cols > UINT16_MAX + 1;
    sp_part *q;
    spry_status s;

    for (int64_t u = 0; u < units; u++) {
        int64_t high;

        step[u] = measure(w->A, row + u * lanes, lanes, &base[u], &high);
        total += step[u] * lanes;
        span = high - base[u] >= span ? high - base[u] + 1 : span;
    }
    s = sp_pack_limit(w, (double)total);
    if (s == SPRY_OK)
        s = sp_pack_width(w, total, based ? span : w->A->cols);
    if (s == SPRY_OK)
        s = sp_pack_parts(w, 1);
    if (s == SPRY_OK)
        s = sp_pack_arrays(w, w->k->part, units, total, total);
    if (s != SPRY_OK)
        return s;
    q = w->k->part;
    q->row = w->x->sigma > 1 ? sp_pack_indices(w, units * lanes) : NULL;
    q->base = based ? sp_pack_indices(w, units) : NULL;
    if ((w->x->sigma > 1 && !q->row) || (based && !q->base))
        return sp_fail_memory((size_t)units * 8);
    for (int64_t u = 0, at = 0; u < units; u++) {
        at += step[u] * lanes;
        sp_put_wide(w, q->start, u + 1, at);
        if (q->base)
            sp_put_wide(w, q->base, u, base[u]);
    }
    for (int64_t i = 0; q->row && i < units * lanes; i++)
        sp_put_wide(w, q->row, i, row[i]);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t u = 0; u < units; u++)
        fill_slice(w, q, u, row + u * lanes, lanes);
    w->k->pads = total > w->A->nnz;
    return SPRY_OK;
}

spry_status sp_pack_sell(sp_pack_job *w)
{
    int lanes = w->lanes * w->x->slice;
    int64_t units = (w->A->rows + lanes - 1) / lanes;
    int64_t *row = sp_alloc_raw(units * lanes, sizeof *row);
    int64_t *step = sp_alloc_raw(units, sizeof *step);
    int64_t *base = sp_alloc_raw(units, sizeof *base);
    spry_status s = SPRY_OK;

    if (!row || !step || !base)
        s = sp_fail_memory((size_t)units * (size_t)(lanes + 2) * 8);
    if (s == SPRY_OK)
        s = sort_windows(w, row, units * lanes);
    if (s == SPRY_OK)
        s = build(w, row, step, base, units, lanes);
    sp_free(row);
    sp_free(step);
    sp_free(base);
    return s;
}
