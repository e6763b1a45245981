/* order.c - in which order rows are walked.
 *
 * Only the walk changes: a row list says where each result goes, so columns
 * and the dense operands stay as they are. */
#include <stdlib.h>

#include "pack/internal.h"

/* ---- by length, in windows ---- */

enum { DIGIT = 11, BUCKETS = 1 << DIGIT };

static int64_t length(const sp_segments *g, int64_t i)
{
    return g->to[i] - g->from[i];
}

/* One pass of a radix sort, longest first; equal rows keep their order. */
static void sort_by_digit(const sp_segments *g, const int64_t *in, int64_t *out,
                          int64_t n, int shift)
{
    int64_t at[BUCKETS] = {0}, sum = 0;

    for (int64_t i = 0; i < n; i++)
        at[length(g, in[i]) >> shift & (BUCKETS - 1)]++;
    for (int b = BUCKETS; b-- > 0;) {
        sum += at[b];
        at[b] = sum - at[b];
    }
    for (int64_t i = 0; i < n; i++)
        out[at[length(g, in[i]) >> shift & (BUCKETS - 1)]++] = in[i];
}

/* A few rows, where clearing the buckets would take longer. */
static void sort_few(const sp_segments *g, int64_t *row, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        int64_t this = row[i], at = i;

        while (at > 0 && length(g, row[at - 1]) < length(g, this)) {
            row[at] = row[at - 1];
            at--;
        }
        row[at] = this;
    }
}

/* row[n] by length; `spare` is as large. */
static void sort_window(const sp_segments *g, int64_t *row, int64_t *spare,
                        int64_t n)
{
    enum { FEW = 64 };
    int64_t most = 0;

    if (n <= FEW) {
        sort_few(g, row, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        most = length(g, row[i]) > most ? length(g, row[i]) : most;
    for (int shift = 0; most >> shift; shift += DIGIT) {
        sort_by_digit(g, row, spare, n, shift);
        memcpy(row, spare, (size_t)n * sizeof *row);
    }
}

spry_status sp_pack_sort(const sp_pack_job *w, int64_t *row, int64_t sigma,
                         const sp_segments *g)
{
    int64_t rows = w->A->rows;
    int64_t *spare = sp_alloc_raw(rows, sizeof *spare);

    if (!spare)
        return sp_fail_memory((size_t)rows * sizeof *spare);
    if (sigma > rows)
        sigma = rows;
    if (sigma < 1)
        sigma = 1; /* a step of 0 is none */
#pragma omp parallel for num_threads(w->threads) schedule(dynamic)
    for (int64_t i = 0; i < rows; i += sigma)
        sort_window(g, row + i, spare + i, rows - i < sigma ? rows - i : sigma);
    sp_free(spare);
    return SPRY_OK;
}

static void as_they_are(const sp_pack_job *w, int64_t *row)
{
    for (int64_t i = 0; i < w->A->rows; i++)
        row[i] = i;
}

/* ---- rows that share columns side by side ---- */

typedef struct {
    uint64_t key;
    int64_t row;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows that share columns tend to share the smallest hash of their column
 * groups (minhash), and so end up side by side. */
static uint64_t cluster_key(const spry_matrix *A, int64_t i)
{
    uint64_t least = UINT64_MAX;

    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        uint64_t h = ((uint64_t)sp_col(A, k) >> 3) * 0x9e3779b97f4a7c15u;

        h ^= h >> 29;
        least = h < least ? h : least;
    }
    return least;
}

static spry_status cluster(const sp_pack_job *w, int64_t *row)
{
    const spry_matrix *A = w->A;
    ranked *list = sp_alloc_raw(A->rows, sizeof *list);

    if (!list)
        return sp_fail_memory((size_t)A->rows * sizeof *list);
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t i = 0; i < A->rows; i++)
        list[i] = (ranked){cluster_key(A, i), i};
    qsort(list, (size_t)A->rows, sizeof *list, by_key);
    for (int64_t i = 0; i < A->rows; i++)
        row[i] = list[i].row;
    sp_free(list);
    return SPRY_OK;
}

/* All rows, longest first. */
static spry_status by_length(const sp_pack_job *w, int64_t *row)
{
    const spry_matrix *A = w->A;
    sp_segments all = {A->start, A->start + 1};

    as_they_are(w, row);
    return sp_pack_sort(w, row, A->rows, &all);
}

/* ---- reverse Cuthill-McKee, on the rows as a graph ---- */

static void visit(const spry_matrix *A, int64_t *queue, int64_t *tail,
                  uint8_t *seen, int64_t i)
{
    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        int64_t j = sp_col(A, k);

        if (!seen[j]) {
            seen[j] = 1;
            queue[(*tail)++] = j;
        }
    }
}

/* Breadth first from the shortest row not yet seen. */
static spry_status cuthill_mckee(const sp_pack_job *w, int64_t *row)
{
    const spry_matrix *A = w->A;
    int64_t n = A->rows, head = 0, tail = 0;
    uint8_t *seen = sp_alloc(n, 1);
    int64_t *longest = sp_alloc_raw(n, sizeof *longest);
    spry_status s =
        seen && longest ? by_length(w, longest) : sp_fail_memory((size_t)n * 9);

    for (int64_t next = n - 1; s == SPRY_OK && next >= 0; next--) {
        if (seen[longest[next]])
            continue;
        seen[longest[next]] = 1;
        row[tail++] = longest[next];
        while (head < tail)
            visit(A, row, &tail, seen, row[head++]);
    }
    for (int64_t i = 0; s == SPRY_OK && i < n / 2; i++) {
        int64_t swap = row[i];

        row[i] = row[n - 1 - i];
        row[n - 1 - i] = swap;
    }
    sp_free(seen);
    sp_free(longest);
    return s;
}

static spry_status order_rows(const sp_pack_job *w, int64_t *row)
{
    switch (w->x->order) {
    case SPRY_ORDER_LENGTH: return by_length(w, row);
    case SPRY_ORDER_CLUSTER: return cluster(w, row);
    case SPRY_ORDER_RCM:
        if (w->A->rows != w->A->cols)
            return sp_fail(SPRY_USAGE, "order=rcm needs a square matrix");
        return cuthill_mckee(w, row);
    default: as_they_are(w, row); return SPRY_OK;
    }
}

spry_status sp_pack_order(const sp_pack_job *w, int64_t *row)
{
    sp_segments all = {w->A->start, w->A->start + 1};
    spry_status s = order_rows(w, row);

    if (s == SPRY_OK && w->x->sigma > 1)
        s = sp_pack_sort(w, row, w->x->sigma, &all);
    return s;
}
