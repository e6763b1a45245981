/* panels.c - the matrix cut into column panels, one part each.
 *
 * While a panel is walked, only its rows of B are needed, and they stay in
 * the cache. Rows without an entry in a panel are left out of it; when most
 * rows have one the list of rows is left out instead. Slices hold all rows in
 * every panel. */
#include "pack/internal.h"

/* next[i] moves to row i's first entry at or past column `to`; end[i] gets
 * it while next keeps the segment's beginning. Counts entries and rows. */
static void find_segments(const sp_pack_job *w, const int64_t *next,
                          int64_t *end, int64_t to, int64_t *entries,
                          int64_t *rows)
{
    const spry_matrix *A = w->A;
    int64_t sum = 0, used = 0;

#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(+ : sum, used)
    for (int64_t i = 0; i < A->rows; i++) {
        end[i] = sp_find_col(A, next[i], A->start[i + 1], to);
        sum += end[i] - next[i];
        used += end[i] > next[i];
    }
    *entries = sum;
    *rows = used;
}

static void fill(const sp_pack_job *w, sp_part *q, const int64_t *next,
                 const int64_t *end)
{
    int64_t u = 0, at = 0;

    for (int64_t i = 0; i < w->A->rows; i++) {
        if (q->row && next[i] == end[i])
            continue;
        if (q->row)
            sp_put_wide(w, q->row, u, i);
        if (q->out)
            ((int64_t *)q->out)[u] = next[i];
        at += end[i] - next[i];
        sp_put_wide(w, q->start, ++u, at);
    }
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t v = 0; v < q->units; v++) {
        int64_t i = q->row ? sp_get_wide(w, q->row, v) : v;

        sp_pack_copy(w, q, sp_get_wide(w, q->start, v), next[i],
                     end[i] - next[i], q->col0);
    }
}

/* Segments of rows, and the list of those that are there. */
static spry_status add_rows(sp_pack_job *w, sp_part *q, const int64_t *next,
                            const int64_t *end, int64_t entries, int64_t used)
{
    int listed = used < w->A->rows - w->A->rows / 4;
    int64_t units = listed ? used : w->A->rows;
    spry_status s = sp_pack_arrays(w, q, units, entries, entries);

    if (s != SPRY_OK)
        return s;
    q->row = listed ? sp_pack_indices(w, units) : NULL;
    q->out = sp_is_sampled(w->p->op) ? sp_alloc(units, 8) : NULL;
    if ((listed && !q->row) || (sp_is_sampled(w->p->op) && !q->out))
        return sp_fail_memory((size_t)units * 8);
    fill(w, q, next, end);
    return SPRY_OK;
}

static spry_status add_panel(sp_pack_job *w, sp_part *q, int64_t *next,
                             int64_t *end, int64_t to)
{
    const spry_matrix *A = w->A;
    int64_t entries, used;
    spry_status s;

    find_segments(w, next, end, to, &entries, &used);
    s = sp_format_of(w->x)->slices ? sp_pack_sell_panel(w, q, next, end)
                                   : add_rows(w, q, next, end, entries, used);
    if (s != SPRY_OK)
        return s;
    memcpy(next, end, (size_t)A->rows * sizeof *next);
    return SPRY_OK;
}

spry_status sp_pack_panels(sp_pack_job *w)
{
    const spry_matrix *A = w->A;
    int64_t width = w->x->panel, count = (A->cols + width - 1) / width;
    int64_t *next, *end;
    spry_status s;

    if (count > sp_schedule_panels(A->rows, A->nnz))
        return sp_fail(SPRY_USAGE, "%lld panels are too many",
                       (long long)count);
    s = sp_pack_width(w, A->nnz, width);
    if (s == SPRY_OK)
        s = sp_pack_parts(w, (int)count);
    if (s != SPRY_OK)
        return s;
    next = sp_alloc_raw(A->rows, sizeof *next);
    end = sp_alloc_raw(A->rows, sizeof *end);
    if (!next || !end)
        s = sp_fail_memory((size_t)A->rows * 16);
    else
        memcpy(next, A->start, (size_t)A->rows * sizeof *next);
    for (int i = 0; s == SPRY_OK && i < count; i++) {
        w->k->part[i].col0 = i * width;
        s = add_panel(w, &w->k->part[i], next, end, (i + 1) * width);
    }
    w->k->covers =
        s == SPRY_OK && (sp_format_of(w->x)->slices || !w->k->part[0].row);
    sp_free(next);
    sp_free(end);
    return s;
}
