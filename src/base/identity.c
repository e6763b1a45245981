/* identity.c - which build this is: a number that its kernels' texts, the
 * compiler and its flags make (cmake/identity.cmake). */
#include "base/identity.h"
#include "base/base.h"

const char *sp_build_identity(void)
{
    return SP_IDENTITY;
}
