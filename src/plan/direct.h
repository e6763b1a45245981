/* direct.h - loops over arrays that belong to others, one table for each
 * instruction set. */
#ifndef SP_PLAN_DIRECT_H
#define SP_PLAN_DIRECT_H

#include "codegen/args.h"
#include "spry/plan.h"

/* Compressed columns: columns [from, to) of the n dense ones; with n 1 the
 * matrix's own columns [from, to). */
typedef void sp_add_columns(const spry_compressed *A, int64_t n, const void *X,
                            void *Y, int64_t from, int64_t to);

/* Blocks of r x c: block rows [from, to). */
typedef void sp_add_blocks(const spry_compressed *A, int64_t r, int64_t c,
                           int64_t n, const void *X, void *Y, int64_t from,
                           int64_t to);

/* out[j * ldo + i] = in[i * ldi + j] for rows x cols of them. */
typedef void sp_turn(const void *in, int64_t ldi, void *out, int64_t ldo,
                     int64_t rows, int64_t cols);

/* Compressed rows [first, last) times dense columns that lie one after the
 * other: B's are n elements apart, C's `wide`. */
typedef void sp_by_columns(const sp_args *a);

typedef struct {
    sp_add_columns *columns[2][2]; /* f32, f64; indices of 32, 64 bits */
    sp_add_blocks *blocks[2][2];
    sp_turn *turn[2];
    sp_by_columns *by_columns[2][2];
} sp_direct;

/* The fastest that this CPU runs. */
const sp_direct *sp_direct_here(void);

#endif
