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
    return sp_is_sampled(p->op) ? p->A->start[i + 1] - p->A->start[i] : p->n;
}

int64_t sp_result_place(const sp_sparse *p, int64_t i, int64_t j)
{
    if (sp_is_sampled(p->op))
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

/* Where column j of the row that index `row` names begins in an operand. */
static int64_t place_of(const sp_sparse *p, int row, const int64_t at[],
                        int64_t j)
{
    return p->layout == SPRY_COL_MAJOR ? j * sp_sparse_extent(p, row) + at[row]
                                       : at[row] * p->n + j;
}

/* The product of the operands' elements at column j, times `term`. */
static long double times_dense(const sp_sparse *p, const sp_operation *d,
                               const sp_operands *f, const int64_t at[],
                               int64_t j, long double term)
{
    const void *const operand[SP_DENSE] = {f->B, f->D};

    for (int i = 0; i < d->operands; i++)
        term *= (long double)sp_dense_get(p, operand[i],
                                          place_of(p, d->row[i], at, j));
    return term;
}

/* The indices of entry e, which is in row i. */
static void indices_of(int64_t at[SP_LETTERS], const sp_sparse *p,
                       const sp_operation *d, int64_t i, int64_t e)
{
    int64_t c = sp_col(p->A, e);

    at[d->sparse[0]] = i;
    at[d->sparse[1]] = d->modes == 3 ? c / p->inner : c;
    if (d->modes == 3)
        at[d->sparse[2]] = c % p->inner;
}

/* Result j of row i: sum over the row's entries. */
static void add_entries(const sp_sparse *p, int64_t i, int64_t j,
                        sp_value_map *map, const sp_operands *f,
                        long double *sum, long double *size)
{
    const sp_operation *d = sp_operation_of(p->op);

    for (int64_t e = p->A->start[i]; e < p->A->start[i + 1]; e++) {
        int64_t at[SP_LETTERS];
        long double term;

        indices_of(at, p, d, i, e);
        term = times_dense(p, d, f, at, j, value(p, e, map));
        *sum += term;
        *size += size_of(term);
    }
}

/* Result j of row i: entry times the product of two dense rows. */
static void sample(const sp_sparse *p, int64_t i, int64_t j, sp_value_map *map,
                   const sp_operands *f, long double *sum, long double *size)
{
    const sp_operation *d = sp_operation_of(p->op);
    int64_t e = p->A->start[i] + j, at[SP_LETTERS];
    long double v = value(p, e, map);

    indices_of(at, p, d, i, e);
    for (int64_t l = 0; l < p->n; l++) {
        long double term = times_dense(p, d, f, at, l, 1);

        *sum += term;
        *size += size_of(term);
    }
    *sum *= v;
    *size *= size_of(v);
}

long double sp_reference_one(const sp_sparse *p, int64_t i, int64_t j,
                             sp_value_map *map, const sp_operands *f,
                             long double *magnitude)
{
    long double sum = 0, size = 0, before = 0;
    long double alpha = (long double)f->alpha, beta = (long double)f->beta;

    if (sp_is_sampled(p->op))
        sample(p, i, j, map, f, &sum, &size);
    else
        add_entries(p, i, j, map, f, &sum, &size);
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
