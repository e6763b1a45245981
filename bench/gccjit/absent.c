/* absent.c - what stands in where libgccjit is not installed. */
#include "gccjit.h"

#include <stddef.h>

sp_kernel *bench_gccjit_make(void **code)
{
    *code = NULL;
    return NULL;
}

void bench_gccjit_free(void *code)
{
    (void)code;
}

int bench_gccjit_built(void)
{
    return 0;
}
