/* kernels.c - which loops this CPU runs best. */
#include "machine/machine.h"
#include "network/form.h"

static const sp_net_kernels *forced;

void sp_net_kernels_force(const sp_net_kernels *k)
{
    forced = k;
}

const sp_net_kernels *sp_net_kernels_here(void)
{
    const sp_net_kernels *avx2 = sp_net_kernels_avx2();

    if (forced)
        return forced;
    return avx2 && sp_isa_runs_here(SPRY_AVX2) ? avx2
                                               : sp_net_kernels_portable();
}
