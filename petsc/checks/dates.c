/* dates.c - ranks agree on the product at which a matrix is measured, however
 * many matrices there were before.
 *
 *   mpirun -np 2 dates */
#include "../internal.h"

static PetscErrorCode agree(long matrix, PetscMPIInt rank)
{
    PetscBool first = rank == 0 ? PETSC_TRUE : PETSC_FALSE;

    PetscFunctionBegin;
    /* the first rank has paid for it, and names a product to come */
    if (first)
        PetscCheck(!is_time(matrix, 1, PETSC_TRUE, PETSC_TRUE), PETSC_COMM_SELF,
                   PETSC_ERR_PLIB, "matrix %lx: measured at once", matrix);
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCheck(!is_time(matrix, 2, first, PETSC_TRUE), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "matrix %lx: measured too soon", matrix);
    PetscCheck(is_time(matrix, 3, first, PETSC_TRUE), PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "matrix %lx: not measured in time", matrix);
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    enum { MATRICES = 500, PRODUCTS_OF_EACH = 8 };
    PetscMPIInt rank;

    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(open_board(PETSC_COMM_WORLD));
    if (!is_shared())
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no shared memory\n"));
    for (long i = 1; is_shared() && i <= MATRICES; i++)
        for (long k = 1; k <= PRODUCTS_OF_EACH; k++)
            PetscCall(agree(i << 20 | k, rank));
    PetscCall(PetscFinalize());
    return 0;
}
