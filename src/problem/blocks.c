/* blocks.c - how many blocks of a matrix hold an entry.
 *
 * Levels of a nest store one position for every beginning of coordinates
 * that an entry has: whatever their order, that is a count of blocks. Each is
 * one walk over the entries, made when first asked for and then known. */
#include "base/unconst.h"
#include "problem/sparse.h"

#include "base/base.h"
#include "matrix/matrix.h"

/* Columns of one row ascend: a new block is one that is not the last. */
static int64_t count_in_rows(const spry_matrix *A, int cols)
{
    int64_t blocks = 0;

    if (cols == 0)
        return A->nnz;
    for (int64_t row = 0; row < A->rows; row++) {
        int64_t last = -1;

        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++) {
            int64_t at = sp_col(A, k) >> cols;

            blocks += at != last;
            last = at;
        }
    }
    return blocks;
}

/* seen[at]: the last row of blocks that had an entry there, + 1. */
static int64_t count_across(const spry_matrix *A, int rows, int cols,
                            int64_t *seen)
{
    int64_t blocks = 0;

    for (int64_t row = 0; row < A->rows; row++) {
        int64_t now = (row >> rows) + 1;

        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++) {
            int64_t at = sp_col(A, k) >> cols;

            blocks += seen[at] != now;
            seen[at] = now;
        }
    }
    return blocks;
}

static int64_t count(const spry_matrix *A, int rows, int cols)
{
    int64_t *seen, blocks;

    if (rows == 0)
        return count_in_rows(A, cols);
    seen = sp_alloc((A->cols >> cols) + 1, sizeof *seen);
    if (!seen)
        return -1;
    blocks = count_across(A, rows, cols, seen);
    sp_free(seen);
    return blocks;
}

int64_t sp_problem_blocks(const sp_sparse *p, int rows, int cols)
{
    sp_sparse *own = sp_unconst(p);
    int64_t *known, blocks = -1;

    pthread_mutex_lock(&own->lock);
    if (!own->blocks)
        own->blocks =
            sp_alloc((int64_t)SP_BLOCKS * SP_BLOCKS, sizeof *own->blocks);
    if (own->blocks) {
        known = &own->blocks[rows * SP_BLOCKS + cols]; /* + 1; 0: not yet */
        if (!*known)
            *known = count(own->A, rows, cols) + 1;
        blocks = *known - 1;
    }
    pthread_mutex_unlock(&own->lock);
    return blocks;
}
