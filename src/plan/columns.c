/* columns.c - column-major operands go through row-major copies. */
#include "base/base.h"
#include "plan/internal.h"

enum { BLOCK = 32 };

/* to[j][i] = from[i][j]; both rows x cols and cols x rows, contiguous. */
static void transpose(const sp_sparse *p, void *to, const void *from,
                      int64_t rows, int64_t cols, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t i0 = 0; i0 < rows; i0 += BLOCK)
        for (int64_t j0 = 0; j0 < cols; j0 += BLOCK)
            for (int64_t i = i0; i < rows && i < i0 + BLOCK; i++)
                for (int64_t j = j0; j < cols && j < j0 + BLOCK; j++)
                    if (p->type == SPRY_F32)
                        ((float *)to)[j * rows + i] =
                            ((const float *)from)[i * cols + j];
                    else
                        ((double *)to)[j * rows + i] =
                            ((const double *)from)[i * cols + j];
}

spry_status sp_run_columns(const sp_sparse_plan *plan, sp_operands f)
{
    const sp_sparse *p = plan->p;
    int64_t in = p->A->cols, out = p->A->rows;
    void *B = sp_alloc_raw(in * p->n, p->type);
    void *C = sp_alloc_raw(out * p->n, p->type), *result = f.C;
    spry_status s = SPRY_OK;

    if (!B || !C)
        s = sp_fail_memory((size_t)((in + out) * p->n) * p->type);
    else {
        transpose(p, B, f.B, p->n, in, plan->x.threads);
        if (f.beta != 0)
            transpose(p, C, f.C, p->n, out, plan->x.threads);
        f.B = B;
        f.C = C;
        s = sp_run_rows(plan, f);
        transpose(p, result, C, out, p->n, plan->x.threads);
    }
    sp_free(B);
    sp_free(C);
    return s;
}
