/* machine.h - what other rooms may do with a machine beyond the public
 * door. */
#ifndef SP_MACHINE_H
#define SP_MACHINE_H

#include "spry/machine.h"

/* Take the better of two probes of one machine, number by number: neighbours
 * only ever make it look slower. The noise stays m's own. */
void sp_machine_merge(spry_machine *m, const spry_machine *other);

/* More threads than this cannot be meant on a machine that has fewer: starting
 * them may fail, and OpenMP then ends the process. */
enum { SP_MANY_THREADS = 64 };

/* FLOP/s of one thread in multiply-adds of f32, timed for a millisecond. */
double sp_multiply_adds(void);

#endif
