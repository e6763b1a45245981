/* operands.c - a problem -> plain arrays that any library can be given. */
#include "operands.h"

#include <string.h>

#include "base/base.h"
#include "matrix/matrix.h"
#include "problem/sparse.h"

spry_status bench_problem(spry_problem **out, const spry_matrix *A,
                          const bench_case *c)
{
    return spry_problem_make(out, c->op, A, c->n, c->type);
}

double bench_dense_bytes(const spry_matrix *A, const bench_case *c)
{
    double both = (double)(A->rows + A->cols) * (double)c->n;
    double results = c->op == SPRY_SDDMM ? (double)A->nnz : 0;

    return (both + results) * (double)c->type;
}

/* ---- the matrix ---- */

/* Rows where each thread's share of the nonzeros begins. */
static void cut_rows(bench_operands *o)
{
    int64_t row = 0;

    for (int t = 0; t < o->c.threads; t++) {
        while (row < o->rows && o->start[row] < o->nnz / o->c.threads * t)
            row++;
        o->cut[t] = row;
    }
    o->cut[o->c.threads] = o->rows;
}

static spry_status copy_matrix(bench_operands *o)
{
    const spry_matrix *A = spry_problem_matrix(o->p);

    if (A->nnz > INT32_MAX || A->cols > INT32_MAX)
        return sp_fail(SPRY_USAGE, "too large for 32-bit indices");
    o->start = sp_alloc_raw(A->rows + 1, sizeof *o->start);
    o->col = sp_alloc_raw(A->nnz, sizeof *o->col);
    o->val = sp_alloc_raw(A->nnz, o->c.type);
    o->cut = sp_alloc_raw(o->c.threads + 1, sizeof *o->cut);
    if (!o->start || !o->col || !o->val || !o->cut)
        return sp_fail_memory((size_t)A->nnz * 8);
    for (int64_t i = 0; i <= A->rows; i++)
        o->start[i] = (int32_t)A->start[i];
    for (int64_t k = 0; k < A->nnz; k++) {
        o->col[k] = (int32_t)sp_col(A, k);
        sp_dense_put(sp_sparse_of(o->p), o->val, k, sp_val(A, k));
    }
    cut_rows(o);
    return SPRY_OK;
}

/* ---- dense operands ---- */

enum { PERIOD = 65537 }; /* prime: rows of any width differ */

/* A random sequence, again and again. */
static void *random_operand(const spry_problem *p, int which)
{
    int64_t count = spry_problem_input_size(p, which);
    spry_type type = spry_problem_type(p);
    char *X = sp_alloc_raw(count, type);
    sp_rng r = sp_rng_seed((uint64_t)which);

    for (int64_t k = 0; X && k < count && k < PERIOD; k++)
        sp_dense_put(sp_sparse_of(p), X, k, 2 * sp_rng_unit(&r) - 1);
    for (int64_t k = PERIOD; X && k < count; k += PERIOD) {
        int64_t left = count - k < PERIOD ? count - k : PERIOD;

        memcpy(X + k * (int64_t)type, X, (size_t)left * (size_t)type);
    }
    return X;
}

spry_status bench_operands_make(bench_operands *out, const spry_problem *p,
                                int threads)
{
    const spry_matrix *A = spry_problem_matrix(p);
    spry_status s;

    *out = (bench_operands){.c = {spry_problem_op(p), spry_problem_cols(p),
                                  spry_problem_type(p), threads},
                            .p = p,
                            .rows = A->rows,
                            .cols = A->cols,
                            .nnz = A->nnz};
    s = copy_matrix(out);
    out->B = random_operand(p, 0);
    out->D = random_operand(p, 1);
    out->C = sp_alloc(spry_problem_output_size(p), spry_problem_type(p));
    if (s == SPRY_OK && (!out->B || !out->D || !out->C))
        s = sp_fail_memory((size_t)bench_dense_bytes(A, &out->c));
    if (s != SPRY_OK)
        bench_operands_free(out);
    return s;
}

void bench_operands_free(bench_operands *o)
{
    sp_free(o->start);
    sp_free(o->col);
    sp_free(o->val);
    sp_free(o->cut);
    sp_free(o->B);
    sp_free(o->D);
    sp_free(o->C);
    *o = (bench_operands){0};
}
