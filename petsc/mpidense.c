/* mpidense.c - C = A B over ranks. The rows of B that others have are on their
 * way while the local block is multiplied.
 *
 * PETSc's product of MPIAIJ with MPIDense calls SeqAIJ's loops by name, so it
 * is replaced: dense matrices of this kind are made with another product. It
 * takes a few columns at a time, as rows side by side: a cache line each, so
 * that copies stay in the cache, and the unit of a message. Messages are one
 * step ahead of products: MPI moves long ones only while it is called, and
 * each step calls it for the next one's, too. All ranks take the same path
 * whatever their plans do: a block without a plan is multiplied by a plain
 * loop. */
#include <petsc/private/matimpl.h>
#include <petscsf.h>
#include <petsctime.h>

#include "internal.h"

PETSC_EXTERN PetscErrorCode MatCreate_MPIDense(Mat);

static const char key[] = "spry_exchange";
static const char hook[] = "MatProductSetFromOptions_mpiaij_mpidense_C";

typedef PetscErrorCode (*set_up)(Mat);
static set_up petsc_product;

/* Kept with the result. */
typedef struct {
    PetscSF sf;               /* which rows of others are needed */
    MPI_Datatype row[2];      /* WIDE columns; those that are left over */
    PetscInt cols;            /* in all */
    PetscInt near, far, rows; /* of B here, of others; of C */
    /* WIDE columns, rows side by side: of this step and of the next */
    PetscScalar *B[2], *others[2], *C;
} exchange;

enum {
    WIDE = 8,
    LONG = 24 /* entries of a row that pay for copying B and C */
};

static PetscErrorCode free_exchange(void *payload)
{
    exchange *x = payload;

    PetscFunctionBegin;
    PetscCall(PetscSFDestroy(&x->sf));
    PetscCallMPI(MPI_Type_free(&x->row[0]));
    PetscCallMPI(MPI_Type_free(&x->row[1]));
    for (int i = 0; i < 2; i++)
        PetscCall(PetscFree2(x->B[i], x->others[i]));
    PetscCall(PetscFree(x->C));
    PetscCall(PetscFree(x));
    PetscFunctionReturn(0);
}

/* Who sends which rows is known once A's pattern and B's layout are. */
static PetscErrorCode make_exchange(Mat C)
{
    Mat A = C->product->A, B = C->product->B, far;
    const PetscInt *garray;
    PetscContainer box;
    exchange *x;

    PetscFunctionBegin;
    PetscCall(PetscNew(&x));
    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &far, &garray));
    PetscCall(MatGetSize(B, NULL, &x->cols));
    PetscCall(MatGetLocalSize(B, &x->near, NULL));
    PetscCall(MatGetLocalSize(C, &x->rows, NULL));
    PetscCall(MatGetSize(far, NULL, &x->far));
    PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)C), &x->sf));
    PetscCall(PetscSFSetGraphLayout(x->sf, B->rmap, x->far, NULL,
                                    PETSC_COPY_VALUES, garray));
    PetscCall(PetscSFSetUp(x->sf));
    for (int i = 0; i < 2; i++) {
        PetscMPIInt wide = i ? (PetscMPIInt)(x->cols % WIDE) : WIDE;

        PetscCallMPI(MPI_Type_contiguous(wide, MPIU_SCALAR, &x->row[i]));
        PetscCallMPI(MPI_Type_commit(&x->row[i]));
        /* never empty: PETSc tells exchanges apart by where they are */
        PetscCall(PetscMalloc2(x->near * WIDE + 1, &x->B[i], x->far * WIDE + 1,
                               &x->others[i]));
    }
    PetscCall(PetscMalloc1(x->rows * WIDE, &x->C));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &box));
    PetscCall(PetscContainerSetPointer(box, x));
    PetscCall(PetscContainerSetUserDestroy(box, free_exchange));
    PetscCall(PetscObjectCompose((PetscObject)C, key, (PetscObject)box));
    PetscCall(PetscContainerDestroy(&box));
    PetscFunctionReturn(0);
}

/* Columns that lie apart, into rows side by side, or back. */
static void turn(PetscScalar *rows, PetscScalar *columns, PetscInt lda,
                 PetscInt m, PetscInt n, PetscBool back)
{
    enum { SIDE = 32 };

    for (PetscInt i0 = 0; i0 < m; i0 += SIDE)
        for (PetscInt j = 0; j < n; j++)
            for (PetscInt i = i0; i < m && i < i0 + SIDE; i++)
                if (back)
                    columns[j * lda + i] = rows[i * n + j];
                else
                    rows[i * n + j] = columns[j * lda + i];
}

static PetscErrorCode plainly(Mat M, PetscInt n, const PetscScalar *in,
                              PetscReal beta, PetscScalar *out)
{
    const PetscInt *start, *col;
    PetscScalar *val;
    PetscInt rows;

    PetscFunctionBegin;
    PetscCall(MatGetSize(M, &rows, NULL));
    PetscCall(MatSeqAIJGetCSRAndMemType(M, &start, &col, &val, NULL));
    for (PetscInt i = 0; i < rows; i++) {
        PetscScalar *y = out + i * n;

        for (PetscInt j = 0; beta == 0 && j < n; j++)
            y[j] = 0;
        for (PetscInt k = start[i]; k < start[i + 1]; k++)
            for (PetscInt j = 0; j < n; j++)
                y[j] += val[k] * in[col[k] * n + j];
    }
    PetscFunctionReturn(0);
}

/* out = M in + beta out, beta 0 or 1. */
static PetscErrorCode multiply(Mat M, PetscInt n, const PetscScalar *in,
                               PetscReal beta, PetscScalar *out)
{
    products *of;
    product *p = NULL;
    PetscLogDouble before, after;

    PetscFunctionBegin;
    PetscCall(log_flops(M, n));
    PetscCall(products_of(M, &of));
    if (of)
        PetscCall(ready(M, of, BY_ROWS, n, &p));
    if (p) {
        PetscCall(PetscTime(&before));
        if (spry_run_scaled(p->plan, 1, in, NULL, beta, out) == SPRY_OK) {
            PetscCall(PetscTime(&after));
            ran(M, p, after - before);
            PetscFunctionReturn(0);
        }
        refuse(M, p);
    }
    PetscCall(plainly(M, n, in, beta, out));
    PetscFunctionReturn(0);
}

/* So many of B's columns from j on. */
static PetscInt width(const exchange *x, PetscInt j)
{
    return x->cols - j < WIDE ? x->cols - j : WIDE;
}

/* Columns j and on of B are on their way. */
static PetscErrorCode send(const exchange *x, PetscInt j, const PetscScalar *B,
                           PetscInt ld)
{
    const int set = j / WIDE % 2;
    const PetscInt wide = width(x, j);

    PetscFunctionBegin;
    turn(x->B[set], (PetscScalar *)(uintptr_t)B + j * ld, ld, x->near, wide,
         PETSC_FALSE);
    PetscCall(PetscSFBcastBegin(x->sf, x->row[wide != WIDE], x->B[set],
                                x->others[set], MPI_REPLACE));
    PetscFunctionReturn(0);
}

/* Columns j and on of C, once those of B have been sent. */
static PetscErrorCode receive(const exchange *x, Mat A, PetscInt j,
                              PetscScalar *C, PetscInt ld)
{
    const int set = j / WIDE % 2;
    const PetscInt wide = width(x, j);
    Mat near, far;

    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(A, &near, &far, NULL));
    PetscCall(multiply(near, wide, x->B[set], 0, x->C));
    PetscCall(PetscSFBcastEnd(x->sf, x->row[wide != WIDE], x->B[set],
                              x->others[set], MPI_REPLACE));
    PetscCall(multiply(far, wide, x->others[set], 1, x->C));
    turn(x->C, C + j * ld, ld, x->rows, wide, PETSC_TRUE);
    PetscFunctionReturn(0);
}

static PetscErrorCode numeric(Mat C)
{
    Mat A = C->product->A, B = C->product->B;
    PetscContainer box;
    exchange *x;
    const PetscScalar *b;
    PetscScalar *c;
    PetscInt ldb, ldc;

    PetscFunctionBegin;
    PetscCall(PetscObjectQuery((PetscObject)C, key, (PetscObject *)&box));
    PetscCall(PetscContainerGetPointer(box, (void **)&x));
    PetscCall(MatDenseGetLDA(B, &ldb));
    PetscCall(MatDenseGetLDA(C, &ldc));
    PetscCall(MatDenseGetArrayRead(B, &b));
    PetscCall(MatDenseGetArrayWrite(C, &c));
    for (PetscInt j = -WIDE; j < x->cols; j += WIDE) {
        if (j + WIDE < x->cols)
            PetscCall(send(x, j + WIDE, b, ldb));
        if (j >= 0)
            PetscCall(receive(x, A, j, c, ldc));
    }
    PetscCall(MatDenseRestoreArrayWrite(C, &c));
    PetscCall(MatDenseRestoreArrayRead(B, &b));
    PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* PETSc's symbolic part, then our numeric one. */
static PetscErrorCode symbolic(Mat C)
{
    PetscFunctionBegin;
    PetscCall((*C->ops->matmultsymbolic)(C->product->A, C->product->B,
                                         C->product->fill, C));
    PetscCall(make_exchange(C));
    PetscCall(PetscInfo(C, "spry multiplies columns over ranks\n"));
    C->ops->productnumeric = numeric;
    PetscFunctionReturn(0);
}

/* Alike on all ranks: the type of blocks is an option's, and entries are
 * counted over all. */
static PetscErrorCode pays(Mat A, PetscBool *yes)
{
    MatInfo info;
    PetscInt rows;
    Mat near;

    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(A, &near, NULL, NULL));
    PetscCall(PetscObjectTypeCompare((PetscObject)near, MATSEQAIJSPRY, yes));
    PetscCall(MatGetSize(A, &rows, NULL));
    PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
    if (info.nz_used < LONG * (PetscLogDouble)rows)
        *yes = PETSC_FALSE;
    PetscFunctionReturn(0);
}

static PetscErrorCode set_product(Mat C)
{
    PetscBool ours;

    PetscFunctionBegin;
    PetscCall((*petsc_product)(C));
    if (C->product->type != MATPRODUCT_AB)
        PetscFunctionReturn(0);
    PetscCall(pays(C->product->A, &ours));
    if (ours)
        C->ops->productsymbolic = symbolic;
    PetscFunctionReturn(0);
}

/* PETSc's own kind of matrix, with another product. */
static PetscErrorCode create(Mat M)
{
    set_up given = NULL;

    PetscFunctionBegin;
    PetscCall(MatCreate_MPIDense(M));
    PetscCall(PetscObjectQueryFunction((PetscObject)M, hook, &given));
    if (!given)
        PetscFunctionReturn(0);
    petsc_product = given;
    PetscCall(PetscObjectComposeFunction((PetscObject)M, hook, set_product));
    PetscFunctionReturn(0);
}

PetscErrorCode register_mpidense(void)
{
    PetscFunctionBegin;
    PetscCall(MatRegister(MATMPIDENSE, create));
    PetscFunctionReturn(0);
}
