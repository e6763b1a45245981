/* fork.c - OpenMP's threads and fork.
 *
 * A fork copies one thread. GNU's OpenMP does not know: in the child its pool
 * still names threads that are not there, and the first parallel loop waits
 * for them for ever. So before a fork the pool of the forking thread is given
 * back; parent and child each start their own with their next loop, some tens
 * of microseconds later. Left standing, idle threads would also be counted in
 * the child, which would think itself crowded and sleep between loops.
 *
 * LLVM's library takes care of forks itself and must not be paused before
 * one. */
#include <pthread.h>

#include "base/base.h"

#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__)
#include <omp.h>

/* Inside a parallel region nothing can be given back, and nothing needs to:
 * loops in there run on the thread they are met by. */
static void rest_threads(void)
{
    (void)omp_pause_resource_all(omp_pause_hard);
}

static void watch(void)
{
    (void)pthread_atfork(rest_threads, NULL, NULL);
}

void sp_fork_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch);
}
#else
void sp_fork_watch(void) {}
#endif
