/* dense.c - C = A B for dense B and C, as PETSc's products of matrices.
 *
 * A type of another name has no product with dense matrices but a loop over
 * columns. AIJ's own set-up is kept, only the numbers are computed here. */
#include <petsc/private/matimpl.h>
#include <petsctime.h>

#include "internal.h"

static PetscErrorCode operand(Mat M, const void *data, spry_dense *out)
{
    PetscInt lda;

    PetscFunctionBegin;
    PetscCall(MatDenseGetLDA(M, &lda));
    *out = (spry_dense){(void *)(uintptr_t)data, lda, SPRY_COL_MAJOR};
    PetscFunctionReturn(0);
}

enum { AT_ONCE, ONE_BY_ONE, TRIES = 4 };

/* Columns of few entries a row are often faster one by one, by the plan for
 * vectors, which also multiplies widths without a plan. Whichever computes, it
 * is right: the first products try both. */
static int choose(product *p, const spry_plan *vector)
{
    if (p->way[AT_ONCE] != p->plan || p->way[ONE_BY_ONE] != vector) {
        p->way[AT_ONCE] = p->plan;
        p->way[ONE_BY_ONE] = vector;
        p->tries = 0;
    }
    if (p->tries < TRIES)
        return p->tries % 2;
    return p->best[ONE_BY_ONE] < p->best[AT_ONCE];
}

static void note(product *p, int way, PetscLogDouble seconds)
{
    if (p->tries >= TRIES)
        return;
    if (p->tries < 2 || seconds < p->best[way])
        p->best[way] = seconds;
    p->tries++;
}

static spry_status one_by_one(const spry_plan *plan, PetscInt count,
                              const spry_dense *b, const spry_dense *c)
{
    spry_status s = SPRY_OK;

    for (PetscInt j = 0; s == SPRY_OK && j < count; j++)
        s = spry_run(plan, (const PetscScalar *)b->data + j * b->ld,
                     (PetscScalar *)c->data + j * c->ld);
    return s;
}

/* By p's plan or by the one for vectors, if there is such; one there is. */
static PetscErrorCode run(Mat A, product *p, product *vector, Mat B, Mat C,
                          PetscBool *done)
{
    const PetscScalar *in;
    PetscScalar *out;
    PetscLogDouble before, after;
    spry_dense b, c;
    spry_status s;
    int way = !p ? ONE_BY_ONE : vector ? choose(p, vector->plan) : AT_ONCE;
    product *by = way == ONE_BY_ONE ? vector : p;

    PetscFunctionBegin;
    PetscCall(MatDenseGetArrayRead(B, &in));
    PetscCall(MatDenseGetArrayWrite(C, &out));
    PetscCall(operand(B, in, &b));
    PetscCall(operand(C, out, &c));
    PetscCall(PetscTime(&before));
    if (way == ONE_BY_ONE)
        s = one_by_one(vector->plan, B->cmap->N, &b, &c);
    else
        s = spry_run_dense(p->plan, 1, &b, NULL, 0, &c);
    PetscCall(PetscTime(&after));
    PetscCall(MatDenseRestoreArrayWrite(C, &out));
    PetscCall(MatDenseRestoreArrayRead(B, &in));
    *done = s == SPRY_OK ? PETSC_TRUE : PETSC_FALSE;
    if (s != SPRY_OK) {
        refuse(A, by);
        PetscFunctionReturn(0);
    }
    PetscCall(log_flops(A, B->cmap->N));
    if (p)
        note(p, way, after - before);
    ran(A, by, after - before);
    PetscFunctionReturn(0);
}

static PetscErrorCode multiply(Mat C)
{
    Mat_Product *what = C->product;
    Mat A = what->A, B = what->B;
    products *of;
    product *p = NULL, *vector = NULL;
    PetscBool done = PETSC_FALSE;

    PetscFunctionBegin;
    PetscCall(products_of(A, &of));
    if (of && B->cmap->N > 0 && C->rmap->n > 0) {
        PetscCall(ready(A, of, BY_COLUMNS, B->cmap->N, &p));
        PetscCall(ready(A, of, VECTOR, 0, &vector));
    }
    if (p || vector)
        PetscCall(run(A, p, vector, B, C, &done));
    if (!done)
        PetscCall((*C->ops->matmultnumeric)(A, B, C));
    PetscFunctionReturn(0);
}

/* AIJ's symbolic part, then our numeric one. */
static PetscErrorCode symbolic(Mat C)
{
    PetscFunctionBegin;
    PetscCall((*C->ops->matmultsymbolic)(C->product->A, C->product->B,
                                         C->product->fill, C));
    C->ops->productnumeric = multiply;
    PetscFunctionReturn(0);
}

static PetscErrorCode set_product(Mat C)
{
    PetscFunctionBegin;
    PetscCall(set_as_aij(C));
    if (C->ops->productsymbolic && C->product->type == MATPRODUCT_AB)
        C->ops->productsymbolic = symbolic;
    PetscFunctionReturn(0);
}

PetscErrorCode compose_dense(Mat M)
{
    PetscFunctionBegin;
    PetscCall(PetscObjectComposeFunction(
        (PetscObject)M, "MatProductSetFromOptions_seqaijspry_seqdense_C",
        set_product));
    PetscFunctionReturn(0);
}
