/* symmetric.c - matrices that are their own transpose. */
#include "base/base.h"
#include "matrix/matrix.h"

/* Rows come in order, so the mirror of an entry in column j is the first entry
 * of row j that was not met yet, or it is not there. */
static int find_twins(int64_t *twin, int64_t *next, const spry_matrix *m)
{
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            int64_t j = sp_col(m, k), at = next[j]++;

            if (at == m->start[j + 1] || sp_col(m, at) != i)
                return 0;
            if (twin)
                twin[k] = at;
            else if (sp_val(m, at) != sp_val(m, k))
                return 0;
        }
    return 1;
}

static spry_status look(int64_t *twin, const spry_matrix *m, const char *why)
{
    int64_t *next;
    int found;

    if (m->rows != m->cols)
        return sp_fail(SPRY_USAGE, "a symmetric matrix is square");
    next = sp_alloc_raw(m->rows + 1, sizeof *next);
    if (!next)
        return sp_fail_memory((size_t)m->rows * sizeof *next);
    for (int64_t i = 0; i < m->rows; i++)
        next[i] = m->start[i];
    found = find_twins(twin, next, m);
    sp_free(next);
    return found ? SPRY_OK : sp_fail(SPRY_USAGE, "%s", why);
}

spry_status sp_matrix_symmetric(const spry_matrix *m)
{
    return look(NULL, m, "the matrix is not symmetric");
}

spry_status sp_matrix_twins(int64_t *twin, const spry_matrix *m)
{
    return look(twin, m, "the pattern is not symmetric");
}
