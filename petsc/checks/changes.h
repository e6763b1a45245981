/* changes.h - what all checks of changing matrices use. */
#ifndef SP_PETSC_CHECKS_CHANGES_H
#define SP_PETSC_CHECKS_CHANGES_H

#include <petscksp.h>

enum { ROWS = 600, ENTRIES = 9, BAND = 12 };

/* A matrix of ROWS rows, other ones for each salt. */
PetscErrorCode make(Mat *out, PetscInt salt);
/* Prints u'A x and x'A'u, computed often enough that plans are measured. */
PetscErrorCode show(const char *what, Mat A);

/* Products of matrices (products.c): of sparse ones, into matrices that were
 * there already; those that PETSc finds by the names of types; */
PetscErrorCode sparse(void);
PetscErrorCode named(void);
/* with a dense one, as long as A, before and after A's values change; with
 * dense ones of many widths. */
PetscErrorCode dense(Mat A);
PetscErrorCode widths(void);

#endif
