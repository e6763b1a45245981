/* dense.c - C = A B for dense B and C, as PETSc's products of matrices.
 *
 * A type of another name has no product with dense matrices but a loop over
 * columns. AIJ's own set-up is kept, only the numbers are computed here. */
#include <petsc/private/matimpl.h>
#include <petsctime.h>

#include "internal.h"

typedef PetscErrorCode (*set_up)(Mat);

/* Columns one after the other, as spry's plans take them. */
static PetscErrorCode lies_packed(Mat M, PetscBool *packed)
{
    PetscInt rows, cols, lda;

    PetscFunctionBegin;
    PetscCall(MatGetSize(M, &rows, &cols));
    PetscCall(MatDenseGetLDA(M, &lda));
    *packed = lda == rows || cols == 1 ? PETSC_TRUE : PETSC_FALSE;
    PetscFunctionReturn(0);
}

static PetscErrorCode run(Mat A, product *p, Mat B, Mat C)
{
    const PetscScalar *in;
    PetscScalar *out;
    PetscLogDouble before, after;
    spry_status s;

    PetscFunctionBegin;
    PetscCall(MatDenseGetArrayRead(B, &in));
    PetscCall(MatDenseGetArrayWrite(C, &out));
    PetscCall(PetscTime(&before));
    s = spry_run(p->plan, in, out);
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
    PetscBool packed[2];

    PetscFunctionBegin;
    PetscCall(lies_packed(B, &packed[0]));
    PetscCall(lies_packed(C, &packed[1]));
    PetscCall(products_of(A, &of));
    if (of && packed[0] && packed[1] && B->cmap->N > 0)
        PetscCall(ready(A, of, B->cmap->N, &p));
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
