/* names.c - operations and types as words. */
#include "spry/problem.h"

#include <string.h>

#include "base/base.h"

static const char *const op_names[SPRY_OPS] = {"spmv", "spmm", "sddmm",
                                               "mttkrp"};

const char *spry_op_name(spry_op op)
{
    return (unsigned)op < SPRY_OPS ? op_names[op] : "unknown";
}

spry_status spry_op_parse(spry_op *out, const char *name)
{
    SP_NEED(out, name);
    for (int i = 0; i < SPRY_OPS; i++)
        if (strcmp(op_names[i], name) == 0) {
            *out = (spry_op)i;
            return SPRY_OK;
        }
    return sp_fail(SPRY_USAGE,
                   "operation \"%s\" is not spmv, spmm, sddmm or mttkrp", name);
}

const char *spry_type_name(spry_type type)
{
    return type == SPRY_F32 ? "f32" : "f64";
}

spry_status spry_type_parse(spry_type *out, const char *name)
{
    SP_NEED(out, name);
    if (strcmp(name, "f32") == 0)
        *out = SPRY_F32;
    else if (strcmp(name, "f64") == 0)
        *out = SPRY_F64;
    else
        return sp_fail(SPRY_USAGE, "type \"%s\" is not f32 or f64", name);
    return SPRY_OK;
}
