/* problem.h - what to compute.
 *
 *   spmv    y = alpha A x + beta y
 *   spmm    C = alpha A B + beta C        B: cols x n, C: rows x n
 *   sddmm   C = alpha A .* (B D') + beta C on A's pattern
 *                                         B: rows x n, D: cols x n, C: nnz
 *   mttkrp  C(i,j) = alpha sum_kl A(i,k,l) B(k,j) D(l,j) + beta C(i,j)
 *                                         B: dim[1] x n, D: dim[2] x n,
 *                                         C: dim[0] x n
 *
 * A problem borrows its matrix (or tensor, for mttkrp), which must outlive it.
 */
#ifndef SPRY_PROBLEM_H
#define SPRY_PROBLEM_H

#include <stdint.h>

#include "spry/matrix.h"
#include "spry/status.h"
#include "spry/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== simple ==== */

typedef enum { SPRY_SPMV, SPRY_SPMM, SPRY_SDDMM, SPRY_MTTKRP } spry_op;
enum { SPRY_OPS = 4 };

/* How dense operands lie in memory. */
typedef enum { SPRY_ROW_MAJOR, SPRY_COL_MAJOR } spry_layout;

typedef struct spry_problem spry_problem;

spry_status spry_problem_spmv(spry_problem **out, const spry_matrix *A,
                              spry_type type);
spry_status spry_problem_spmm(spry_problem **out, const spry_matrix *A,
                              int64_t n, spry_type type);
spry_status spry_problem_sddmm(spry_problem **out, const spry_matrix *A,
                               int64_t n, spry_type type);
/* Along mode 0; spry_tensor_turn makes another mode the first. */
spry_status spry_problem_mttkrp(spry_problem **out, const spry_tensor *T,
                                int64_t n, spry_type type);

/* Any operation on a matrix; operations without dense columns ignore n. */
spry_status spry_problem_make(spry_problem **out, spry_op op,
                              const spry_matrix *A, int64_t n, spry_type type);

/* The same operation with A's transpose: y = A' x, C = A' B; for spmv and spmm.
 * It is a problem like any other, with a matrix of its own, and borrows neither
 * p nor p's matrix; but spry_plan_refill takes values in the order of p's
 * matrix. */
spry_status spry_problem_transpose(spry_problem **out, const spry_problem *p);

/* The layout of spmm's dense operands; without this call it is row-major. */
void spry_problem_set_layout(spry_problem *p, spry_layout layout);

void spry_problem_free(spry_problem *p);

/* ==== advanced ==== */

spry_op spry_problem_op(const spry_problem *p);
spry_type spry_problem_type(const spry_problem *p);
int64_t spry_problem_cols(const spry_problem *p); /* dense columns n */
/* The matrix; of mttkrp, the unfolded tensor. */
const spry_matrix *spry_problem_matrix(const spry_problem *p);
/* dim[1] and dim[2] of mttkrp's tensor; else the matrix's columns and 1. */
int64_t spry_problem_mid(const spry_problem *p);
int64_t spry_problem_inner(const spry_problem *p);
const spry_stats *spry_problem_stats(const spry_problem *p);

/* "spmm-128-f32-<pattern key>". Problems with equal keys share what was tuned.
 * For a tensor, dim[2] precedes the pattern's key. */
const char *spry_problem_key(const spry_problem *p);

/* Floating-point operations of one run, and the bytes that it must move at
 * least. mttkrp counts 3 operations per entry and column, though kernels do
 * fewer where fibers share a product. */
double spry_problem_flops(const spry_problem *p);
double spry_problem_bytes(const spry_problem *p);

/* Elements of input `which` (spmv: x; spmm: B; sddmm and mttkrp: B, D) and of
 * the result. */
int64_t spry_problem_input_size(const spry_problem *p, int which);
int64_t spry_problem_output_size(const spry_problem *p);

/* The shape of input 0, input 1, or the result (which = 2): returns the number
 * of dimensions, 0 if there is no such operand, and their lengths, rows first.
 * Operands of networks and of dense operators count as one-dimensional. */
int spry_problem_shape(int64_t shape[2], const spry_problem *p, int which);

/* The correct result in the problem's type, computed slowly by summing in long
 * double. */
spry_status spry_problem_reference(const spry_problem *p, double alpha,
                                   const void *B, const void *D, double beta,
                                   void *C);

const char *spry_op_name(spry_op op);
int spry_op_modes(spry_op op);   /* of A: 2, a matrix; 3, a tensor */
int spry_op_columns(spry_op op); /* 1: has n dense columns; 0: n is 1 */
spry_status spry_op_parse(spry_op *out, const char *name);
const char *spry_type_name(spry_type type); /* "f32", "f64" */
spry_status spry_type_parse(spry_type *out, const char *name);

#ifdef __cplusplus
}
#endif
#endif
