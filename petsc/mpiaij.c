/* mpiaij.c - PETSc's own MPIAIJ, but for one omission: copies of its rows that
 * are asked for again get their values behind their backs. */
#include <petsc/private/petscimpl.h>

#include "internal.h"

PETSC_EXTERN PetscErrorCode MatCreate_MPIAIJ(Mat);

typedef PetscErrorCode (*copier)(Mat, PetscInt, const IS[], const IS[],
                                 MatReuse, Mat *[]);
static copier petsc_copies;

/* Plans are refilled where the state was raised. */
static PetscErrorCode copies(Mat M, PetscInt n, const IS rows[],
                             const IS cols[], MatReuse reuse, Mat *out[])
{
    PetscFunctionBegin;
    PetscCall((*petsc_copies)(M, n, rows, cols, reuse, out));
    for (PetscInt i = 0; reuse == MAT_REUSE_MATRIX && i < n; i++)
        PetscCall(PetscObjectStateIncrease((PetscObject)(*out)[i]));
    PetscFunctionReturn(0);
}

static PetscErrorCode create(Mat M)
{
    void (*given)(void);

    PetscFunctionBegin;
    PetscCall(MatCreate_MPIAIJ(M));
    PetscCall(MatGetOperation(M, MATOP_CREATE_SUBMATRICES, &given));
    petsc_copies = (copier)given;
    PetscCall(
        MatSetOperation(M, MATOP_CREATE_SUBMATRICES, (void (*)(void))copies));
    PetscFunctionReturn(0);
}

PetscErrorCode register_mpiaij(void)
{
    PetscFunctionBegin;
    PetscCall(MatRegister(MATMPIAIJ, create));
    PetscFunctionReturn(0);
}
