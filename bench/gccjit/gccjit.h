/* gccjit.h - one kernel made through libgccjit, for the clock. */
#ifndef BENCH_GCCJIT_H
#define BENCH_GCCJIT_H

#include "codegen/args.h"

/* Make C = A B with four vectors of eight f32 columns in registers, n a
 * multiple of 32, 32-bit indices. *code keeps it loaded. NULL: failed, or
 * built without libgccjit. */
sp_kernel *bench_gccjit_make(void **code);
void bench_gccjit_free(void *code);
int bench_gccjit_built(void);

#endif
