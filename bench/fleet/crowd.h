/* crowd.h - a thousand workers over a few connections: what the queue is asked
 * is real, and they pause as it says; the measuring takes no time. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <stdint.h>

#include "fleet/internal.h"

enum { CROWD_CONNECTIONS = 16, CROWD = 1008 };

typedef struct {
    const char *uri;
    int64_t jobs;   /* it is over when so many are done; 0: not by that */
    double seconds; /* at the latest */
    int silent;     /* one job each, and never heard of again */
} crowd_plan;

typedef struct {
    int64_t taken, done; /* leases; results that were stored */
    int64_t asked, none; /* questions for a job; answered with none */
    int64_t lost;        /* signs of life and results that were refused */
    int64_t first, last; /* leases in the first and the last quarter */
    double seconds;      /* until the last one was done */
    spry_status status;  /* of the first connection that failed */
    char why[256];
} crowd_tally;

/* All of them enroll, work and leave. */
crowd_tally crowd_run(const crowd_plan *plan);

#endif
