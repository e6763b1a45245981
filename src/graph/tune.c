/* tune.c - tuning a network: time goes where it pays. */
#include "graph/executor.h"

spry_status sp_executor_tune(spry_executor *e)
{
    (void)e;
    return SPRY_OK;
}
