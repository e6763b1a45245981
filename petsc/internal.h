/* internal.h - one matrix's products, as PETSc and spry see them. */
#ifndef SP_PETSC_INTERNAL_H
#define SP_PETSC_INTERNAL_H

#include <petscmat.h>
#include <spry.h>

/* A product of one matrix: y = A x, or C = A B with so many columns. */
typedef struct {
    PetscInt cols; /* 0: a vector */
    spry_problem *problem;
    spry_plan *plan;
    PetscObjectState values; /* that the plan holds */
    PetscBool measured;      /* as much as ever will be */
    PetscBool refused;       /* AIJ's from now on */
    PetscLogDouble spent;    /* seconds in products so far */
} product;

enum { PRODUCTS = 4 };

/* Kept with the matrix. */
typedef struct {
    spry_matrix *A;           /* borrows PETSc's arrays */
    PetscObjectState pattern; /* that A has */
    product each[PRODUCTS];   /* the first is the vector's */
    int next;                 /* of the others, to be replaced */
    PetscErrorCode (*mult)(Mat, Vec, Vec);
    PetscErrorCode (*mult_add)(Mat, Vec, Vec, Vec);
} products;

/* On all ranks, before the rest. */
PetscErrorCode read_options(void);

/* The product with so many columns, up to date; NULL: AIJ's turn. */
PetscErrorCode ready(Mat M, products *of, PetscInt cols, product **out);
/* A run of it took so long; measures once that has been paid for. */
void ran(Mat M, product *p, PetscLogDouble seconds);
/* A run failed: AIJ's from now on. */
void refuse(Mat M, product *p);
void forget(products *of);
PetscErrorCode products_of(Mat M, products **out);

/* Teaches M to multiply dense matrices. */
PetscErrorCode compose_dense(Mat M);

#endif
