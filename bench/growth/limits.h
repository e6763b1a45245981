/* limits.h - what no SpMM of one matrix can be faster than, as loops over the
 * very operands: one more entrant each of the race that the kernel runs in.
 *
 *   multiply-adds   as many, in registers
 *   stream          every byte of A and B read once, of C written once
 *   gathers         the row of B that each entry needs, and its value, loaded
 *                   and no more, in the order of the matrix; or in the order
 *                   of panels, and then C is read and written as often as a
 *                   panel comes back to it
 *
 * Wherever the operands lie - in a cache or in memory - the loops find them
 * there as the kernel does, so that one set of loops stands for the bandwidth
 * of every level. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "../contest/operands.h"
#include "spry/machine.h"

typedef enum {
    LIMIT_FLOPS,
    LIMIT_STREAM,
    LIMIT_GATHERS,
    LIMIT_AHEAD, /* gathers, asked for a few entries ahead */
    LIMIT_PANELS /* gathers in the order of panels */
} limit_kind;

enum { LIMITS = 12 }; /* loops of one problem, at most */

typedef struct {
    limit_kind kind;
    int threads, panels;
    int ahead;   /* entries by which gathers are asked for before, or 0 */
    double part; /* of the problem's work in one run; 1 but for flops */
    const bench_operands *o;
    const spry_machine *m;
    const void *index;  /* [nnz] dense rows in order; */
    int wide;           /* of 32 bits, else of 16 */
    const int32_t *row; /* [nnz] of panels only */
    int64_t *cut;       /* [threads + 1] where each thread's entries begin */
    void *owned[3];     /* what limits_close frees */
    double sink;
} limit;

/* The loops that make sense for o on m; returns how many, 0 and a sentence
 * when memory is short. */
int limits_open(limit out[LIMITS], const bench_operands *o,
                const spry_machine *m);
void limits_close(limit *l, int count);

/* One run of a limit. */
void limit_run(void *l);

const char *limit_name(const limit *l);

#endif
