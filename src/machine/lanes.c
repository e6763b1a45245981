/* lanes.c - the probe's inner loops for an instruction set. */
#include "machine/built.h"
#include "machine/internal.h"
#include "machine/isa.h"

#define DECLARE(id, name) extern const sp_lanes sp_lanes_##name;
SP_BUILT_ISAS(DECLARE)

#define ROW(id, name) {SPRY_##id, &sp_lanes_##name},
static const struct {
    spry_isa isa;
    const sp_lanes *lanes;
} built[] = {SP_BUILT_ISAS(ROW)};

/* The widest that isa includes; the first is what every CPU has. */
const sp_lanes *sp_lanes_of(spry_isa isa)
{
    int last = (int)(sizeof built / sizeof built[0]) - 1;

    while (last > 0 && !sp_isa_includes(isa, built[last].isa))
        last--;
    return built[last].lanes;
}
