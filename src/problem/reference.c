/* reference.c - the slow right answer.
 *
 * One entry after the other, in long double, over stored entries only: this
 * is the definition that every kernel is held to. */
#include "problem/sparse.h"

#include "matrix/matrix.h"

double sp_dense_get(const sp_sparse *p, const void *X, int64_t k)
{
    return p->type == SPRY_F32 ? (double)((const float *)X)[k]
                               : ((const double *)X)[k];
}

void sp_dense_put(const sp_sparse *p, void *X, int64_t k, double x)
{
    if (p->type == SPRY_F32)
        ((float *)X)[k] = (float)x;
    else
        ((double *)X)[k] = x;
}

int64_t sp_result_width(const sp_sparse *p, int64_t i)
{
    return p->op == SPRY_SDDMM ? p->A->start[i + 1] - p->A->start[i] : p->n;
}

int64_t sp_result_place(const sp_sparse *p, int64_t i, int64_t j)
{
    if (p->op == SPRY_SDDMM)
        return p->A->start[i] + j;
    return p->layout == SPRY_COL_MAJOR ? j * p->A->rows + i : i * p->n + j;
}

/* A's value as the kernel sees it: rounded to the problem's type. */
static long double value(const sp_sparse *p, int64_t k, sp_value_map *map)
{
    double v = sp_val(p->A, k);

    if (p->type == SPRY_F32)
        v = (double)(float)v;
    return (long double)(map ? map(v) : v);
}

static long double size_of(long double x)
{
    return x < 0 ? -x : x;
}

/* Result j of row i: sum over the row's entries. */
static void multiply(const sp_sparse *p, int64_t i, int64_t j,
                     sp_value_map *map, const void *B, long double *sum,
                     long double *size)
{
    const spry_matrix *A = p->A;

    for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
        int64_t c = sp_col(A, k);
        int64_t place =
            p->layout == SPRY_COL_MAJOR ? j * A->cols + c : c * p->n + j;
        long double term =
            value(p, k, map) * (long double)sp_dense_get(p, B, place);

        *sum += term;
        *size += size_of(term);
    }
}

/* Result j of row i: entry times the product of two dense rows. */
static void sample(const sp_sparse *p, int64_t i, int64_t j, sp_value_map *map,
                   const void *B, const void *D, long double *sum,
                   long double *size)
{
    int64_t k = p->A->start[i] + j, b = i * p->n, d = sp_col(p->A, k) * p->n;
    long double v = value(p, k, map);

    for (int64_t l = 0; l < p->n; l++) {
        long double term = (long double)sp_dense_get(p, B, b + l) *
                           (long double)sp_dense_get(p, D, d + l);

        *sum += term;
        *size += size_of(term);
    }
    *sum *= v;
    *size *= size_of(v);
}

/* Result j of row i: sum over the slice's entries. */
static void contract(const sp_sparse *p, int64_t i, int64_t j,
                     sp_value_map *map, const sp_operands *f, long double *sum,
                     long double *size)
{
    const spry_matrix *A = p->A;

    for (int64_t e = A->start[i]; e < A->start[i + 1]; e++) {
        int64_t b = sp_col(A, e) / p->inner, d = sp_col(A, e) % p->inner;
        long double term = value(p, e, map) *
                           (long double)sp_dense_get(p, f->B, b * p->n + j) *
                           (long double)sp_dense_get(p, f->D, d * p->n + j);

        *sum += term;
        *size += size_of(term);
    }
}

long double sp_reference_one(const sp_sparse *p, int64_t i, int64_t j,
                             sp_value_map *map, const sp_operands *f,
                             long double *magnitude)
{
    long double sum = 0, size = 0, before = 0;
    long double alpha = (long double)f->alpha, beta = (long double)f->beta;

    if (p->op == SPRY_SDDMM)
        sample(p, i, j, map, f->B, f->D, &sum, &size);
    else if (p->op == SPRY_MTTKRP)
        contract(p, i, j, map, f, &sum, &size);
    else
        multiply(p, i, j, map, f->B, &sum, &size);
    if (beta != 0)
        before =
            beta * (long double)sp_dense_get(p, f->C, sp_result_place(p, i, j));
    if (magnitude)
        *magnitude = size_of(alpha) * size + size_of(before);
    return alpha * sum + before;
}

void sp_reference(const sp_sparse *p, const sp_operands *f)
{
    for (int64_t i = 0; i < p->A->rows; i++)
        for (int64_t j = 0; j < sp_result_width(p, i); j++)
            sp_dense_put(p, f->C, sp_result_place(p, i, j),
                         (double)sp_reference_one(p, i, j, NULL, f, NULL));
}
