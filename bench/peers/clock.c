/* clock.c - a clock that can be told how long something really took. */
#include "base/base.h"
#include "peers.h"

static double ahead; /* of the usual clock, seconds */
static int sample;

double bench_peers_clock(void)
{
    return sp_seconds() + ahead;
}

void bench_peers_shift(double seconds)
{
    ahead += seconds;
}

int bench_peers_between(void *unused)
{
    (void)unused;
    sample++;
    return 0;
}

int bench_peers_sample(void)
{
    return sample;
}
