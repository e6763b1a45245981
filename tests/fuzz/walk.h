/* walk.h - whoever walks the edges of a network that exists stays inside it. */
#ifndef SPRY_FUZZ_WALK_H
#define SPRY_FUZZ_WALK_H

#include <stdlib.h>

#include "spry/network.h"

static inline void fuzz_walk(const spry_network *n)
{
    float *x = calloc((size_t)n->inputs, sizeof *x);
    double *y = calloc((size_t)n->outputs, sizeof *y);

    if (x && y && n->neurons < 1 << 16 &&
        spry_network_reference(y, n, x, 1) != SPRY_OK)
        abort();
    free(x);
    free(y);
}

#endif
