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
    if (w->x->format != SPRY_DCSR && !w->x->order)
        return SPRY_OK;
    row = sp_alloc_raw(A->rows, sizeof *row);
    if (!row)
        return sp_fail_memory((size_t)A->rows * sizeof *row);
    if (w->x->order)
        s = sp_pack_order(A, w->x->order, row);
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
static int64_t widest(const spry_matrix *A)
{
    int64_t span = 1;

    for (int64_t i = 0; i < A->rows; i++) {
        int64_t k = A->start[i], end = A->start[i + 1];

        if (k < end && sp_col(A, end - 1) - sp_col(A, k) >= span)
            span = sp_col(A, end - 1) - sp_col(A, k) + 1;
    }
    return span;
}

static void copy_row(const sp_pack_job *w, sp_part *q, int64_t u, int64_t i,
                     int64_t base)
{
    const spry_matrix *A = w->A;
    int64_t to = sp_get_wide(w, q->start, u);

    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++, to++) {
        sp_put_col(w, q->col, to, sp_col(A, k) - base);
        sp_put_val(w, q->val, to, sp_val(A, k));
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
#pragma omp parallel for schedule(static)
    for (int64_t u = 0; u < q->units; u++)
        copy_row(w, q, u, row ? row[u] : u,
                 q->base ? sp_get_wide(w, q->base, u) : 0);
}

spry_status sp_pack_csr(sp_pack_job *w)
{
    const spry_matrix *A = w->A;
    int64_t *row, units;
    int based = w->x->index == 16 && A->cols > UINT16_MAX + 1;
    spry_status s = choose_rows(w, &row, &units);
    sp_part *q;

    if (s == SPRY_OK)
        s = sp_pack_width(w, A->nnz, based ? widest(A) : A->cols);
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
