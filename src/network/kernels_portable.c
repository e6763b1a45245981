/* kernels_portable.c - the loops for any CPU. */
#define KERNELS sp_net_kernels_portable
#include "network/kernels_body.h"
