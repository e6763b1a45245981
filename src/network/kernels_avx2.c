/* kernels_avx2.c - the loops for AVX2 with FMA, compiled with its flags. */
#include "network/form.h"

#if defined(__AVX2__) && defined(__FMA__)
#define KERNELS sp_net_kernels_avx2
#include "network/kernels_body.h"
#else
const sp_net_kernels *sp_net_kernels_avx2(void)
{
    return NULL;
}
#endif
