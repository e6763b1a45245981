/* operation.h - what an operation is, for everyone who need not know which.
 *
 * An operation multiplies entries of A, which is sparse, by rows of dense
 * operands. Its indices are letters of einsum; one row of operations.c says
 * which of them every operand has, and everything else follows: sizes, the
 * reference, loops and their legal orders, what a model counts. */
#ifndef SP_OPERATION_H
#define SP_OPERATION_H

#include "spry/problem.h"

enum { SP_I, SP_J, SP_K, SP_L, SP_LETTERS };
enum { SP_SPARSE = 3, SP_DENSE = 2 }; /* most of A's indices, most operands */

typedef struct {
    const char *name;
    int modes;             /* of A: 2, a matrix; 3, a tensor */
    int sparse[SP_SPARSE]; /* the index of each mode, rows first */
    int operands;          /* dense ones that are read: B, or B and D */
    int row[SP_DENSE];     /* the index of each one's rows */
    int dense;             /* the index of their columns; -1: one vector */
    unsigned output;       /* bit `index`: results differ along it */
    int sampled;           /* 1: results lie on A's pattern, each a product
                              of two rows; 0: on rows of A and columns */
    int flops;             /* for an entry and a column */
    int chunk;             /* of rows handed to a thread, in WACO's fixed csr */
    int chunks;            /* powers of two that WACO's space has of them */

    /* Registers of a kernel: entries taken at a time (`even`: a power of two
     * of them), vectors of columns times entries, and the rule in words. */
    int most_unroll, even, most_sums;
    const char *rule;

    int omits;        /* the common width that is not built in */
    double in_flight; /* lines of dense rows that one core fetches at a time */
} sp_operation;

/* The row of op (operations.c); NULL when it is none. */
const sp_operation *sp_operation_of(spry_op op);
/* By its name; NULL when it is none. */
const sp_operation *sp_operation_named(const char *name);

static inline int sp_has_columns(spry_op op)
{
    return sp_operation_of(op)->dense >= 0;
}

static inline int sp_is_sampled(spry_op op)
{
    return sp_operation_of(op)->sampled;
}

static inline int sp_has_tensor(spry_op op)
{
    return sp_operation_of(op)->modes == 3;
}

static inline int sp_is_output(const sp_operation *d, int index)
{
    return (int)(d->output >> index & 1);
}

static inline int sp_is_sparse(const sp_operation *d, int index)
{
    return index != d->dense;
}

/* Rows of dense columns come in, rows go out: C = A B. */
static inline int sp_is_product(const sp_operation *d)
{
    return d->modes == 2 && d->dense >= 0 && !d->sampled;
}

/* The i-th index of an operation, the dense one last; -1 past it. */
static inline int sp_index_at(const sp_operation *d, int i)
{
    return i < d->modes ? d->sparse[i] : i == d->modes ? d->dense : -1;
}

#endif
