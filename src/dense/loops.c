/* loops.c - the loops of every instruction set that is built in. */
#include "dense/loops.h"

#define ROW(id, name) {SPRY_##id, &sp_plain_rows_##name},
static const struct {
    spry_isa isa;
    sp_plain_rows *const *plain;
} built[] = {SP_BUILT_ISAS(ROW)};
#undef ROW

enum { BUILT = sizeof built / sizeof built[0] };

sp_plain_rows *sp_plain_rows_of(spry_isa isa)
{
    for (int i = 0; i < BUILT; i++)
        if (built[i].isa == isa)
            return *built[i].plain;
    return NULL;
}
