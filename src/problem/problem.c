/* problem.c - a matrix and an operation become a problem with a key. */
#include "problem/problem.h"

#include <stdio.h>

#include "base/base.h"

static void make_key(spry_problem *p)
{
    char pattern[33];

    spry_matrix_key(pattern, p->A);
    snprintf(p->key, sizeof p->key, "%s-%lld-%s%s-%s", spry_op_name(p->op),
             (long long)p->n, spry_type_name(p->type),
             p->layout == SPRY_COL_MAJOR ? "-cm" : "", pattern);
}

/* Dense operands must be addressable: rows or cols times n, in bytes. */
static int too_wide(const spry_matrix *A, int64_t n)
{
    int64_t larger = A->rows > A->cols ? A->rows : A->cols, cells;

    return __builtin_mul_overflow(larger + 1, n, &cells) ||
           cells > INT64_MAX / 16;
}

static spry_status make(spry_problem **out, spry_op op, const spry_matrix *A,
                        int64_t n, spry_type type)
{
    spry_problem *p;

    *out = NULL;
    if (!A)
        return sp_fail(SPRY_USAGE, "a problem needs a matrix");
    if (n < 0 || too_wide(A, n))
        return sp_fail(SPRY_USAGE, "%lld dense columns make no sense",
                       (long long)n);
    if (type != SPRY_F32 && type != SPRY_F64)
        return sp_fail(SPRY_USAGE, "type %d is neither f32 nor f64", (int)type);
    p = sp_alloc(1, sizeof *p);
    if (!p)
        return sp_fail_memory(sizeof *p);
    p->op = op;
    p->A = A;
    p->n = n;
    p->type = type;
    pthread_mutex_init(&p->lock, NULL);
    make_key(p);
    *out = p;
    return SPRY_OK;
}

spry_status spry_problem_spmv(spry_problem **out, const spry_matrix *A,
                              spry_type type)
{
    return make(out, SPRY_SPMV, A, 1, type);
}

spry_status spry_problem_spmm(spry_problem **out, const spry_matrix *A,
                              int64_t n, spry_type type)
{
    return make(out, SPRY_SPMM, A, n, type);
}

spry_status spry_problem_sddmm(spry_problem **out, const spry_matrix *A,
                               int64_t n, spry_type type)
{
    return make(out, SPRY_SDDMM, A, n, type);
}

void spry_problem_set_layout(spry_problem *p, spry_layout layout)
{
    p->layout = p->op == SPRY_SPMM ? layout : SPRY_ROW_MAJOR;
    make_key(p);
}

void spry_problem_free(spry_problem *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    sp_free(p->stats);
    sp_free(p);
}

spry_op spry_problem_op(const spry_problem *p)
{
    return p->op;
}

spry_type spry_problem_type(const spry_problem *p)
{
    return p->type;
}

int64_t spry_problem_cols(const spry_problem *p)
{
    return p->n;
}

const spry_matrix *spry_problem_matrix(const spry_problem *p)
{
    return p->A;
}

const char *spry_problem_key(const spry_problem *p)
{
    return p->key;
}

/* Statistics cost a pass over the entries, so they wait until asked for;
 * the lock lets any thread be the one that asks first. */
const spry_stats *spry_problem_stats(const spry_problem *constant)
{
    spry_problem *p = (spry_problem *)(uintptr_t)constant;
    spry_stats *s, *known;

    pthread_mutex_lock(&p->lock);
    if (!p->stats && (s = sp_alloc(1, sizeof *s))) {
        if (spry_matrix_stats(s, p->A) == SPRY_OK)
            p->stats = s;
        else
            sp_free(s);
    }
    known = p->stats;
    pthread_mutex_unlock(&p->lock);
    return known;
}

double spry_problem_flops(const spry_problem *p)
{
    return 2.0 * (double)p->A->nnz * (double)p->n;
}

int64_t spry_problem_input_size(const spry_problem *p, int which)
{
    if (p->op == SPRY_SDDMM)
        return (which ? p->A->cols : p->A->rows) * p->n;
    return which ? 0 : p->A->cols * p->n;
}

int64_t spry_problem_output_size(const spry_problem *p)
{
    return p->op == SPRY_SDDMM ? p->A->nnz : p->A->rows * p->n;
}

/* Compressed rows with 32-bit indices, inputs read and outputs written once. */
double spry_problem_bytes(const spry_problem *p)
{
    double size = (double)p->type;
    double dense =
        (double)(spry_problem_input_size(p, 0) + spry_problem_input_size(p, 1) +
                 spry_problem_output_size(p));

    return (double)p->A->nnz * (size + 4) + 4 * (double)p->A->rows +
           dense * size;
}

void sp_problem_about(char *out, size_t size, const spry_problem *p)
{
    snprintf(out, size, "%s %lld %s %lldx%lld nnz %lld", spry_op_name(p->op),
             (long long)p->n, spry_type_name(p->type), (long long)p->A->rows,
             (long long)p->A->cols, (long long)p->A->nnz);
}
