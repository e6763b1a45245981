/* walk.h - aligned r x c blocks of a matrix, one block row at a time.
 *
 * The r rows of a block row are merged by their next block column. */
#ifndef SP_MATRIX_WALK_H
#define SP_MATRIX_WALK_H

#include "matrix/matrix.h"

enum { SP_WALK_ROWS = 16 };

typedef struct {
    int64_t next[SP_WALK_ROWS]; /* entry of each row, */
    int64_t stop[SP_WALK_ROWS]; /* where the block at hand ends in it, */
    int64_t end[SP_WALK_ROWS];  /* and the row */
    int rows, c;
} sp_walk;

static inline sp_walk sp_walk_begin(const spry_matrix *A, int64_t u, int r,
                                    int c)
{
    sp_walk w = {.c = c};

    for (int64_t i = u * r; w.rows < r && i < A->rows; w.rows++, i++) {
        w.next[w.rows] = w.stop[w.rows] = A->start[i];
        w.end[w.rows] = A->start[i + 1];
    }
    return w;
}

/* Move to the next block that holds an entry: its block column, -1 past the
 * last. Its entries in row q are [next[q], stop[q]). The smallest column is
 * looked for, so that there is one division, not one per row. */
static inline int64_t sp_walk_next(const spry_matrix *A, sp_walk *w)
{
    int64_t least = -1, end;

    for (int q = 0; q < w->rows; q++) {
        w->next[q] = w->stop[q];
        if (w->next[q] < w->end[q]) {
            int64_t col = sp_col(A, w->next[q]);

            if (least < 0 || col < least)
                least = col;
        }
    }
    if (least < 0)
        return -1;
    least /= w->c;
    end = (least + 1) * w->c;
    for (int q = 0; q < w->rows; q++)
        while (w->stop[q] < w->end[q] && sp_col(A, w->stop[q]) < end)
            w->stop[q]++;
    return least;
}

/* Entries of the block at hand. */
static inline int sp_walk_entries(const sp_walk *w)
{
    int64_t n = 0;

    for (int q = 0; q < w->rows; q++)
        n += w->stop[q] - w->next[q];
    return (int)n;
}

#endif
