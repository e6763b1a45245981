/* parts.h - the parts of bench-network. Each prints its tables; what the aims
 * need goes into the figures. */
#ifndef BENCH_NETWORK_PARTS_H
#define BENCH_NETWORK_PARTS_H

typedef struct {
    double one, over_scipy, over_torch, over_destination; /* 1024 x 120 */
    double compiled_over_scipy; /* nominal edges, passes on */
    double plain[2], shared[2]; /* batch 64, 1024: edges/s, one thread */
    double two_over_one;        /* batch 1024 */
    double ego_half_seconds, ego_half_bytes, ego_radix_seconds;
    double blocked_over_ego, blocked_over_destination, annealed;
    double wide_bytes; /* 65536 x 120, streamed; 0: not run */
    int counters;      /* 1: those of the official network */
} figures;

void bench_single(figures *f, int quick);
void bench_batches(figures *f, int quick);
void bench_orders(figures *f, int quick);

#endif
