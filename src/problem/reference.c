/* reference.c - the slow right answer.
 *
 * One entry after the other, in long double, over stored entries only: this
 * is the definition that every kernel is held to. */
#include "problem/sparse.h"

#include "matrix/matrix.h"

static double get(const sp_sparse *p, const void *X, int64_t k)
{
    return p->type == SPRY_F32 ? (double)((const float *)X)[k]
                               : ((const double *)X)[k];
}

double sp_dense_get(const sp_sparse *p, const void *X, int64_t k)
{
    return get(p, X, k);
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

/* A dense operand: by which mode of an entry its row is found, and how far
 * rows and columns are apart. */
typedef struct {
    const void *X;
    int mode;
    int64_t down, right;
} dense_view;

static int views_of(dense_view out[SP_DENSE], const sp_sparse *p,
                    const sp_operands *f)
{
    const sp_operation *d = sp_operation_of(p->op);
    const void *const operand[SP_DENSE] = {f->B, f->D};
    int by_columns = p->layout == SPRY_COL_MAJOR;

    for (int k = 0; k < d->operands; k++) {
        int64_t rows = sp_sparse_extent(p, d->row[k]);
        int mode = 0;

        while (d->sparse[mode] != d->row[k])
            mode++;
        out[k] = (dense_view){operand[k], mode, by_columns ? 1 : p->n,
                              by_columns ? rows : 1};
    }
    return d->operands;
}

static long double element(const sp_sparse *p, const dense_view *v,
                           const int64_t at[SP_SPARSE], int64_t j)
{
    return (long double)get(p, v->X, at[v->mode] * v->down + j * v->right);
}

/* Column j of the operands' rows that entry `at` meets, multiplied. */
static long double product(const sp_sparse *p, const dense_view *v,
                           int operands, const int64_t at[SP_SPARSE], int64_t j)
{
    long double term = element(p, v, at, j);

    return operands > 1 ? term * element(p, v + 1, at, j) : term;
}

/* The modes of entry e but the first; a matrix has its columns alone. */
static void place(int64_t at[SP_SPARSE], const sp_sparse *p, int64_t e)
{
    int64_t c = sp_col(p->A, e);

    at[1] = p->inner > 1 ? c / p->inner : c;
    at[2] = p->inner > 1 ? c % p->inner : 0;
}

/* Result j of row i: sum over the row's entries. */
static void add_entries(const sp_sparse *p, int64_t i, int64_t j,
                        sp_value_map *map, const sp_operands *f,
                        long double *sum, long double *size)
{
    int64_t at[SP_SPARSE] = {i};
    dense_view v[SP_DENSE] = {{0}};
    int operands = views_of(v, p, f);

    for (int64_t e = p->A->start[i]; e < p->A->start[i + 1]; e++) {
        long double term;

        place(at, p, e);
        term = value(p, e, map) * product(p, v, operands, at, j);
        *sum += term;
        *size += size_of(term);
    }
}

/* Result j of row i: entry times the product of two dense rows. */
static void sample(const sp_sparse *p, int64_t i, int64_t j, sp_value_map *map,
                   const sp_operands *f, long double *sum, long double *size)
{
    int64_t e = p->A->start[i] + j, at[SP_SPARSE] = {i};
    long double entry = value(p, e, map);
    dense_view v[SP_DENSE] = {{0}};
    int operands = views_of(v, p, f);

    place(at, p, e);
    for (int64_t l = 0; l < p->n; l++) {
        long double term = product(p, v, operands, at, l);

        *sum += term;
        *size += size_of(term);
    }
    *sum *= entry;
    *size *= size_of(entry);
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
