/* eon.c - is the learned order worth it? With QUICK=1 in less time. */
#include <stdlib.h>

#include "network/learned.h"

int main(void)
{
    bench_learned(getenv("QUICK") != NULL);
    return 0;
}
