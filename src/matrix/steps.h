/* steps.h - neighbouring rows walked side by side, one entry of each at a
 * time, while their columns are near each other. */
#ifndef SP_MATRIX_STEPS_H
#define SP_MATRIX_STEPS_H

#include "matrix/matrix.h"

enum { SP_STEP_ROWS = 128, SP_STEP_REACH = 256 };

typedef struct {
    int64_t next[SP_STEP_ROWS], end[SP_STEP_ROWS];
    int64_t took[SP_STEP_ROWS]; /* entry of each row in this step, or -1 */
    int rows;
} sp_steps;

static inline void sp_steps_begin(sp_steps *s, const spry_matrix *A,
                                  int64_t row, int rows)
{
    s->rows = rows;
    for (int l = 0; l < rows; l++, row++) {
        s->next[l] = row < A->rows ? A->start[row] : 0;
        s->end[l] = row < A->rows ? A->start[row + 1] : 0;
    }
}

/* Every row whose next column is within reach of the smallest one takes it.
 * Returns that column, -1 past the last entry. */
static inline int64_t sp_steps_next(sp_steps *s, const spry_matrix *A)
{
    int64_t least = -1;

    for (int l = 0; l < s->rows; l++)
        if (s->next[l] < s->end[l]) {
            int64_t col = sp_col(A, s->next[l]);

            least = least < 0 || col < least ? col : least;
        }
    for (int l = 0; least >= 0 && l < s->rows; l++) {
        int near = s->next[l] < s->end[l] &&
                   sp_col(A, s->next[l]) - least < SP_STEP_REACH;

        s->took[l] = near ? s->next[l]++ : -1;
    }
    return least;
}

static inline int64_t sp_steps_count(const spry_matrix *A, int64_t row,
                                     int rows)
{
    sp_steps s;
    int64_t n = 0;

    sp_steps_begin(&s, A, row, rows);
    while (sp_steps_next(&s, A) >= 0)
        n++;
    return n;
}

#endif
