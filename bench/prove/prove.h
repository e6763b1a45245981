/* prove.h - promises, each tried hard to be broken.
 *
 * A part prints what it did and its "aim" lines. */
#ifndef BENCH_PROVE_H
#define BENCH_PROVE_H

#include <stddef.h>

/* More of it when not in a hurry. */
int prove_count(int quick, int whole);

/* Processes that keep all cores busy, and their end. */
void prove_load_begin(void);
void prove_load_end(void);

/* Many processes write into one store. */
void prove_writers(const char *folder);
/* Work in a child does whatever it likes. */
void prove_hostile(const char *folder);
/* The n-th allocation of a tune is refused, for every n. */
void prove_memory(const char *folder);
/* Kept kernels are tampered with. */
void prove_attacks(const char *folder);
/* Many processes need the same kernels at once. */
void prove_cold(const char *folder);
/* Every byte of kept files changed. */
void prove_inert(const char *folder);
/* What a call and a lookup cost. */
void prove_overhead(const char *folder);
/* Intervals of races whose true ratio is known. */
void prove_coverage(const char *folder);
/* What a tune chose, raced again in a fresh process. */
void prove_slower(const char *folder);
void prove_slower_loaded(const char *folder);
/* Answers that were frozen, in a fresh process. */
void prove_frozen(const char *folder);

/* This program again, as a fresh process with these words, up to a NULL; what
 * it prints goes into the file `said`. 0 if it cannot be started or fails. */
enum { PROVE_WORDS = 5 };
int prove_self(const char *said, const char *const word[PROVE_WORDS]);
/* The fresh processes: argv of the program that they are. */
int prove_fresh(int argc, char **argv);
int prove_fresh_frozen(int argc, char **argv);

#endif
