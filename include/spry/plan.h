/* plan.h - a schedule bound to a problem: packed data and a loaded kernel.
 *
 * Any number of threads may run a plan at once; only a refill changes it. It
 * borrows the problem, which must outlive it. */
#ifndef SPRY_PLAN_H
#define SPRY_PLAN_H

#include <stddef.h>

#include "spry/machine.h"
#include "spry/problem.h"
#include "spry/schedule.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

typedef struct spry_plan spry_plan;

/* Pack p's matrix as schedule x says and load its kernel. A kernel that is not
 * built in is compiled; without a compiler that fails with SPRY_SYSTEM. m NULL:
 * the detected machine. */
spry_status spry_plan_make(spry_plan **out, const spry_problem *p,
                           const spry_schedule *x, const spry_machine *m);

/* ==== simple ==== */

/* C = A B, or y = A x. C must not overlap B. */
spry_status spry_run(const spry_plan *plan, const void *B, void *C);

/* The operation as problem.h states it, with alpha and beta. D is NULL except
 * for sddmm and mttkrp. With beta == 0, C is written without being read. */
spry_status spry_run_scaled(const spry_plan *plan, double alpha, const void *B,
                            const void *D, double beta, void *C);

/* A dense operand with gaps: row-major with rows `ld` elements apart, or
 * column-major with columns `ld` elements apart. ld 0: no gaps. A vector is a
 * matrix of one column. Inputs are only read. */
typedef struct {
    void *data;
    int64_t ld;
    spry_layout layout;
} spry_dense;

/* spry_run_scaled on such operands, whatever the problem's layout is. D is
 * NULL but for sddmm and mttkrp, and sddmm's result is a vector without gaps.
 * Rows with gaps are read where they are or copied first, whichever should be
 * faster; from the first copy on the plan keeps room for both operands. */
spry_status spry_run_dense(const spry_plan *plan, double alpha,
                           const spry_dense *B, const spry_dense *D,
                           double beta, const spry_dense *C);

/* Compare results with the reference: bit for bit for integer operands, then
 * within the error bound of a sum for real ones. SPRY_WRONG, with a message
 * that says where they differ, if they do. */
spry_status spry_plan_check(const spry_plan *plan, uint64_t seed);

/* New values on the same pattern: as many as the problem's matrix has
 * entries, in its order and its type; they are copied. The plan then computes
 * as one made anew would, bit for bit. Takes about as long as copying the
 * packed data; the first call also notes where entries are kept, later ones
 * allocate nothing. Nobody may run the plan meanwhile. A plan with a palette
 * (or one value for all) takes values that fit it; else SPRY_USAGE, and it
 * stays as it was. */
spry_status spry_plan_refill(spry_plan *plan, const void *values);

void spry_plan_free(spry_plan *plan);

const char *spry_plan_text(const spry_plan *plan); /* its schedule */

/* Y = A X + Y without a plan, straight from the arrays of a compressed matrix
 * as SciPy holds it: by rows, by columns (spry_csc_multiply) or in blocks
 * (spry_bsr_multiply). Nothing is packed, kept or checked: indices must be
 * valid, and values may change between calls. A plan is faster; this is for
 * programs that cannot keep one. X and Y are row-major with n columns. threads
 * 0: all that may be used. Blocks are r x c, each row-major; rows and cols are
 * those of the whole matrix, and `indices` are columns of blocks. */
typedef struct {
    size_t size; /* of this struct */
    int64_t rows, cols;
    const void *indptr, *indices, *values;
    spry_index index; /* width of indptr and indices */
    spry_type type;   /* of values, X and Y */
} spry_compressed;
spry_status spry_csr_multiply(const spry_compressed *A, int64_t n,
                              const void *X, void *Y, int threads);
spry_status spry_csc_multiply(const spry_compressed *A, int64_t n,
                              const void *X, void *Y, int threads);
spry_status spry_bsr_multiply(const spry_compressed *A, int64_t r, int64_t c,
                              int64_t n, const void *X, void *Y, int threads);

/* ==== advanced ==== */

const spry_schedule *spry_plan_schedule(const spry_plan *plan);
const spry_problem *spry_plan_problem(const spry_plan *plan);
double spry_plan_bytes(const spry_plan *plan);        /* packed storage */
double spry_plan_pack_seconds(const spry_plan *plan); /* spent packing */
const char *spry_plan_kernel(const spry_plan *plan);  /* its kernel's name */
int spry_plan_builtin(const spry_plan *plan); /* 1: no compiler was needed */

/* The kernel's C text; the caller frees *out with free(). */
spry_status spry_plan_source(char **out, const spry_plan *plan);

/* Write DIR/NAME.c, NAME.h and NAME.bin: the kernel and its packed data, which
 * compile and run without spry. */
spry_status spry_plan_export(const spry_plan *plan, const char *dir,
                             const char *name);

#ifdef __cplusplus
}
#endif
#endif
