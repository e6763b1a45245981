/* contest.h - one problem: tuned by spry, raced against the plain loop. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "measure/measure.h"
#include "spry.h"

typedef struct {
    spry_op op;
    int64_t n; /* dense columns; 1 for spmv */
    spry_type type;
    int threads;
} bench_case;

typedef struct {
    sp_interval ratio; /* time of the baseline / time of the tuned plan */
    char schedule[SPRY_SCHEDULE_TEXT];
} bench_result;

/* Tune for `budget` seconds with nothing remembered, then race the plan
 * against the plain loop: serial and, with more threads, parallel too,
 * whichever is faster. A ratio below `doubt` is raced again for longer, and
 * the longer race counts. */
spry_status bench_contest(bench_result *out, const spry_matrix *A,
                          const bench_case *c, const spry_machine *m,
                          double budget, double doubt);

/* A problem of A; the caller frees it. */
spry_status bench_problem(spry_problem **out, const spry_matrix *A,
                          const bench_case *c);

#endif
