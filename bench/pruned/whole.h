/* whole.h - pruned networks beside their dense times. */
#ifndef BENCH_PRUNED_WHOLE_H
#define BENCH_PRUNED_WHOLE_H

#include "spry/machine.h"

/* On m's threads, tuned for as long as the dense one; prints them. */
void whole_networks(const spry_machine *m);
/* aim lines of all that were measured. */
void whole_aims(void);

#endif
