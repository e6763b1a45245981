/* challenge.c - the Graph Challenge, run. With QUICK=1 in less time. */
#include <stdlib.h>

#include "network/challenge.h"

int main(void)
{
    bench_challenge(getenv("QUICK") != NULL);
    return 0;
}
