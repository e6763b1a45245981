/* dense.c - C = A B for dense B and C, as PETSc's products of matrices.
 *
 * A type of another name has no product with dense matrices but a loop over
 * columns. AIJ's own set-up is kept, only the numbers are computed here. */
#include <petsc/private/matimpl.h>
#include <petsctime.h>

#include "internal.h"

typedef PetscErrorCode (*set_up)(Mat);

static PetscErrorCode operand(Mat M, const void *data, spry_dense *out)
{
    PetscInt lda;

    PetscFunctionBegin;
    PetscCall(MatDenseGetLDA(M, &lda));
    *out = (spry_dense){(void *)(uintptr_t)data, lda, SPRY_COL_MAJOR};
    PetscFunctionReturn(0);
}

static PetscErrorCode run(Mat A, product *p, Mat B, Mat C)
{
    const PetscScalar *in;
    PetscScalar *out;
    PetscLogDouble before, after;
    spry_dense b, c;
    spry_status s;

    PetscFunctionBegin;
    PetscCall(MatDenseGetArrayRead(B, &in));
    PetscCall(MatDenseGetArrayWrite(C, &out));
    PetscCall(operand(B, in, &b));
    PetscCall(operand(C, out, &c));
    PetscCall(PetscTime(&before));
    s = spry_run_dense(p->plan, 1, &b, NULL, 0, &c);
    PetscCall(PetscTime(&after));
    PetscCall(MatDenseRestoreArrayWrite(C, &out));
    PetscCall(MatDenseRestoreArrayRead(B, &in));
    if (s != SPRY_OK)
        refuse(A, p);
    else
        ran(A, p, after - before);
    PetscFunctionReturn(0);
}

static PetscErrorCode multiply(Mat C)
{
    Mat_Product *what = C->product;
    Mat A = what->A, B = what->B;
    products *of;
    product *p = NULL;

    PetscFunctionBegin;
    PetscCall(products_of(A, &of));
    if (of && B->cmap->N > 0 && C->rmap->n > 0)
        PetscCall(ready(A, of, BY_COLUMNS, B->cmap->N, &p));
    if (p)
        PetscCall(run(A, p, B, C));
    if (!p || p->refused)
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

/* AIJ's product with dense matrices is known to those. */
static PetscErrorCode set_product(Mat C)
{
    set_up aij = NULL;

    PetscFunctionBegin;
    PetscCall(PetscObjectQueryFunction(
        (PetscObject)C->product->B,
        "MatProductSetFromOptions_seqaij_seqdense_C", &aij));
    if (!aij)
        PetscFunctionReturn(0);
    PetscCall((*aij)(C));
    if (C->product->type == MATPRODUCT_AB)
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
