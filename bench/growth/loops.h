/* loops.h - the inner loops of the limits, compiled for this machine alone. */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include <stdint.h>

enum { LOOP_COLUMNS = 32 }; /* f32 */

/* Load rows index[from..to) of B, each of LOOP_COLUMNS floats, and broadcast
 * a value to each; rows are asked for so many entries `ahead`, 0: not at all.
 * Returns what keeps the loads alive. */
typedef struct {
    const float *B, *val;
    const void *index;
    int ahead;
    const int32_t *row; /* of panels only, and C */
    float *C;
} loop_operands;
double loop_gather16(const loop_operands *o, int64_t from, int64_t to);
double loop_gather32(const loop_operands *o, int64_t from, int64_t to);

/* The same with 32-bit indices for entries in the order of panels: what each
 * brings is joined to row[i] of C, since a panel has to come back to it. */
double loop_panels(const loop_operands *o, int64_t from, int64_t to);

/* Read n 32-bit words; set n words. Whole lines but for the last. */
double loop_read(const void *x, int64_t n);
void loop_write(float *x, int64_t n);

#endif
