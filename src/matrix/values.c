/* values.c - matrices whose entries all have one value: graphs, patterns. */
#include <math.h>

#include "matrix/matrix.h"

int sp_matrix_one_value(const spry_matrix *m)
{
    double v = m->nnz > 0 ? sp_val(m, 0) : 0;

    if (!(fabs(v) >= 1 && fabs(v) < 1e30))
        return 0;
    for (int64_t k = 1; k < m->nnz; k++)
        if (sp_val(m, k) != v)
            return 0;
    return 1;
}
