/* baseline.h - the loops everyone writes first, as the compiler makes them
 * best: what every ratio of the sparse benchmark is measured against. */
#ifndef BENCH_BASELINE_H
#define BENCH_BASELINE_H

#include <stdint.h>

#include "spry/problem.h"

typedef struct {
    spry_op op;
    spry_type type;
    int64_t rows, n;
    int32_t *start; /* [rows + 1] */
    int32_t *col;   /* [nnz] */
    void *val;      /* [nnz] */
    int threads;
    int64_t *cut; /* [threads + 1] rows where each thread begins */
    const void *B, *D;
    void *C;
} bench_baseline;

/* All rows on one thread; all rows on b->threads, cut to equal nonzeros. */
void bench_serial(void *baseline);
void bench_parallel(void *baseline);

#endif
