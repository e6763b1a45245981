/* clock.c - seconds that never run backwards. */
#include "base/base.h"

#include <time.h>

double sp_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
