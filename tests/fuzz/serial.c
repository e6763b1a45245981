/* serial.c - what OpenMP answers where there is but one thread, for sanitizers
 * that its runtime is not compiled for. */
#include <omp.h>

int omp_get_max_threads(void)
{
    return 1;
}

int omp_get_num_threads(void)
{
    return 1;
}

int omp_get_thread_num(void)
{
    return 0;
}

int omp_in_parallel(void)
{
    return 0;
}
