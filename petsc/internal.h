/* internal.h - one matrix's products, as PETSc and spry see them. */
#ifndef SP_PETSC_INTERNAL_H
#define SP_PETSC_INTERNAL_H

#include <petscmat.h>
#include <spry.h>

#include "spry_petsc.h"

typedef enum {
    VECTOR,     /* y = A x */
    TURNED,     /* y = A' x */
    BY_COLUMNS, /* C = A B, columns one after the other */
    BY_ROWS     /* C = A B, rows side by side */
} product_kind;

/* A product of one matrix. */
typedef struct {
    product_kind kind;
    PetscInt cols; /* of B */
    spry_problem *problem;
    spry_plan *plan;
    PetscObjectState values; /* that the plan holds */
    PetscBool measured;      /* as much as ever will be */
    PetscBool refused;       /* AIJ's from now on */
    PetscLogDouble spent;    /* seconds in products so far */
    const spry_plan *way[2]; /* all columns at once, one by one: as raced, */
    PetscLogDouble best[2];  /* the seconds of each, */
    int tries;               /* and how often they have been */
} product;

enum { PRODUCTS = 5 };

/* Kept with the matrix. */
typedef struct {
    spry_matrix *A;           /* borrows PETSc's arrays */
    PetscObjectState pattern; /* that A has */
    product each[PRODUCTS];   /* the first are VECTOR's and TURNED's */
    int next;                 /* of the others, to be replaced */
    PetscErrorCode (*mult)(Mat, Vec, Vec); /* AIJ's own */
    PetscErrorCode (*mult_add)(Mat, Vec, Vec, Vec);
    PetscErrorCode (*turned)(Mat, Vec, Vec);
    PetscErrorCode (*turned_add)(Mat, Vec, Vec, Vec);
} products;

/* On all ranks, before the rest. */
PetscErrorCode read_options(void);

/* The product of a kind with so many columns, up to date; NULL: AIJ's turn. */
PetscErrorCode ready(Mat M, products *of, product_kind kind, PetscInt cols,
                     product **out);
/* A run of it took so long; measures once that has been paid for. */
void ran(Mat M, product *p, PetscLogDouble seconds);
/* A run failed: AIJ's from now on. */
void refuse(Mat M, product *p);
void forget(products *of);
PetscErrorCode products_of(Mat M, products **out);

/* Teaches M to multiply dense matrices. */
PetscErrorCode compose_dense(Mat M);
/* Products over ranks are ours where the blocks are. */
PetscErrorCode register_mpidense(void);

#endif
