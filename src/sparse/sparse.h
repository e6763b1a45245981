/* sparse.h - the family of sparse matrices and tensors. */
#ifndef SP_SPARSE_H
#define SP_SPARSE_H

#include "family/family.h"
#include "problem/sparse.h"
#include "spry/schedule.h"

extern const sp_family sp_family_sparse;

/* Which kernels may be compiled for a trial. */
typedef enum {
    SP_COMPILE_NONE,
    SP_COMPILE_USEFUL,
    SP_COMPILE_ALL
} sp_compiling;

/* Can a plan for x be made: built in, or with a compiler at hand? */
int sp_sparse_available(const sp_sparse *p, const spry_schedule *x,
                        const spry_machine *m, sp_compiling compile);

/* The plain loops of p, fastest guess first; returns how many. */
int sp_sparse_baselines(spry_schedule out[SP_BASELINES], const sp_sparse *p,
                        const spry_machine *m);

#endif
