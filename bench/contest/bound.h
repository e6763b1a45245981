/* bound.h - what the machine can do at all, as one more entrant of a race:
 * what it does in the same seconds as the kernel, not at another hour. */
#ifndef BENCH_BOUND_H
#define BENCH_BOUND_H

#include "spry.h"

typedef struct {
    int threads;
    spry_type type;
    const struct sp_lanes *lanes; /* of the multiply-adds */
    double work;                  /* of one run: bytes moved, or operations */
    double *a, *b, *c;            /* of the triad, else NULL */
    int64_t words;                /* of each */
    double sink;
} bench_bound;

/* a = b + s c over arrays that no cache holds; 24 bytes an element count. */
spry_status bench_triad_open(bench_bound *out, const spry_machine *m,
                             int threads);
/* Multiply-adds in registers. */
void bench_peak_open(bench_bound *out, const spry_machine *m, spry_type type,
                     int threads);
void bench_bound_close(bench_bound *b);

/* One run of a bench_bound. */
void bench_bound_run(void *bound);

#endif
