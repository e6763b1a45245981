/* solve.c - a PETSc program that knows nothing of spry.
 *
 *   solve -n 40 -problem poisson|elasticity|box -ksp_type cg -pc_type jacobi
 *   library=$(pkg-config --variable=plugin spry_petsc)
 *   PETSC_OPTIONS="-dll_append $library -mat_seqaij_type seqaijspry" \
 *       mpirun -np 2 solve ...
 *
 * A cube of n points a side: the Laplacian (7 points), linear elasticity by
 * trilinear bricks, clamped on one face, or each point and its 26 neighbours,
 * integers, opposite faces joined. Prints the iterations, the seconds of the
 * solve and the norm of what is left. -columns K multiplies the matrix by a
 * dense one, too, then twice the matrix, then its transpose by a vector, and
 * prints sums of squares, and of integers one of every entry times its place,
 * exact but for multiples of 2^64. */
#include <petscksp.h>
#include <petsctime.h>
#include <stdint.h>

static PetscErrorCode poisson(Mat A, PetscInt n)
{
    PetscInt first, last;
    const PetscInt step[3] = {1, n, n * n};

    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt row = first; row < last; row++) {
        const PetscInt at[3] = {row % n, row / n % n, row / (n * n)};

        PetscCall(MatSetValue(A, row, row, 6, INSERT_VALUES));
        for (int d = 0; d < 3; d++) {
            if (at[d] > 0)
                PetscCall(
                    MatSetValue(A, row, row - step[d], -1, INSERT_VALUES));
            if (at[d] < n - 1)
                PetscCall(
                    MatSetValue(A, row, row + step[d], -1, INSERT_VALUES));
        }
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode box(Mat A, PetscInt n)
{
    static const PetscScalar value[4] = {64, -3, -2, -1}; /* by distance */
    PetscInt first, last;

    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt row = first; row < last; row++)
        for (PetscInt k = 0; k < 27; k++) {
            const PetscInt by[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            const PetscInt x = (row + by[0] + n) % n;
            const PetscInt y = (row / n + by[1] + n) % n;
            const PetscInt z = (row / (n * n) + by[2] + n) % n;

            PetscCall(MatSetValue(
                A, row, (z * n + y) * n + x,
                value[by[0] * by[0] + by[1] * by[1] + by[2] * by[2]],
                INSERT_VALUES));
        }
    PetscFunctionReturn(0);
}

/* The stiffness of a unit brick, Young's modulus 1, Poisson's ratio 0.3. */
static void brick(PetscScalar K[24][24])
{
    const PetscReal nu = 0.3, mu = 1 / (2 * (1 + nu));
    const PetscReal lambda = nu / ((1 + nu) * (1 - 2 * nu));
    const PetscReal at[2] = {0.5 - 0.5 / PetscSqrtReal(3.0),
                             0.5 + 0.5 / PetscSqrtReal(3.0)};

    memset(K, 0, 24 * sizeof K[0]);
    for (int q = 0; q < 8; q++) {
        PetscReal g[8][3]; /* slopes of the corners' functions */

        for (int a = 0; a < 8; a++)
            for (int d = 0; d < 3; d++) {
                g[a][d] = a >> d & 1 ? 1 : -1;
                for (int e = 0; e < 3; e++) {
                    PetscReal x = at[q >> e & 1];

                    if (e != d)
                        g[a][d] *= a >> e & 1 ? x : 1 - x;
                }
            }
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                PetscReal dot = 0;

                for (int d = 0; d < 3; d++)
                    dot += g[a][d] * g[b][d];
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        K[3 * a + i][3 * b + j] +=
                            (lambda * g[a][i] * g[b][j] +
                             mu * g[a][j] * g[b][i] + (i == j ? mu * dot : 0)) /
                            8;
            }
    }
}

/* Bricks whose first corner is ours; corners at z = 0 are clamped. */
static PetscErrorCode elasticity(Mat A, PetscInt n)
{
    PetscInt first, last;
    PetscScalar K[24][24];

    PetscFunctionBegin;
    brick(K);
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt p = first / 3; p < last / 3; p++) {
        const PetscInt x = p % n, y = p / n % n, z = p / (n * n);
        PetscInt row[24];
        PetscScalar mine[24][24];

        if (z == 0)
            for (PetscInt d = 0; d < 3; d++)
                PetscCall(MatSetValue(A, 3 * p + d, 3 * p + d, 1, ADD_VALUES));
        if (x == n - 1 || y == n - 1 || z == n - 1)
            continue;
        for (int a = 0; a < 8; a++)
            for (int d = 0; d < 3; d++)
                row[3 * a + d] =
                    3 * (p + (a & 1) + (a >> 1 & 1) * n + (a >> 2) * n * n) + d;
        for (int i = 0; i < 24; i++)
            for (int j = 0; j < 24; j++)
                mine[i][j] = z == 0 && (i < 12 || j < 12) ? 0 : K[i][j];
        PetscCall(MatSetValues(A, 24, row, 24, row, &mine[0][0], ADD_VALUES));
    }
    PetscFunctionReturn(0);
}

/* What is solved. */
typedef struct {
    PetscInt unknowns, entries; /* of a point; of a row, at most */
    PetscBool exact;            /* integers */
    PetscErrorCode (*fill)(Mat A, PetscInt n);
} problem;

static PetscErrorCode assemble(Mat *out, const problem *p, PetscInt n)
{
    PetscInt rows = n * n * n * p->unknowns, most = p->entries;
    Mat A;

    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetBlockSize(A, p->unknowns));
    PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
    PetscCall(MatSetType(A, MATAIJ));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSeqAIJSetPreallocation(A, most, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, most, NULL, most, NULL));
    PetscCall((*p->fill)(A, n));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    *out = A;
    PetscFunctionReturn(0);
}

/* As often as -solves says; the first brings what is tuned or looked up. */
static PetscErrorCode solve(Mat A, PetscInt solves)
{
    KSP ksp;
    Vec x, b, r;
    PetscInt iterations;
    PetscReal left, whole;
    PetscLogDouble before, after, best = 0;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSetUp(ksp));
    for (PetscInt i = 0; i < solves; i++) {
        PetscCall(PetscTime(&before));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(PetscTime(&after));
        if (i == 0 || after - before < best)
            best = after - before;
    }
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAXPY(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &left));
    PetscCall(VecNorm(b, NORM_2, &whole));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "iterations %d seconds %.6f residual %.3e\n",
                          (int)iterations, best, (double)(left / whole)));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&r));
    PetscFunctionReturn(0);
}

/* B with integers, its columns further apart than they need to be. */
static PetscErrorCode integers(Mat A, PetscInt count, Mat *out)
{
    Mat B;
    PetscInt first, last, rows, locally, lda;
    PetscScalar *value;

    PetscFunctionBegin;
    PetscCall(MatGetSize(A, &rows, NULL));
    PetscCall(MatGetLocalSize(A, &locally, NULL));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
    PetscCall(MatSetSizes(B, locally, PETSC_DECIDE, rows, count));
    PetscCall(MatSetType(B, MATDENSE));
    PetscCall(MatDenseSetLDA(B, locally + 3));
    PetscCall(MatSetUp(B));
    PetscCall(MatGetOwnershipRange(B, &first, &last));
    PetscCall(MatDenseGetLDA(B, &lda));
    PetscCall(MatDenseGetArrayWrite(B, &value));
    for (PetscInt j = 0; j < count; j++)
        for (PetscInt i = first; i < last; i++)
            value[j * lda + i - first] = (i * 7 + j * 3) % 11 - 5;
    PetscCall(MatDenseRestoreArrayWrite(B, &value));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    *out = B;
    PetscFunctionReturn(0);
}

/* |A' b| of B's first column. */
static PetscErrorCode turned(Mat A, Mat B, PetscReal *norm)
{
    Vec b, y;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, &y, NULL));
    PetscCall(MatDenseGetColumnVecRead(B, 0, &b));
    PetscCall(MatMultTranspose(A, b, y));
    PetscCall(MatDenseRestoreColumnVecRead(B, 0, &b));
    PetscCall(VecNorm(y, NORM_2, norm));
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(0);
}

/* The sum of C's integers, each times what its place makes of it. */
static PetscErrorCode weigh(Mat C, uint64_t *sum)
{
    PetscInt first, last, count, lda;
    const PetscScalar *value;
    uint64_t mine = 0;

    PetscFunctionBegin;
    PetscCall(MatGetSize(C, NULL, &count));
    PetscCall(MatGetOwnershipRange(C, &first, &last));
    PetscCall(MatDenseGetLDA(C, &lda));
    PetscCall(MatDenseGetArrayRead(C, &value));
    for (PetscInt j = 0; j < count; j++)
        for (PetscInt i = first; i < last; i++) {
            uint64_t place = (uint64_t)i * (uint64_t)count + (uint64_t)j + 1;

            mine += (uint64_t)(int64_t)value[j * lda + i - first] *
                    (place * UINT64_C(0x9e3779b97f4a7c15) | 1);
        }
    PetscCall(MatDenseRestoreArrayRead(C, &value));
    PetscCallMPI(MPI_Allreduce(&mine, sum, 1, MPI_UINT64_T, MPI_SUM,
                               PetscObjectComm((PetscObject)C)));
    PetscFunctionReturn(0);
}

/* C = A B, with integers in B: the sum of |C| is exact. */
static PetscErrorCode columns(Mat A, PetscInt count, PetscBool exact)
{
    enum { RUNS = 7 };
    Mat B, C;
    PetscReal norm, doubled, back;
    PetscLogDouble before, after, best = 0;
    uint64_t sum = 0;

    PetscFunctionBegin;
    PetscCall(integers(A, count, &B));
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    for (int i = 0; i < RUNS; i++) {
        PetscCall(PetscTime(&before));
        PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
        PetscCall(PetscTime(&after));
        if (i == 0 || after - before < best)
            best = after - before;
    }
    PetscCall(MatNorm(C, NORM_FROBENIUS, &norm));
    PetscCall(MatScale(A, 2));
    PetscCall(MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatNorm(C, NORM_FROBENIUS, &doubled));
    if (exact)
        PetscCall(weigh(C, &sum));
    PetscCall(turned(A, B, &back));
    PetscCall(PetscPrintf(
        PETSC_COMM_WORLD,
        "columns %d seconds %.6f squares %.0f %.0f %.0f sum %llx\n", (int)count,
        best, (double)(norm * norm), (double)(doubled * doubled),
        (double)(back * back), (unsigned long long)sum));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&C));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    static const char *const name[] = {"poisson", "elasticity", "box"};
    static const problem known[] = {{1, 7, PETSC_TRUE, poisson},
                                    {3, 81, PETSC_FALSE, elasticity},
                                    {1, 27, PETSC_TRUE, box}};
    PetscInt n = 20, which = 0, wide = 0, solves = 1;
    Mat A;

    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-columns", &wide, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
    PetscCall(
        PetscOptionsGetEList(NULL, NULL, "-problem", name, 3, &which, NULL));
    PetscCall(assemble(&A, &known[which], n));
    PetscCall(solve(A, solves));
    if (wide > 0)
        PetscCall(columns(A, wide, known[which].exact));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return 0;
}
