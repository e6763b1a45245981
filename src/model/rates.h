/* rates.h - a machine's numbers as predictions want them; what was not probed
 * is taken from a middling core. */
#ifndef SP_RATES_H
#define SP_RATES_H

#include "spry/machine.h"
#include "spry/matrix.h"

enum { SP_LEVELS = SPRY_CACHES + 1 }; /* the last is memory */

typedef struct {
    double cycle;                /* seconds; two vector multiply-adds */
    double cores;                /* that work side by side */
    double room[SPRY_CACHES];    /* bytes one thread may call its own */
    double bandwidth[SP_LEVELS]; /* bytes/s of all threads together */
    double latency[SP_LEVELS];   /* seconds */
    double store;                /* bytes/s to memory, all threads */
    double lines;  /* random ones of memory a second; 0: unknown */
    double flops;  /* a second, all threads; 0: unknown */
    double gather; /* seconds per element, hardware gather */
    double fork;   /* seconds to start and join the threads */
    double line;   /* bytes */
} sp_rates;

/* Of so many threads that compute in this type. */
sp_rates sp_rates_of(const spry_machine *m, spry_type type, int threads);

#endif
