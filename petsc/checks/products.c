/* products.c - products of matrices whose values, types and widths change. */
#include "changes.h"

/* Products of sparse matrices, into matrices that were there already. */
PetscErrorCode sparse(void)
{
    Mat A, B, C, D;

    PetscFunctionBegin;
    PetscCall(make(&A, 2));
    PetscCall(make(&B, 5));
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatPtAP(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
    PetscCall(show("A B", C));
    PetscCall(show("B'A B", D));
    PetscCall(MatScale(A, 2));
    PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatPtAP(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &D));
    PetscCall(show("2 A B", C));
    PetscCall(show("2 B'A B", D));
    PetscCall(MatDestroy(&C));
    PetscCall(MatTransposeMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(show("A'B", C));
    PetscCall(MatScale(A, 2));
    PetscCall(MatTransposeMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(show("2 A'B", C));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&D));
    PetscFunctionReturn(0);
}

/* From a quarter of ROWS / 3 points to all of them, three unknowns each. */
static PetscErrorCode interpolation(Mat *out)
{
    PetscInt first, last;
    Mat P;

    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &P));
    PetscCall(MatSetSizes(P, PETSC_DECIDE, PETSC_DECIDE, ROWS / 3, ROWS / 12));
    PetscCall(MatSetType(P, MATAIJ));
    PetscCall(MatSetFromOptions(P));
    PetscCall(MatSeqAIJSetPreallocation(P, 2, NULL));
    PetscCall(MatMPIAIJSetPreallocation(P, 2, NULL, 2, NULL));
    PetscCall(MatGetOwnershipRange(P, &first, &last));
    for (PetscInt i = first; i < last; i++) {
        PetscCall(MatSetValue(P, i, i / 4, 4 - i % 4, INSERT_VALUES));
        PetscCall(
            MatSetValue(P, i, (i / 4 + 1) % (ROWS / 12), i % 4, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateMAIJ(P, 3, out));
    PetscCall(MatDestroy(&P));
    PetscFunctionReturn(0);
}

/* A B, or B'A B, before and after A's values have changed. */
static PetscErrorCode product(const char *what, MatProductType type, Mat A,
                              Mat B, Mat changed)
{
    Mat C;

    PetscFunctionBegin;
    PetscCall(MatProductCreate(A, B, NULL, &C));
    PetscCall(MatProductSetType(C, type));
    PetscCall(MatProductSetFromOptions(C));
    PetscCall(MatProductSymbolic(C));
    PetscCall(MatProductNumeric(C));
    PetscCall(show(what, C));
    PetscCall(MatScale(changed, 2));
    PetscCall(MatProductNumeric(C));
    PetscCall(show(what, C));
    PetscCall(MatDestroy(&C));
    PetscFunctionReturn(0);
}

/* The same matrix by another type's name. */
static PetscErrorCode converted(Mat A, MatType type)
{
    Mat B;

    PetscFunctionBegin;
    PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
    PetscCall(show(type, B));
    PetscCall(MatScale(A, 2));
    PetscCall(MatConvert(A, type, MAT_REUSE_MATRIX, &B));
    PetscCall(show(type, B));
    PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
    PetscCall(MatConvert(B, type, MAT_INPLACE_MATRIX, &B));
    PetscCall(show(type, B));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(0);
}

/* Products that PETSc finds by the names of types. */
PetscErrorCode named(void)
{
    Mat A, B, P;
    PetscMPIInt ranks;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    PetscCall(make(&A, 6));
    PetscCall(interpolation(&P));
    PetscCall(product("P'A P, P is MAIJ", MATPRODUCT_PtAP, A, P, A));
    PetscCall(MatDestroy(&P));
    PetscCall(converted(A, MATDENSE));
    PetscCall(converted(A, MATBAIJ));
    if (ranks == 1) {
        PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &B));
        PetscCall(product("D A, D is dense", MATPRODUCT_AB, B, A, A));
        PetscCall(product("A D, D is dense", MATPRODUCT_AB, A, B, A));
        PetscCall(MatDestroy(&B));
        PetscCall(MatConvert(A, MATIS, MAT_INITIAL_MATRIX, &B));
        PetscCall(product("A'S A, S is IS", MATPRODUCT_PtAP, B, A, A));
        PetscCall(MatDestroy(&B));
#ifdef PETSC_HAVE_HYPRE
        PetscCall(MatConvert(A, MATHYPRE, MAT_INITIAL_MATRIX, &B));
        PetscCall(product("H'A H, H is hypre's", MATPRODUCT_PtAP, A, B, A));
        PetscCall(MatDestroy(&B));
#endif
    }
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(0);
}

PetscErrorCode dense(Mat A)
{
    PetscReal before, after;
    Mat B, C;

    PetscFunctionBegin;
    PetscCall(MatCreateDense(PETSC_COMM_SELF, ROWS, 3, ROWS, 3, NULL, &B));
    for (PetscInt i = 0; i < ROWS; i++)
        for (PetscInt j = 0; j < 3; j++)
            PetscCall(MatSetValue(B, i, j, (PetscScalar)((i + j) % 7 - 3),
                                  INSERT_VALUES));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatNorm(C, NORM_FROBENIUS, &before));
    PetscCall(MatScale(A, 2));
    PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatNorm(C, NORM_FROBENIUS, &after));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "columns %.0f %.0f\n",
                          (double)(before * before), (double)(after * after)));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&C));
    PetscFunctionReturn(0);
}

/* A block solver's: narrower and narrower, then as wide for a while. */
PetscErrorCode widths(void)
{
    enum { MOST = 12, LEAST = 5, AGAIN = 4 };
    PetscInt rows;
    Mat A, B, C;
    PetscScalar *value;
    PetscReal norm;

    PetscFunctionBegin;
    PetscCall(make(&A, 9));
    for (PetscInt n = MOST; n > LEAST - AGAIN; n--) {
        PetscInt wide = n < LEAST ? LEAST : n;

        PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE,
                                 ROWS, wide, NULL, &B));
        PetscCall(MatDenseGetArrayWrite(B, &value));
        PetscCall(MatGetLocalSize(B, &rows, NULL));
        for (PetscInt k = 0; k < rows * wide; k++)
            value[k] = (PetscScalar)(k % 5);
        PetscCall(MatDenseRestoreArrayWrite(B, &value));
        PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
        PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
        PetscCall(MatNorm(C, NORM_FROBENIUS, &norm));
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d columns %.0f\n", (int)wide,
                              (double)(norm * norm)));
        PetscCall(MatDestroy(&B));
        PetscCall(MatDestroy(&C));
    }
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(0);
}
