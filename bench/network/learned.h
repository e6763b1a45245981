/* learned.h - the learned order beside the others, in simulated I/O. */
#ifndef BENCH_NETWORK_LEARNED_H
#define BENCH_NETWORK_LEARNED_H

/* Prints a table, means with intervals and the aims of orders; takes some
 * seconds when quick, else about a minute. */
void bench_learned(int quick);

#endif
