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

#endif
