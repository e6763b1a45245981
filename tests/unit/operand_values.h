/* operand_values.h - matrices of small integers, and arrays of either type. */
#ifndef SPRY_OPERAND_VALUES_H
#define SPRY_OPERAND_VALUES_H

#include "odd_matrices.h"

static inline spry_matrix *integers(int which)
{
    spry_matrix *A = make_matrix(which);
    double *v = (double *)(uintptr_t)A->val;

    for (int64_t k = 0; k < A->nnz; k++)
        v[k] = (double)(k % 7) - 3.0;
    return A;
}

static inline double value_at(const void *x, int64_t k, spry_type type)
{
    return type == SPRY_F32 ? (double)((const float *)x)[k]
                            : ((const double *)x)[k];
}

static inline void set_at(void *x, int64_t k, spry_type type, double value)
{
    if (type == SPRY_F32)
        ((float *)x)[k] = (float)value;
    else
        ((double *)x)[k] = value;
}

#endif
