/* petsc.c - PETSc's MatMult and MatMatMult, one process, double precision.
 *
 * SpMV tries the formats PETSc has for it: AIJ, AIJ with permuted rows,
 * sliced ELLPACK, and blocks where the pattern is made of them. Dense
 * matrices of PETSc are column-major, so B and C are its own copies. */
#define _DEFAULT_SOURCE /* setenv */
#include <petscmat.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "peers.h"

enum { FORMATS = 4 };
static const double BLOCK_FILL = 0.8; /* from here on blocks may pay */

typedef struct {
    const bench_operands *o;
    Mat A[FORMATS]; /* [formats] the same matrix */
    int formats, way;
    Vec x, y;
    Mat B, C;
    double *columns; /* [cols * n] B, column by column */
} petsc;

static const char *version(void)
{
    static char text[32];

    snprintf(text, sizeof text, "%d.%d.%d", PETSC_VERSION_MAJOR,
             PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
    return text;
}

static void finish(void)
{
    (void)PetscFinalize();
}

/* Once. MPI serves this process alone: no network, no talk about forks. */
static int begin(void)
{
    static int begun;

    if (begun)
        return 1;
    (void)setenv("OMPI_MCA_btl", "self", 0);
    (void)setenv("OMPI_MCA_pml", "ob1", 0);
    (void)setenv("OMPI_MCA_mpi_warn_on_fork", "0", 0);
    (void)PetscOptionsSetValue(NULL, "-no_signal_handler", "true");
    begun = PetscInitializeNoArguments() == 0;
    if (begun) {
        (void)PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
        (void)atexit(finish);
    }
    return begun;
}

/* ---- operands ---- */

static int make_aij(petsc *h)
{
    const bench_operands *o = h->o;

    if (MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, (PetscInt)o->rows,
                                  (PetscInt)o->cols, o->start, o->col, o->val,
                                  &h->A[0]) != 0)
        return 0;
    h->formats = 1;
    return 1;
}

/* The largest block that the pattern fills; 1: none. */
static int block_size(const bench_operands *o)
{
    const spry_stats *stats = spry_problem_stats(o->p);

    for (int b = 8; b > 1 && stats; b /= 2)
        if (o->rows % b == 0 && o->cols % b == 0 &&
            spry_stats_fill(stats, b, b) > BLOCK_FILL)
            return b;
    return 1;
}

static void convert(petsc *h, MatType type)
{
    Mat *next = &h->A[h->formats];

    if (MatConvert(h->A[0], type, MAT_INITIAL_MATRIX, next) == 0)
        h->formats++;
    else
        *next = NULL;
}

static int make_vectors(petsc *h)
{
    const bench_operands *o = h->o;
    int block = block_size(o);

    convert(h, MATSEQAIJPERM);
    convert(h, MATSEQSELL);
    if (block > 1 && MatSetBlockSize(h->A[0], block) == 0)
        convert(h, MATSEQBAIJ);
    return VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)o->cols, o->B,
                                 &h->x) == 0 &&
           VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)o->rows, o->C,
                                 &h->y) == 0;
}

static int make_dense(petsc *h)
{
    const bench_operands *o = h->o;
    const double *B = o->B;

    h->columns = sp_alloc_raw(o->cols * o->c.n, sizeof *h->columns);
    if (!h->columns)
        return 0;
    for (int64_t i = 0; i < o->cols; i++)
        for (int64_t j = 0; j < o->c.n; j++)
            h->columns[j * o->cols + i] = B[i * o->c.n + j];
    return MatCreateSeqDense(PETSC_COMM_SELF, (PetscInt)o->cols,
                             (PetscInt)o->c.n, h->columns, &h->B) == 0 &&
           MatMatMult(h->A[0], h->B, MAT_INITIAL_MATRIX, PETSC_DEFAULT,
                      &h->C) == 0;
}

/* ---- products ---- */

static void run_way(void *handle, int way)
{
    petsc *h = handle;

    if (h->o->c.op == SPRY_SPMV)
        (void)MatMult(h->A[way], h->x, h->y);
    else
        (void)MatMatMult(h->A[0], h->B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &h->C);
}

static void run_petsc(void *handle)
{
    run_way(handle, ((petsc *)handle)->way);
}

static void fetch(void *handle, void *C)
{
    petsc *h = handle;
    const bench_operands *o = h->o;
    const double *from = NULL;
    double *to = C;

    if (o->c.op == SPRY_SPMV) {
        if (C != o->C)
            memcpy(C, o->C, (size_t)o->rows * sizeof *to);
        return;
    }
    (void)MatDenseGetArrayRead(h->C, &from);
    for (int64_t i = 0; from && i < o->rows; i++)
        for (int64_t j = 0; j < o->c.n; j++)
            to[i * o->c.n + j] = from[j * o->rows + i];
    (void)MatDenseRestoreArrayRead(h->C, &from);
}

/* ---- the row ---- */

static void close_petsc(void *handle)
{
    petsc *h = handle;

    (void)MatDestroy(&h->C);
    (void)MatDestroy(&h->B);
    (void)VecDestroy(&h->x);
    (void)VecDestroy(&h->y);
    for (int i = 0; i < h->formats; i++)
        (void)MatDestroy(&h->A[i]);
    sp_free(h->columns);
    sp_free(h);
}

static void *open_petsc(const bench_operands *o, char why[BENCH_WHY])
{
    petsc *h = sp_alloc(1, sizeof *h);

    if (!h || !begin()) {
        snprintf(why, BENCH_WHY, "PETSc cannot be initialised");
        sp_free(h);
        return NULL;
    }
    h->o = o;
    if (!make_aij(h) ||
        !(o->c.op == SPRY_SPMV ? make_vectors(h) : make_dense(h))) {
        snprintf(why, BENCH_WHY, "PETSc does not take this matrix");
        close_petsc(h);
        return NULL;
    }
    if (o->c.op == SPRY_SPMV)
        h->way = bench_fastest_way(run_way, h, h->formats);
    return h;
}

const bench_peer bench_petsc = {.name = "petsc",
                                .ops = BENCH_SPMV | BENCH_SPMM,
                                .types = BENCH_F64,
                                .copies = 1,
                                .version = version,
                                .open = open_petsc,
                                .run = run_petsc,
                                .fetch = fetch,
                                .close = close_petsc};
