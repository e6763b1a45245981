/* breed.h - faulty copies of a plan's kernel, and what becomes of them. */
#ifndef BENCH_BREED_H
#define BENCH_BREED_H

#include "faults.h"
#include "plan/sparse.h"

typedef enum {
    BENCH_WRONG,     /* verification said so */
    BENCH_CRASH,     /* verification's child died of it */
    BENCH_HANG,      /* it did not end */
    BENCH_NO_EFFECT, /* it computes the same as the kernel without the fault */
    BENCH_SURVIVED,  /* wrong, and nobody noticed */
    BENCH_STILLBORN  /* it does not compile */
} bench_fate;
enum { BENCH_FATES = BENCH_STILLBORN + 1 };

typedef struct {
    const bench_fault *fault;
    int place; /* of those in the source of the kernel's file */
    bench_fate fate;
} bench_mutant;

/* Choose at most `most` mutants of the plan's kernel, at most `each` of one
 * fault; racy ones only if asked for. Returns how many. */
int bench_choose(bench_mutant *m, int most, int each, int racy,
                 const sp_sparse_plan *plan, sp_rng *r);

/* Compile them, let the oracle check each in a child of its own as the tuner
 * would, and fill in their fates. */
spry_status bench_judge(bench_mutant *m, int count, const sp_sparse_plan *plan,
                        const sp_oracle *o);

#endif
