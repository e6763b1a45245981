/* net_breed.h - the inner loops of networks with a fault put in, and what
 * becomes of them. */
#ifndef BENCH_NET_BREED_H
#define BENCH_NET_BREED_H

#include "breed.h"

extern const bench_fault bench_net_faults[];
extern const int bench_net_fault_count;

/* At most `most` mutants of the loops' text, at most `each` of one fault. */
int bench_net_choose(bench_mutant *m, int most, int each, sp_rng *r);

/* Compile one, run it in every way of a list of small networks, let the
 * family's oracle check each in a child of its own, and fill in its fate:
 * that on the first of them on which it has an effect. */
spry_status bench_net_judge(bench_mutant *m);

#endif
