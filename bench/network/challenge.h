/* challenge.h - the Graph Challenge: what passes leave of its networks, and
 * how fast 60 000 inputs go through. */
#ifndef BENCH_NETWORK_CHALLENGE_H
#define BENCH_NETWORK_CHALLENGE_H

/* Prints tables and the aims; about a minute when quick, else five. */
void bench_challenge(int quick);

#endif
