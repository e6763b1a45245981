/* transpose.c - the problem of a matrix becomes that of its transpose. */
#include "base/base.h"
#include "base/unconst.h"
#include "problem/sparse.h"

/* A', whose values are the numbers of A's entries. */
static spry_status number(spry_matrix **out, const spry_matrix *A)
{
    spry_matrix numbered = *A;
    double *v = sp_alloc_raw(A->nnz, sizeof *v);
    spry_status s;

    *out = NULL;
    if (!v)
        return sp_fail_memory((size_t)A->nnz * sizeof *v);
    for (int64_t e = 0; e < A->nnz; e++)
        v[e] = (double)e; /* exact: nnz is far below 2^53 */
    numbered.type = SPRY_F64;
    numbered.val = v;
    s = spry_matrix_transpose(out, &numbered);
    sp_free(v);
    return s;
}

/* Numbers move to order[], A's values take their place. */
static void fill(spry_matrix *T, int64_t *order, const spry_matrix *A)
{
    void *val = sp_unconst(T->val); /* its own, and never narrower */

    for (int64_t e = 0; e < T->nnz; e++)
        order[e] = (int64_t)((const double *)val)[e];
    T->type = A->type;
    for (int64_t e = 0; e < T->nnz; e++)
        if (A->type == SPRY_F32)
            ((float *)val)[e] = ((const float *)A->val)[order[e]];
        else
            ((double *)val)[e] = ((const double *)A->val)[order[e]];
}

spry_status spry_problem_transpose(spry_problem **out, const spry_problem *p)
{
    SP_NEED_NEW(out, p);

    const sp_sparse *a = NULL;
    sp_sparse as = {.inner = 1};
    spry_status s;

    s = sp_sparse_need(&a, p);
    if (s == SPRY_OK && (sp_is_sampled(a->op) || sp_has_tensor(a->op)))
        s = sp_fail(SPRY_USAGE, "%s has no transposed product",
                    spry_op_name(a->op));
    if (s == SPRY_OK)
        s = number(&as.own, a->A);
    if (s != SPRY_OK)
        return s;
    as.order = sp_alloc_raw(a->A->nnz, sizeof *as.order);
    if (as.order) {
        fill(as.own, as.order, a->A);
        as.op = a->op;
        as.type = a->type;
        as.layout = a->layout;
        as.n = a->n;
        as.A = as.own;
        as.mid = as.A->cols;
        s = sp_sparse_make(out, &as);
    } else
        s = sp_fail_memory((size_t)a->A->nnz * sizeof *as.order);
    if (s != SPRY_OK) {
        spry_matrix_free(as.own);
        sp_free(as.order);
    }
    return s;
}
