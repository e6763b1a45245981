/* ways.c - a library that can do it in several ways -> the fastest of them. */
#include <math.h>

#include "base/base.h"
#include "peers.h"

enum { SAMPLES = 3 };
static const double LONG_RUN = 0.1; /* seconds; one run is enough then */
static const double HOPELESS = 2;   /* times the best so far */

static double fastest_run(void (*run)(void *handle, int way), void *handle,
                          int way, double least)
{
    double best = HUGE_VAL;

    for (int i = 0; i <= SAMPLES; i++) {
        double start = sp_seconds(), seconds;

        run(handle, way);
        seconds = sp_seconds() - start;
        if (i > 0 || seconds > LONG_RUN)
            best = fmin(best, seconds); /* a short first one warms up */
        if (seconds > HOPELESS * least || seconds > LONG_RUN)
            break;
    }
    return best;
}

int bench_fastest_way(void (*run)(void *handle, int way), void *handle,
                      int ways)
{
    double least = HUGE_VAL;
    int best = 0;

    for (int way = 0; way < ways; way++) {
        double seconds = fastest_run(run, handle, way, least);

        if (seconds < least) {
            least = seconds;
            best = way;
        }
    }
    return best;
}
