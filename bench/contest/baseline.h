/* baseline.h - the loops everyone writes first, as the compiler makes them
 * best: what every ratio of the sparse benchmarks is measured against. */
#ifndef BENCH_BASELINE_H
#define BENCH_BASELINE_H

/* All rows on one thread; all rows on the case's, cut to equal nonzeros. The
 * argument is a bench_operands. */
void bench_serial(void *operands);
void bench_parallel(void *operands);

#endif
