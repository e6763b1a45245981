/* loops.h - what bodies and loops.c share. */
#ifndef SP_DENSE_LOOPS_H
#define SP_DENSE_LOOPS_H

#include "dense/internal.h"
#include "machine/built.h"

/* One of these for every instruction set that is built in. */
#define SP_DECLARE(id, name)                               \
    extern sp_plain_rows *const sp_plain_rows_##name;      \
    extern sp_row_loops *const sp_row_loops_##name;        \
    extern const sp_tile_set sp_tile_set_##name;           \
    extern const sp_depthwise_set sp_depthwise_set_##name; \
    extern const sp_winograd_set sp_winograd_set_##name;   \
    extern const sp_pruned_set sp_pruned_set_##name;
SP_BUILT_ISAS(SP_DECLARE)
#undef SP_DECLARE

/* The second operand of a step, for row i: at[j * step]. */
typedef struct {
    const float *at;
    int64_t step; /* 0: one number for the whole row */
} sp_chain_operand;

static inline sp_chain_operand sp_chain_operand_of(const spry_operator *op,
                                                   const spry_tensors *t, int k,
                                                   int64_t i)
{
    const spry_step *s = &op->step[k];
    const float *y = t->more[k];

    if (s->op == SPRY_STEP_ACT || s->with == SPRY_WITH_VALUE)
        return (sp_chain_operand){&s->value, 0};
    if (s->with == SPRY_WITH_COLUMN)
        return (sp_chain_operand){y + i, 0};
    return (sp_chain_operand){s->with == SPRY_WITH_SAME ? y + i * op->pitch_in
                              : s->with == SPRY_WITH_ROW
                                  ? y
                                  : y + i / op->m * op->n,
                              1};
}

#endif
