/* order.c - in which order rows are walked.
 *
 * Only the walk changes: a row list says where each result goes, so columns
 * and the dense operands stay as they are. */
#include <stdlib.h>

#include "pack/internal.h"

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

static spry_status sort_rows(const sp_pack_job *w, int64_t *row,
                             uint64_t (*key)(const spry_matrix *, int64_t))
{
    const spry_matrix *A = w->A;
    ranked *list = sp_alloc_raw(A->rows, sizeof *list);

    if (!list)
        return sp_fail_memory((size_t)A->rows * sizeof *list);
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t i = 0; i < A->rows; i++)
        list[i] = (ranked){key(A, i), i};
    qsort(list, (size_t)A->rows, sizeof *list, by_key);
    for (int64_t i = 0; i < A->rows; i++)
        row[i] = list[i].row;
    sp_free(list);
    return SPRY_OK;
}

/* Longest first. */
static uint64_t length_key(const spry_matrix *A, int64_t i)
{
    return (uint64_t)INT64_MAX - (uint64_t)(A->start[i + 1] - A->start[i]);
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
    spry_status s = seen && longest ? sort_rows(w, longest, length_key)
                                    : sp_fail_memory((size_t)n * 9);

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

spry_status sp_pack_order(const sp_pack_job *w, int64_t *row)
{
    if (w->x->order == SPRY_ORDER_LENGTH)
        return sort_rows(w, row, length_key);
    if (w->x->order == SPRY_ORDER_CLUSTER)
        return sort_rows(w, row, cluster_key);
    if (w->A->rows != w->A->cols)
        return sp_fail(SPRY_USAGE, "order=rcm needs a square matrix");
    return cuthill_mckee(w, row);
}
