/* kernels.c - which loops this CPU runs best. */
#include "form/internal.h"
#include "machine/built.h"
#include "machine/isa.h"

#define DECLARE(id, name) extern const sp_net_kernels sp_net_kernels_##name;
SP_BUILT_ISAS(DECLARE)

#define ROW(id, name) {SPRY_##id, &sp_net_kernels_##name},
static const struct {
    spry_isa isa;
    const sp_net_kernels *kernels;
} built[] = {SP_BUILT_ISAS(ROW)};

enum { BUILT = sizeof built / sizeof built[0] };

static const sp_net_kernels *forced;

void sp_net_kernels_force(const sp_net_kernels *k)
{
    forced = k;
}

const sp_net_kernels *sp_net_kernels_of(spry_isa isa)
{
    for (int i = 0; i < BUILT; i++)
        if (built[i].isa == isa)
            return built[i].kernels;
    return NULL;
}

const sp_net_kernels *sp_net_kernels_for(const sp_form_options *f)
{
    int last = BUILT - 1;

    while (last > 0 &&
           (!sp_isa_runs_here(built[last].isa) ||
            (f->limited && !sp_isa_includes(f->isa, built[last].isa))))
        last--;
    return forced ? forced : built[last].kernels;
}

const sp_net_kernels *sp_net_kernels_here(void)
{
    return sp_net_kernels_for(&(sp_form_options){.limited = 0});
}
