/* problem.c - a matrix and an operation become a problem with a key. */
#include "problem/problem.h"

#include <stdio.h>

#include "base/base.h"
#include "matrix/matrix.h"

static void make_key(spry_problem *p)
{
    char pattern[33], inner[24] = "";

    if (p->op == SPRY_MTTKRP)
        snprintf(inner, sizeof inner, "-%lld", (long long)p->inner);
    spry_matrix_key(pattern, p->A);
    snprintf(p->key, sizeof p->key, "%s-%lld-%s%s%s-%s", spry_op_name(p->op),
             (long long)p->n, spry_type_name(p->type),
             p->layout == SPRY_COL_MAJOR ? "-cm" : "", inner, pattern);
}

/* Dense operands must be addressable: rows or cols times n, in bytes. */
static int too_wide(const spry_problem *p, int64_t n)
{
    int64_t larger = p->A->rows, cells;

    larger = p->mid > larger ? p->mid : larger;
    larger = p->inner > larger ? p->inner : larger;
    return __builtin_mul_overflow(larger + 1, n, &cells) ||
           cells > INT64_MAX / 16;
}

/* *out becomes a copy of `as`, if that makes sense. */
static spry_status make(spry_problem **out, const spry_problem *as)
{
    spry_problem *p;

    *out = NULL;
    if (as->n < 0 || too_wide(as, as->n))
        return sp_fail(SPRY_USAGE, "%lld dense columns make no sense",
                       (long long)as->n);
    if (as->type != SPRY_F32 && as->type != SPRY_F64)
        return sp_fail(SPRY_USAGE, "type %d is neither f32 nor f64",
                       (int)as->type);
    p = sp_alloc(1, sizeof *p);
    if (!p)
        return sp_fail_memory(sizeof *p);
    *p = *as;
    pthread_mutex_init(&p->lock, NULL);
    make_key(p);
    *out = p;
    return SPRY_OK;
}

static spry_status of_matrix(spry_problem **out, spry_op op,
                             const spry_matrix *A, int64_t n, spry_type type)
{
    spry_problem as = {.op = op, .A = A, .n = n, .type = type, .inner = 1};

    *out = NULL;
    if (!A)
        return sp_fail(SPRY_USAGE, "a problem needs a matrix");
    as.mid = A->cols;
    return make(out, &as);
}

spry_status spry_problem_spmv(spry_problem **out, const spry_matrix *A,
                              spry_type type)
{
    return of_matrix(out, SPRY_SPMV, A, 1, type);
}

spry_status spry_problem_spmm(spry_problem **out, const spry_matrix *A,
                              int64_t n, spry_type type)
{
    return of_matrix(out, SPRY_SPMM, A, n, type);
}

spry_status spry_problem_sddmm(spry_problem **out, const spry_matrix *A,
                               int64_t n, spry_type type)
{
    return of_matrix(out, SPRY_SDDMM, A, n, type);
}

spry_status spry_problem_mttkrp(spry_problem **out, const spry_tensor *T,
                                int64_t n, spry_type type)
{
    spry_problem as = {.op = SPRY_MTTKRP, .n = n, .type = type};

    *out = NULL;
    if (!T)
        return sp_fail(SPRY_USAGE, "a problem needs a tensor");
    as.A = T->unfolded;
    as.mid = T->dim[1];
    as.inner = T->dim[2];
    return make(out, &as);
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
    sp_free(p->sketch);
    sp_free(p->fibers);
    sp_free(p->blocks);
    sp_free(p->tiles);
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

int64_t spry_problem_mid(const spry_problem *p)
{
    return p->mid;
}

int64_t spry_problem_inner(const spry_problem *p)
{
    return p->inner;
}

const char *spry_problem_key(const spry_problem *p)
{
    return p->key;
}

/* Statistics cost a pass over the entries, so they wait until asked for;
 * the lock lets any thread be the one that asks first. */
static const spry_stats *counted(spry_problem *p, spry_stats **slot,
                                 spry_status (*count)(spry_stats *,
                                                      const spry_matrix *))
{
    spry_stats *s, *known;

    pthread_mutex_lock(&p->lock);
    if (!*slot && (s = sp_alloc(1, sizeof *s))) {
        if (count(s, p->A) == SPRY_OK)
            *slot = s;
        else
            sp_free(s);
    }
    known = *slot;
    pthread_mutex_unlock(&p->lock);
    return known;
}

const spry_stats *spry_problem_stats(const spry_problem *constant)
{
    spry_problem *p = (spry_problem *)(uintptr_t)constant;

    return counted(p, &p->stats, spry_matrix_stats);
}

const spry_stats *sp_problem_sketch(const spry_problem *constant)
{
    spry_problem *p = (spry_problem *)(uintptr_t)constant;

    if (p->A->nnz <= SP_SKETCH_FROM) /* the same, and perhaps known */
        return spry_problem_stats(p);
    return counted(p, &p->sketch, sp_matrix_sketch);
}

const sp_fibers *sp_problem_fibers(const spry_problem *constant)
{
    spry_problem *p = (spry_problem *)(uintptr_t)constant;
    sp_fibers *s, *known;

    pthread_mutex_lock(&p->lock);
    if (!p->fibers && (s = sp_alloc(1, sizeof *s))) {
        if (sp_fibers_count(s, p) == SPRY_OK)
            p->fibers = s;
        else
            sp_free(s);
    }
    known = p->fibers;
    pthread_mutex_unlock(&p->lock);
    return known;
}

double spry_problem_flops(const spry_problem *p)
{
    double each = p->op == SPRY_MTTKRP ? 3 : 2;

    return each * (double)p->A->nnz * (double)p->n;
}

int64_t spry_problem_input_size(const spry_problem *p, int which)
{
    if (p->op == SPRY_SDDMM)
        return (which ? p->A->cols : p->A->rows) * p->n;
    if (p->op == SPRY_MTTKRP)
        return (which ? p->inner : p->mid) * p->n;
    return which ? 0 : p->A->cols * p->n;
}

int64_t spry_problem_output_size(const spry_problem *p)
{
    return p->op == SPRY_SDDMM ? p->A->nnz : p->A->rows * p->n;
}

/* Compressed rows with 32-bit indices (two per entry of a tensor), inputs read
 * and outputs written once. */
double spry_problem_bytes(const spry_problem *p)
{
    double size = (double)p->type, index = p->op == SPRY_MTTKRP ? 8 : 4;
    double dense =
        (double)(spry_problem_input_size(p, 0) + spry_problem_input_size(p, 1) +
                 spry_problem_output_size(p));

    return (double)p->A->nnz * (size + index) + 4 * (double)p->A->rows +
           dense * size;
}

void sp_problem_about(char *out, size_t size, const spry_problem *p)
{
    char inner[24] = "";

    if (p->op == SPRY_MTTKRP)
        snprintf(inner, sizeof inner, "x%lld", (long long)p->inner);
    snprintf(out, size, "%s %lld %s %lldx%lld%s nnz %lld", spry_op_name(p->op),
             (long long)p->n, spry_type_name(p->type), (long long)p->A->rows,
             (long long)p->mid, inner, (long long)p->A->nnz);
}
