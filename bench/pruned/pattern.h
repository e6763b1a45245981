/* pattern.h - which weights of a layer are 0. */
#ifndef BENCH_PRUNED_PATTERN_H
#define BENCH_PRUNED_PATTERN_H

#include "spry/dense.h"

/* The archives of pruned networks, unpacked into a folder; NULL: there are
 * none, which is said. Close removes it. */
char *pattern_open(char *folder);
void pattern_close(char *folder);

/* Weights of op, which has none: as the file of that name has them when it is
 * there for this share of zeros (*real 1), else pruned at random. sp_free
 * them. */
float *pattern_weights(const spry_operator *op, const char *folder,
                       const char *name, double zeros, int *real);

#endif
