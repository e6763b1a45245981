/* names.c - operations and types as words. */
#include "problem/operation.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

const char *spry_op_name(spry_op op)
{
    const sp_operation *o = sp_operation_of(op);

    return o ? o->name : "unknown";
}

int spry_op_modes(spry_op op)
{
    const sp_operation *o = sp_operation_of(op);

    return o ? o->modes : 0;
}

int spry_op_columns(spry_op op)
{
    const sp_operation *o = sp_operation_of(op);

    return o && o->dense >= 0;
}

spry_status spry_op_parse(spry_op *out, const char *name)
{
    SP_NEED(out, name);

    char list[80] = "";
    size_t used = 0;

    for (int i = 0; i < SPRY_OPS; i++) {
        if (strcmp(sp_operation_of((spry_op)i)->name, name) == 0) {
            *out = (spry_op)i;
            return SPRY_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 !i                  ? ""
                                 : i + 1 == SPRY_OPS ? " or "
                                                     : ", ",
                                 sp_operation_of((spry_op)i)->name);
    }
    return sp_fail(SPRY_USAGE, "operation \"%s\" is not %s", name, list);
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
