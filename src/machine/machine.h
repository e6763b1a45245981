/* machine.h - what other rooms may do with a machine beyond the public
 * door. */
#ifndef SP_MACHINE_H
#define SP_MACHINE_H

#include "spry/machine.h"

/* Take the better of two probes of one machine, number by number: neighbours
 * only ever make it look slower. The noise stays m's own. */
void sp_machine_merge(spry_machine *m, const spry_machine *other);

/* FLOP/s of one thread in multiply-adds of f32, timed for a millisecond. */
double sp_multiply_adds(void);

#endif
