/* csr.c - compressed rows, in any order, with or without the empty ones. */
#include "pack/internal.h"

/* The rows to walk: all of them, the nonempty ones, or a new order. */
static spry_status choose_rows(sp_pack_job *w, int64_t **out, int64_t *count)
{
    const spry_matrix *A = w->A;
    int64_t *row;
    spry_status s = SPRY_OK;

    *out = NULL;
    *count = A->rows;
    if (!sp_format_of(w->x)->listed && !sp_schedule_sorts(w->x))
        return SPRY_OK;
    row = sp_alloc_raw(A->rows, sizeof *row);
    if (!row)
        return sp_fail_memory((size_t)A->rows * sizeof *row);
    if (sp_schedule_sorts(w->x))
        s = sp_pack_order(w, row);
    else {
        *count = 0;
        for (int64_t i = 0; i < A->rows; i++)
            if (A->start[i] < A->start[i + 1])
                row[(*count)++] = i;
        w->k->covers = *count == A->rows;
    }
    if (s == SPRY_OK)
        *out = row;
    else
        sp_free(row);
    return s;
}

/* The widest row, last column - first column + 1. */
static int64_t widest(const sp_pack_job *w)
{
    const spry_matrix *A = w->A;
    int64_t span = 1;

#pragma omp parallel for num_threads(w->threads) schedule(static) \
    reduction(max                                                 \
              : span)
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t k = A->start[i], end = A->start[i + 1];

        if (k < end && sp_col(A, end - 1) - sp_col(A, k) >= span)
            span = sp_col(A, end - 1) - sp_col(A, k) + 1;
    }
    return span;
}

/* All rows as they are: the entries are one run, cut anywhere. */
static void copy_all(const sp_pack_job *w, sp_part *q)
{
    enum { RUN = 1 << 16 };
    int64_t nnz = w->A->nnz;

#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t k = 0; k < nnz; k += RUN)
        sp_pack_copy(w, q, k, k, nnz - k < RUN ? nnz - k : RUN, 0);
}

static void copy_rows(const sp_pack_job *w, sp_part *q, const int64_t *row)
{
    const int64_t *start = w->A->start;

#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t u = 0; u < q->units; u++) {
        int64_t i = row ? row[u] : u;

        sp_pack_copy(w, q, sp_get_wide(w, q->start, u), start[i],
                     start[i + 1] - start[i],
                     q->base ? sp_get_wide(w, q->base, u) : 0);
    }
}

static void fill(const sp_pack_job *w, sp_part *q, const int64_t *row)
{
    const spry_matrix *A = w->A;

    for (int64_t u = 0, at = 0; u < q->units; u++) {
        int64_t i = row ? row[u] : u;

        if (q->row)
            sp_put_wide(w, q->row, u, i);
        if (q->base && A->start[i] < A->start[i + 1])
            sp_put_wide(w, q->base, u, sp_col(A, A->start[i]));
        at += A->start[i + 1] - A->start[i];
        sp_put_wide(w, q->start, u + 1, at);
    }
    if (row || q->base)
        copy_rows(w, q, row);
    else
        copy_all(w, q);
}

spry_status sp_pack_csr(sp_pack_job *w)
{
    const spry_matrix *A = w->A;
    int64_t *row, units;
    int based = w->x->index == 16 && A->cols > UINT16_MAX + 1;
    spry_status s = choose_rows(w, &row, &units);
    sp_part *q;

    if (s == SPRY_OK)
        s = sp_pack_width(w, A->nnz, based ? widest(w) : A->cols);
    if (s == SPRY_OK)
        s = sp_pack_parts(w, 1);
    if (s == SPRY_OK)
        s = sp_pack_arrays(w, w->k->part, units, A->nnz, A->nnz);
    if (s == SPRY_OK) {
        q = w->k->part;
        q->row = row ? sp_pack_indices(w, units) : NULL;
        q->base = based ? sp_pack_indices(w, units) : NULL;
        if ((row && !q->row) || (based && !q->base))
            s = sp_fail_memory((size_t)units * 8);
        else
            fill(w, q, row);
    }
    sp_free(row);
    return s;
}
