/* operations.c - the operations, one row each.
 *
 *   spmv     C(i)   = A(i,k)   B(k)
 *   spmm     C(i,j) = A(i,k)   B(k,j)
 *   sddmm    C(i,j) = A(i,j)   B(i,k) D(j,k)
 *   mttkrp   C(i,j) = A(i,k,l) B(k,j) D(l,j) */
#include "problem/operation.h"

#include <stddef.h>
#include <string.h>

#define BIT(index) (1u << (index))

static const sp_operation operations[SPRY_OPS] = {
    [SPRY_SPMV] = {.name = "spmv",
                   .modes = 2,
                   .sparse = {SP_I, SP_K},
                   .operands = 1,
                   .row = {SP_K},
                   .dense = -1,
                   .output = BIT(SP_I),
                   .flops = 2,
                   .chunk = 128,
                   .chunks = 9,
                   .most_unroll = 16,
                   .most_sums = 16,
                   .rule = "spmv has no tile",
                   .in_flight = 12},
    [SPRY_SPMM] = {.name = "spmm",
                   .modes = 2,
                   .sparse = {SP_I, SP_K},
                   .operands = 1,
                   .row = {SP_K},
                   .dense = SP_J,
                   .output = BIT(SP_I) | BIT(SP_J),
                   .flops = 2,
                   .chunk = 32,
                   .chunks = 9,
                   .most_unroll = 16,
                   .most_sums = 16,
                   .rule = "tile x unroll is more than the registers hold",
                   .omits = 16,
                   .in_flight = 4},
    [SPRY_SDDMM] = {.name = "sddmm",
                    .modes = 2,
                    .sparse = {SP_I, SP_J},
                    .operands = 2,
                    .row = {SP_I, SP_J},
                    .dense = SP_K,
                    .output = BIT(SP_I) | BIT(SP_J),
                    .sampled = 1,
                    .flops = 2,
                    .chunk = 32,
                    .chunks = 6,
                    .most_unroll = 8,
                    .even = 1,
                    .most_sums = 96,
                    .rule = "sddmm takes 1, 2, 4 or 8 nonzeros at a time",
                    .omits = 16,
                    .in_flight = 4},
    [SPRY_MTTKRP] = {.name = "mttkrp",
                     .modes = 3,
                     .sparse = {SP_I, SP_K, SP_L},
                     .operands = 2,
                     .row = {SP_K, SP_L},
                     .dense = SP_J,
                     .output = BIT(SP_I) | BIT(SP_J),
                     .flops = 3,
                     .chunk = 32,
                     .chunks = 9,
                     .most_unroll = 2,
                     .most_sums = 8,
                     .rule = "mttkrp takes 1 or 2 entries at a time, "
                             "tile x unroll <= 8",
                     .omits = 128,
                     .in_flight = 6},
};

const sp_operation *sp_operation_of(spry_op op)
{
    return (unsigned)op < SPRY_OPS ? &operations[op] : NULL;
}

const sp_operation *sp_operation_named(const char *name)
{
    for (int i = 0; i < SPRY_OPS; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}
