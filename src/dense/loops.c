/* loops.c - the loops of every instruction set that is built in. */
#include "dense/loops.h"

#define ROW(id, name)          \
    {SPRY_##id,                \
     &sp_plain_rows_##name,    \
     &sp_row_loops_##name,     \
     &sp_tile_set_##name,      \
     &sp_depthwise_set_##name, \
     &sp_winograd_set_##name,  \
     &sp_pruned_set_##name},
static const struct {
    spry_isa isa;
    sp_plain_rows *const *plain;
    sp_row_loops *const *rows;
    const sp_tile_set *tiles;
    const sp_depthwise_set *depthwise;
    const sp_winograd_set *winograd;
    const sp_pruned_set *pruned;
} built[] = {SP_BUILT_ISAS(ROW)};
#undef ROW

enum { BUILT = sizeof built / sizeof built[0] };

sp_dense_loops sp_dense_loops_of(spry_isa isa)
{
    for (int i = 0; i < BUILT; i++)
        if (built[i].isa == isa)
            return (sp_dense_loops){*built[i].plain,   *built[i].rows,
                                    built[i].tiles,    built[i].depthwise,
                                    built[i].winograd, built[i].pruned};
    return (sp_dense_loops){.plain = NULL};
}
