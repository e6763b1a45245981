/* transpose.c - from a matrix to its transpose. */
#include "spry/matrix.h"

#include <string.h>

#include "matrix/internal.h"

/* start[c + 1] becomes the first place of column c's entries. */
static void count_columns(int64_t *start, const spry_matrix *m)
{
    memset(start, 0, (size_t)(m->cols + 1) * sizeof *start);
    for (int64_t k = 0; k < m->nnz; k++)
        if (sp_col(m, k) + 2 <= m->cols)
            start[sp_col(m, k) + 2]++;
    for (int64_t c = 2; c <= m->cols; c++)
        start[c] += start[c - 1];
}

/* Rows are walked in order, so the new columns ascend by themselves. While
 * walking, start[c + 1] moves from the first place of column c to its end. */
spry_status spry_matrix_transpose(spry_matrix **out, const spry_matrix *m)
{
    SP_NEED_NEW(out, m);

    spry_index index = m->index == SPRY_I64 ? SPRY_I64 : sp_index_for(m->rows);
    sp_draft d;
    spry_status s = sp_draft_make(&d, m->cols, m->rows, m->nnz, index, m->type);

    if (s != SPRY_OK)
        return s;
    count_columns(d.start, m);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t k = m->start[r]; k < m->start[r + 1]; k++) {
            int64_t at = d.start[sp_col(m, k) + 1]++;

            sp_store_col(d.col, index, at, r);
            sp_store_val(d.val, m->type, at, sp_val(m, k));
        }
    *out = d.m;
    return SPRY_OK;
}
