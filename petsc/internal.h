/* internal.h - one matrix's products, as PETSc and spry see them. */
#ifndef SP_PETSC_INTERNAL_H
#define SP_PETSC_INTERNAL_H

#include <petscmat.h>
#include <spry.h>

#include "spry_petsc.h"

/* CMakeLists.txt asks before. */
_Static_assert(sizeof(PetscScalar) == sizeof(double) &&
                   _Generic((PetscScalar)0, double : 1, default : 0),
               "PETSc is built for complex or not double");

typedef enum {
    VECTOR,     /* y = A x */
    TURNED,     /* y = A' x */
    BY_COLUMNS, /* C = A B, columns one after the other */
    BY_ROWS     /* C = A B, rows side by side */
} product_kind;

/* A product of one matrix. */
typedef struct {
    product_kind kind;
    PetscInt cols;        /* of B */
    const spry_matrix *A; /* whose values are always PETSc's */
    spry_problem *problem;
    spry_plan *plan;
    PetscObjectState posed;  /* the values that the problem was made of, */
    PetscObjectState values; /* and those that the plan holds */
    PetscBool measured;      /* as much as ever will be */
    PetscBool refused;       /* AIJ's from now on */
    long seen, used;         /* how often asked for; when last */
    long matrix, runs;       /* the same on all ranks: of which matrix, and */
    PetscLogDouble spent;    /* how many products so far; their seconds */
    const spry_plan *way[2]; /* all columns at once, one by one: as raced, */
    PetscLogDouble best[2];  /* the seconds of each, */
    int tries;               /* and how often they have been */
} product;

enum { PRODUCTS = 5 };

/* Kept with the matrix. */
typedef struct {
    spry_matrix *A;           /* borrows PETSc's arrays; NULL: it is AIJ's */
    PetscBool looked;         /* A was asked for, of this */
    PetscObjectState pattern; /* and these arrays */
    const PetscInt *start, *col;
    const PetscScalar *val;
    product each[PRODUCTS]; /* the first are VECTOR's and TURNED's */
    long uses;              /* of all of them */
    long number, begun;     /* of this matrix; of its products so far */
    PetscErrorCode (*mult)(Mat, Vec, Vec); /* AIJ's own */
    PetscErrorCode (*mult_add)(Mat, Vec, Vec, Vec);
    PetscErrorCode (*turned)(Mat, Vec, Vec);
    PetscErrorCode (*turned_add)(Mat, Vec, Vec, Vec);
    PetscErrorCode (*retrieve)(Mat);
} products;

/* On all ranks, before the rest. */
PetscErrorCode read_options(void);

/* The product of a kind with so many columns, up to date; NULL: AIJ's turn. A
 * width that is first seen gets no plan: block solvers shrink their blocks and
 * may never come back to it. */
PetscErrorCode ready(Mat M, products *of, product_kind kind, PetscInt cols,
                     product **out);
/* What M times so many columns adds to -log_view. */
PetscErrorCode log_flops(Mat M, PetscInt cols);
/* A run of it took so long; measures once that has been paid for. */
void ran(Mat M, product *p, PetscLogDouble seconds);
/* A run failed: AIJ's from now on. */
void refuse(Mat M, product *p);
void forget(products *of);
PetscErrorCode products_of(Mat M, products **out);

/* ---- sharing.c ---- */

/* Ranks that share memory, and may share answers; collective. */
PetscErrorCode open_board(MPI_Comm ranks);
PetscBool is_shared(void);
/* Is it measured after so many products? paid: it has paid for that, and
 * others will measure at the same one; nearly: it is not far too soon. */
PetscBool is_time(long matrix, long runs, PetscBool paid, PetscBool nearly);
/* Measures p, or takes what a rank with an equal problem has measured. What
 * others measure is waited for at most so many seconds. */
typedef spry_status tuner(Mat M, product *p);
spry_status measure_once(Mat M, product *p, const spry_machine *m, int effort,
                         PetscLogDouble most, tuner *tune);

/* A product as AIJ's matrices have it, and where M is one of the factors. */
PetscErrorCode set_as_aij(Mat C);
PetscErrorCode compose_alike(Mat M);
/* Teaches M to multiply dense matrices. */
PetscErrorCode compose_dense(Mat M);
/* Copies of what other ranks have say when their values have changed. */
PetscErrorCode register_mpiaij(void);
/* Products over ranks are ours where the blocks are. */
PetscErrorCode register_mpidense(void);

#endif
