/* operands.h - one problem with everything it is computed from, as plain
 * arrays: what the plain loops, the tuned plan and every peer are given. */
#ifndef BENCH_OPERANDS_H
#define BENCH_OPERANDS_H

#include <stdint.h>

#include "spry/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    spry_op op;
    int64_t n; /* dense columns; 1 for spmv */
    spry_type type;
    int threads;
} bench_case;

typedef struct {
    bench_case c;
    const spry_problem *p;
    int64_t rows, cols, nnz;
    int32_t *start; /* [rows + 1] */
    int32_t *col;   /* [nnz] ascending within a row */
    void *val;      /* [nnz] */
    int64_t *cut;   /* [threads + 1] rows where equal nonzeros begin */
    void *B, *D;    /* inputs as in problem.h; D has elements for sddmm only */
    void *C;        /* the result, written by whoever runs */
} bench_operands;

/* A problem of A; the caller frees it. */
spry_status bench_problem(spry_problem **out, const spry_matrix *A,
                          const bench_case *c);

/* 32-bit compressed rows and random dense arrays for p, which must outlive
 * them. */
spry_status bench_operands_make(bench_operands *out, const spry_problem *p,
                                int threads);
void bench_operands_free(bench_operands *o);

/* Bytes of B, D and C together. */
double bench_dense_bytes(const spry_matrix *A, const bench_case *c);

/* Hold C against the reference: every row while that is cheap, an even
 * sample beyond. SPRY_WRONG says where it differs. */
spry_status bench_verify(const bench_operands *o, const void *C);

#ifdef __cplusplus
}
#endif
#endif
