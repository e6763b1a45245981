/* find.c - a built-in kernel by its name. */
#include "codegen/codegen.h"

#include <stdlib.h>
#include <string.h>

extern const sp_builtin_set sp_builtin_sets[]; /* written by the generator */
extern const int sp_builtin_set_count;

static int by_name(const void *name, const void *kernel)
{
    return strcmp(name, ((const sp_builtin *)kernel)->name);
}

sp_kernel *sp_builtin_find(const sp_spec *k)
{
    char name[SP_KERNEL_NAME];

    sp_codegen_name(name, k);
    for (int i = 0; i < sp_builtin_set_count; i++) {
        const sp_builtin_set *set = &sp_builtin_sets[i];
        const sp_builtin *found;

        if (set->isa != k->isa)
            continue;
        found = bsearch(name, set->kernel, (size_t)set->count,
                        sizeof *set->kernel, by_name);
        return found ? found->run : NULL;
    }
    return NULL;
}
