/* operation.h - what an operation is, for everyone who need not know which. */
#ifndef SP_OPERATION_H
#define SP_OPERATION_H

#include "spry/problem.h"

typedef struct {
    const char *name;
    int operands; /* dense ones that are read: B, or B and D */
    int columns;  /* it has dense columns to choose; 0: one vector */
    int modes;    /* of what is sparse: 2, a matrix; 3, a tensor */
    int flops;    /* for an entry and a column */
} sp_operation;

/* The row of op (names.c); NULL when it is none. */
const sp_operation *sp_operation_of(spry_op op);

#endif
