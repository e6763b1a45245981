/* changes.c - everything that PETSc does to a matrix between two products.
 *
 *   changes [-twice] [-values | -widths] [options of PETSc]
 *
 * A program that knows nothing of spry. Prints sums of integers after each
 * change, which must not depend on who multiplies. -values: where the pattern
 * stays. -widths: of dense matrices alone. -twice: begins PETSc again. */
#include "changes.h"

#include <string.h>

static PetscErrorCode fill_vector(Vec x, PetscInt by, PetscInt modulus)
{
    PetscInt first, last;
    PetscScalar *value;

    PetscFunctionBegin;
    PetscCall(VecGetOwnershipRange(x, &first, &last));
    PetscCall(VecGetArrayWrite(x, &value));
    for (PetscInt i = first; i < last; i++)
        value[i - first] = (PetscScalar)(1 + i * by % modulus);
    PetscCall(VecRestoreArrayWrite(x, &value));
    PetscFunctionReturn(0);
}

/* u'A x and x'A'u, so many times. */
static PetscErrorCode show_after(int times, const char *what, Mat A)
{
    PetscScalar there = 0, back = 0;
    Vec x, y, u, v;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecDuplicate(x, &v));
    PetscCall(VecDuplicate(y, &u));
    PetscCall(fill_vector(x, 7, 13));
    PetscCall(fill_vector(u, 5, 11));
    for (int i = 0; i < times; i++) {
        PetscCall(MatMult(A, x, y));
        PetscCall(MatMultTranspose(A, u, v));
        PetscCall(VecDot(u, y, &there));
        PetscCall(VecDot(x, v, &back));
    }
    PetscCall(PetscPrintf(PetscObjectComm((PetscObject)A), "%s %.0f %.0f\n",
                          what, (double)there, (double)back));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&v));
    PetscFunctionReturn(0);
}

PetscErrorCode show(const char *what, Mat A)
{
    return show_after(4, what, A);
}

static PetscErrorCode insert(Mat A, PetscInt salt)
{
    PetscInt first, last;

    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt i = first; i < last; i++) {
        for (PetscInt k = 0; k < ENTRIES; k++)
            PetscCall(MatSetValue(A, i, (i * 3 + k * k * 31 + salt) % ROWS,
                                  (PetscScalar)((i + k + salt) % 9 - 4),
                                  INSERT_VALUES));
        PetscCall(MatSetValue(A, i, i, 100, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode allocate(Mat A)
{
    PetscFunctionBegin;
    PetscCall(MatSeqAIJSetPreallocation(A, ENTRIES + 1, NULL));
    PetscCall(
        MatMPIAIJSetPreallocation(A, ENTRIES + 1, NULL, ENTRIES + 1, NULL));
    PetscFunctionReturn(0);
}

PetscErrorCode make(Mat *out, PetscInt salt)
{
    Mat A;

    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
    PetscCall(MatSetType(A, MATAIJ));
    PetscCall(MatSetFromOptions(A));
    PetscCall(allocate(A));
    PetscCall(insert(A, salt));
    *out = A;
    PetscFunctionReturn(0);
}

static PetscErrorCode values(Mat A)
{
    Mat B;

    PetscFunctionBegin;
    PetscCall(show("made", A));
    PetscCall(MatScale(A, 3));
    PetscCall(show("scaled", A));
    PetscCall(MatShift(A, 5));
    PetscCall(show("shifted", A));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(MatSetOption(B, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
    PetscCall(MatStoreValues(B));
    PetscCall(show("stored", B));
    PetscCall(MatScale(B, 7));
    PetscCall(show("scaled again", B));
    PetscCall(MatRetrieveValues(B));
    PetscCall(show("retrieved", B));
    PetscCall(MatScale(A, 2));
    PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
    PetscCall(show("copied", B));
    PetscCall(MatAXPY(B, 2, A, SAME_NONZERO_PATTERN));
    PetscCall(show("added", B));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(0);
}

/* Values that change after a plan was made and before it is measured. */
static PetscErrorCode meanwhile(void)
{
    Mat A;

    PetscFunctionBegin;
    PetscCall(make(&A, 3));
    PetscCall(show_after(1, "once", A));
    PetscCall(MatScale(A, 2));
    PetscCall(show("twice that, and measured", A));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(0);
}

/* Every entry becomes one of so many values; symmetric ones if `alike`. */
static PetscErrorCode value(Mat A, PetscInt different, PetscBool alike)
{
    PetscInt first, last;

    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt i = first; i < last; i++)
        for (PetscInt k = i > BAND ? i - BAND : 0; k <= i + BAND && k < ROWS;
             k++) {
            PetscInt at = alike ? (i < k ? i : k) : i;

            PetscCall(MatSetValue(
                A, i, k,
                (PetscScalar)(1 + (at * 7 + (i - k) * (i - k)) % different),
                INSERT_VALUES));
        }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

/* A plan that knows only a few values, or only half of them, cannot go on with
 * others. */
static PetscErrorCode special(void)
{
    static const struct {
        const char *name;
        PetscInt different;
        PetscBool alike;
    } step[] = {
        {"one value", 1, PETSC_TRUE},       {"two values", 2, PETSC_TRUE},
        {"many values", 3001, PETSC_FALSE}, {"many alike", 3001, PETSC_TRUE},
        {"two again", 2, PETSC_FALSE},      {"all of them", 7919, PETSC_FALSE}};
    Mat A;

    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
    PetscCall(MatSetType(A, MATAIJ));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSeqAIJSetPreallocation(A, 2 * BAND + 1, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, 2 * BAND + 1, NULL, BAND, NULL));
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        PetscCall(value(A, step[i].different, step[i].alike));
        PetscCall(show(step[i].name, A));
    }
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(0);
}

/* Another pattern in memory that may be where the first one was. */
static PetscErrorCode patterns(void)
{
    Mat A, B;

    PetscFunctionBegin;
    PetscCall(make(&A, 1));
    PetscCall(show("one pattern", A));
    PetscCall(allocate(A));
    PetscCall(insert(A, 17));
    PetscCall(show("another", A));
    PetscCall(MatResetPreallocation(A));
    PetscCall(insert(A, 17));
    PetscCall(show("reset", A));
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
    PetscCall(show("turned", B));
    PetscCall(MatScale(A, 2));
    PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &B));
    PetscCall(show("turned again", B));
    PetscCall(MatTranspose(B, MAT_INPLACE_MATRIX, &B));
    PetscCall(show("turned back", B));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(0);
}

/* Part of a matrix, and the same part after its values have changed. */
static PetscErrorCode part(const char *what, Mat A, IS rows, IS cols)
{
    Mat B;

    PetscFunctionBegin;
    PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, &B));
    PetscCall(show(what, B));
    PetscCall(MatScale(A, 2));
    PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_REUSE_MATRIX, &B));
    PetscCall(show(what, B));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(0);
}

/* Rows and columns of all ranks, of every rank its own copy. */
static PetscErrorCode copies(const char *what, Mat A, PetscInt first,
                             PetscInt count)
{
    PetscMPIInt rank;
    Mat *B;
    IS some;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(ISCreateStride(PETSC_COMM_SELF, count, first, 1, &some));
    PetscCall(MatCreateSubMatrices(A, 1, &some, &some, MAT_INITIAL_MATRIX, &B));
    if (rank == 0)
        PetscCall(show(what, B[0]));
    PetscCall(MatScale(A, 2));
    PetscCall(MatCreateSubMatrices(A, 1, &some, &some, MAT_REUSE_MATRIX, &B));
    if (rank == 0)
        PetscCall(show(what, B[0]));
    PetscCall(MatDestroySubMatrices(1, &B));
    PetscCall(ISDestroy(&some));
    PetscFunctionReturn(0);
}

static PetscErrorCode parts(Mat A)
{
    PetscInt first, last, mine;
    PetscMPIInt ranks, rank;
    IS odd, others;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    mine = (last - first) / 2;
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, mine, first + 1, 2, &odd));
    /* rows and columns of another rank */
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, ROWS / ranks / 2,
                             (rank + 1) % ranks * (ROWS / ranks), 1, &others));
    PetscCall(part("every second", A, odd, odd));
    PetscCall(part("others' rows", A, others, odd));
    PetscCall(part("others' columns", A, odd, others));
    PetscCall(part("others'", A, others, others));
    PetscCall(copies("whole", A, 0, ROWS));
    PetscCall(copies("some of all ranks", A, 3, ROWS - 8));
    PetscCall(ISDestroy(&odd));
    PetscCall(ISDestroy(&others));
    PetscFunctionReturn(0);
}

/* What has been put together of blocks, and local rows put side by side. */
static PetscErrorCode blocks(Mat A)
{
    Mat local, joined = NULL;
    PetscMPIInt ranks;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    if (ranks == 1)
        PetscFunctionReturn(0);
    PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &local));
    PetscCall(MatCreateMPIMatConcatenateSeqMat(
        PETSC_COMM_WORLD, local, PETSC_DECIDE, MAT_INITIAL_MATRIX, &joined));
    PetscCall(show("joined", joined));
    PetscCall(MatScale(A, 2));
    PetscCall(MatMPIAIJGetLocalMat(A, MAT_REUSE_MATRIX, &local));
    PetscCall(MatCreateMPIMatConcatenateSeqMat(
        PETSC_COMM_WORLD, local, PETSC_DECIDE, MAT_REUSE_MATRIX, &joined));
    PetscCall(show("joined again", joined));
    PetscCall(MatDestroy(&local));
    PetscCall(MatDestroy(&joined));
    PetscFunctionReturn(0);
}

/* Entries that are given as triples, again and again, to a matrix that had
 * others. */
static PetscErrorCode triples(Mat given)
{
    enum { EACH = 4 };
    PetscInt first, last, count, *row, *col;
    PetscScalar *value;
    Mat A;

    PetscFunctionBegin;
    PetscCall(MatDuplicate(given, MAT_DO_NOT_COPY_VALUES, &A));
    PetscCall(show("empty", A));
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    count = (last - first) * EACH;
    PetscCall(PetscMalloc3(count, &row, count, &col, count, &value));
    for (PetscInt k = 0; k < count; k++) {
        row[k] = first + k / EACH;
        col[k] = (row[k] + k % EACH * 37) % ROWS;
        value[k] = (PetscScalar)(k % EACH + 1);
    }
    PetscCall(MatSetPreallocationCOO(A, count, row, col));
    PetscCall(MatSetValuesCOO(A, value, INSERT_VALUES));
    PetscCall(show("triples", A));
    PetscCall(MatSetValuesCOO(A, value, ADD_VALUES));
    PetscCall(show("added", A));
    PetscCall(PetscFree3(row, col, value));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(0);
}

/* The caller's arrays, a row's columns from right to left. */
static PetscErrorCode unsorted(void)
{
    PetscInt *start, *col;
    PetscScalar *value;
    PetscMPIInt rank;
    Mat A;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    if (rank > 0)
        PetscFunctionReturn(0);
    PetscCall(PetscMalloc3(ROWS + 1, &start, ROWS * 5, &col, ROWS * 5, &value));
    for (PetscInt i = 0; i <= ROWS; i++)
        start[i] = 5 * i;
    for (PetscInt k = 0; k < 5 * ROWS; k++) {
        col[k] = (k / 5 * 7 + (4 - k % 5) * 101) % ROWS;
        value[k] = (PetscScalar)(k % 5 + 1);
    }
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, ROWS, ROWS, start, col,
                                        value, &A));
    PetscCall(show("unsorted", A));
    PetscCall(MatScale(A, 2));
    PetscCall(show("unsorted, scaled", A));
    PetscCall(dense(A));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFree3(start, col, value));
    PetscFunctionReturn(0);
}

static PetscErrorCode everything(int *argc, char ***argv)
{
    PetscBool few = PETSC_FALSE, only = PETSC_FALSE;
    Mat A;

    PetscFunctionBegin;
    PetscCall(PetscInitialize(argc, argv, NULL, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-values", &few, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-widths", &only, NULL));
    PetscCall(make(&A, 0));
    PetscCall(widths());
    if (!only) {
        PetscCall(meanwhile());
        PetscCall(special());
    }
    if (!few && !only) {
        PetscCall(values(A));
        PetscCall(patterns());
        PetscCall(parts(A));
        PetscCall(blocks(A));
        PetscCall(sparse());
        PetscCall(named());
        PetscCall(triples(A));
        PetscCall(unsorted());
    }
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    PetscFunctionReturn(0);
}

/* A program may end PETSc and begin again, if MPI is its own. */
int main(int argc, char **argv)
{
    PetscMPIInt times = 1;

    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return 1;
    if (argc > 1 && strcmp(argv[1], "-twice") == 0)
        times = 2;
    for (PetscMPIInt i = 0; i < times; i++)
        if (everything(&argc, &argv))
            return 1;
    return MPI_Finalize();
}
