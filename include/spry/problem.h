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
 * A problem borrows its matrix (of mttkrp its tensor), which must outlive
 * it. */
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
/* Along mode 0; spry_tensor_turn brings another mode there. */
spry_status spry_problem_mttkrp(spry_problem **out, const spry_tensor *T,
                                int64_t n, spry_type type);

/* Any operation of a matrix; n counts for those with dense columns. */
spry_status spry_problem_make(spry_problem **out, spry_op op,
                              const spry_matrix *A, int64_t n, spry_type type);

/* The same operation with A's transpose: y = A' x, C = A' B. It is a problem
 * like any other, on a pattern of its own, and borrows neither p nor its
 * matrix; but spry_plan_refill takes values in the order of p's matrix. Of
 * spmv and spmm. */
spry_status spry_problem_transpose(spry_problem **out, const spry_problem *p);

/* Dense operands of spmm are row-major unless said otherwise. */
void spry_problem_set_layout(spry_problem *p, spry_layout layout);

void spry_problem_free(spry_problem *p);

/* ==== advanced ==== */

spry_op spry_problem_op(const spry_problem *p);
spry_type spry_problem_type(const spry_problem *p);
int64_t spry_problem_cols(const spry_problem *p); /* dense columns n */
const spry_matrix *spry_problem_matrix(const spry_problem *p); /* unfolded */
/* dim[1] and dim[2] of mttkrp's tensor; else the matrix's columns and 1. */
int64_t spry_problem_mid(const spry_problem *p);
int64_t spry_problem_inner(const spry_problem *p);
const spry_stats *spry_problem_stats(const spry_problem *p);

/* "spmm-128-f32-<pattern key>": equal keys, equal tuning. A tensor's key has
 * dim[2] before the pattern's. */
const char *spry_problem_key(const spry_problem *p);

/* Operations, and bytes that must move at least once, of one run. Of mttkrp
 * 3 operations per entry and column: fewer when fibers share a product. */
double spry_problem_flops(const spry_problem *p);
double spry_problem_bytes(const spry_problem *p);

/* How many elements each operand has: spmv x, y; spmm B, C; sddmm
 * and mttkrp B, D, C. */
int64_t spry_problem_input_size(const spry_problem *p, int which);
int64_t spry_problem_output_size(const spry_problem *p);

/* The shape of operand 0, 1, or of the result, 2: how many dimensions it has
 * (0: there is no such operand), and how long they are, rows first. Operands
 * of networks and of dense operators are numbers in a row. */
int spry_problem_shape(int64_t shape[2], const spry_problem *p, int which);

/* The slow right answer, in the problem's type, summed in long double. */
spry_status spry_problem_reference(const spry_problem *p, double alpha,
                                   const void *B, const void *D, double beta,
                                   void *C);

const char *spry_op_name(spry_op op);
int spry_op_modes(spry_op op);   /* of A: 2, a matrix; 3, a tensor */
int spry_op_columns(spry_op op); /* 1: n is to be said; 0: it is 1 */
spry_status spry_op_parse(spry_op *out, const char *name);
const char *spry_type_name(spry_type type); /* "f32", "f64" */
spry_status spry_type_parse(spry_type *out, const char *name);

#ifdef __cplusplus
}
#endif
#endif
