/* sort.c - from rows with columns in any order to sorted rows, repeats summed.
 *
 * Rows that are already strictly ascending are only looked at. The sort is
 * stable, so repeats are summed in the order in which they arrived and the
 * same file always gives the same bits. */
#include <omp.h>
#include <string.h>

#include "matrix/internal.h"

typedef struct {
    int64_t col;
    double val;
} pair;

static int ascending(const spry_matrix *m, int64_t r)
{
    for (int64_t k = m->start[r] + 1; k < m->start[r + 1]; k++)
        if (sp_col(m, k - 1) >= sp_col(m, k))
            return 0;
    return 1;
}

/* Length of the longest row that needs work; 0 when none does. */
static int64_t longest_unsorted(const spry_matrix *m)
{
    int64_t longest = 0;

#pragma omp parallel for schedule(static) \
    reduction(max                         \
              : longest) if (m->nnz > 100000)
    for (int64_t r = 0; r < m->rows; r++)
        if (m->start[r + 1] - m->start[r] > longest && !ascending(m, r))
            longest = m->start[r + 1] - m->start[r];
    return longest;
}

/* Merge a[0..mid) and a[mid..n) into b, equal columns in their order. */
static void merge(pair *b, const pair *a, int64_t mid, int64_t n)
{
    int64_t i = 0, j = mid;

    for (int64_t k = 0; k < n; k++)
        b[k] = i < mid && (j >= n || a[i].col <= a[j].col) ? a[i++] : a[j++];
}

/* Merge sort of a with b as room beside it; returns the one that is sorted. */
static pair *sort_pairs(pair *a, pair *b, int64_t n)
{
    for (int64_t width = 1; width < n; width *= 2) {
        pair *other = a;

        for (int64_t at = 0; at < n; at += 2 * width) {
            int64_t left = n - at;

            merge(b + at, a + at, width < left ? width : left,
                  2 * width < left ? 2 * width : left);
        }
        a = b;
        b = other;
    }
    return a;
}

/* Sort row r in place; returns how many entries are left of it. */
static int64_t sort_row(const sp_draft *d, int64_t r, pair *room,
                        int64_t longest)
{
    const spry_matrix *m = d->m;
    int64_t first = m->start[r], n = m->start[r + 1] - first, kept = 0;
    pair *a;

    if (ascending(m, r))
        return n;
    for (int64_t k = 0; k < n; k++)
        room[k] = (pair){sp_col(m, first + k), sp_val(m, first + k)};
    a = sort_pairs(room, room + longest, n);
    for (int64_t k = 0; k < n; k++)
        if (kept && a[kept - 1].col == a[k].col)
            a[kept - 1].val += a[k].val;
        else
            a[kept++] = a[k];
    for (int64_t k = 0; k < kept; k++) {
        sp_store_col(d->col, m->index, first + k, a[k].col);
        sp_store_val(d->val, m->type, first + k, a[k].val);
    }
    return kept;
}

/* Close the gaps that summed repeats left: row r keeps its first kept[r]. */
static void close_gaps(sp_draft *d, const int64_t *kept)
{
    size_t col_size = d->m->index, val_size = d->m->type;
    char *col = d->col, *val = d->val;
    int64_t at = 0;

    for (int64_t r = 0; r < d->m->rows; r++) {
        size_t from = (size_t)d->start[r], to = (size_t)at;
        size_t n = (size_t)kept[r];

        memmove(col + to * col_size, col + from * col_size, n * col_size);
        memmove(val + to * val_size, val + from * val_size, n * val_size);
        d->start[r] = at;
        at += kept[r];
    }
    d->start[d->m->rows] = at;
    d->m->nnz = at;
}

static spry_status sort_rows(sp_draft *d, int64_t longest)
{
    int64_t rows = d->m->rows;
    int64_t *kept = sp_alloc_raw(rows, sizeof *kept);
    int threads = d->m->nnz > 100000 ? omp_get_max_threads() : 1;
    pair *room = sp_alloc_raw(2 * longest * threads, sizeof *room);

    if (!kept || !room) {
        sp_free(kept);
        sp_free(room);
        return sp_fail_memory((size_t)(2 * longest * threads) * sizeof *room);
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
    for (int64_t r = 0; r < rows; r++)
        kept[r] =
            sort_row(d, r, room + 2 * longest * omp_get_thread_num(), longest);
    close_gaps(d, kept);
    sp_free(room);
    sp_free(kept);
    return SPRY_OK;
}

spry_status sp_draft_finish(spry_matrix **out, sp_draft *d)
{
    int64_t longest = longest_unsorted(d->m);
    spry_status s = longest ? sort_rows(d, longest) : SPRY_OK;

    *out = s == SPRY_OK ? d->m : NULL;
    if (s != SPRY_OK)
        spry_matrix_free(d->m);
    *d = (sp_draft){0};
    return s;
}
