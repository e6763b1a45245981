/* tensor_baseline.h - the two mttkrp loops everyone writes first, as the
 * compiler makes them best: over entries, and over compressed fibers. */
#ifndef BENCH_TENSOR_BASELINE_H
#define BENCH_TENSOR_BASELINE_H

#include <stdint.h>

#include "spry/status.h"

typedef struct {
    spry_type type;
    int64_t rows, n;
    int32_t *start;       /* [rows + 1] first entry of each slice */
    int32_t *k, *l;       /* [nnz] */
    void *val;            /* [nnz] */
    int32_t *fiber;       /* [rows + 1] first fiber of each slice */
    int32_t *fiber_k;     /* [fibers] */
    int32_t *fiber_start; /* [fibers + 1] first entry of each */
    void *sum;            /* [threads][n] a fiber's sum */
    int threads;
    int64_t *cut; /* [threads + 1] slices where each thread begins */
    const void *B, *D;
    void *C;
} bench_tensor;

/* All slices on one thread; on b->threads, cut to equal entries. */
void bench_entries_serial(void *baseline);
void bench_entries_parallel(void *baseline);
void bench_fibers_serial(void *baseline);
void bench_fibers_parallel(void *baseline);

#endif
