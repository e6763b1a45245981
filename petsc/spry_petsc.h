/* spry_petsc.h - PETSc matrices that multiply with kernels tuned by spry.
 *
 * The type MATSEQAIJSPRY is a SeqAIJ matrix in every respect but its products.
 * An unmodified program gets it by its options (PETSC_OPTIONS),
 *
 *     -dll_append PATH/libspry_petsc.so -mat_seqaij_type seqaijspry
 *
 * where pkg-config --variable=plugin spry_petsc prints the whole path,
 * and both blocks of an MPIAIJ matrix are then of it. Options:
 *
 *     -spry_effort paid|lookup|predict|measure|patient
 *             paid, the default: predicted at once, measured as soon as the
 *             products so far took as long as measuring will
 *     -spry_budget SECONDS  for measuring a matrix (1)
 *     -spry_after SECONDS   of products that pay for it (as the budget)
 *     -spry_threads N       per rank; 0, the default: cores over ranks
 *     -spry_store FILE      where answers are kept; the user's by default
 *     -spry_least N         matrices with fewer entries stay with AIJ (2000)
 *
 * Ranks of a node measure at the same product, and those with equal blocks
 * measure once. Whatever fails is said once, through PetscInfo, and AIJ goes on. */
#ifndef SPRY_PETSC_H
#define SPRY_PETSC_H

#include <petscmat.h>

#define MATSEQAIJSPRY "seqaijspry"

/* What -dll_append calls; a program need not, and cannot link a plug-in. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_spry_petsc(void);

#endif
