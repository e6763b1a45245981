/* models.c - where trained models lie. */
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

#ifndef SPRY_MODELS_INSTALLED
#define SPRY_MODELS_INSTALLED ""
#endif
#ifndef SPRY_MODELS_SOURCE
#define SPRY_MODELS_SOURCE ""
#endif

/* Is there such a file? Then its path is in out. */
static int found(char *out, size_t size, const char *folder, const char *name)
{
    int n = snprintf(out, size, "%s/%s", folder, name);

    return *folder && n > 0 && (size_t)n < size && access(out, R_OK) == 0;
}

int sp_model_path(char *out, size_t size, const char *name)
{
    const char *named = getenv("SPRY_MODELS");
    char data[4096 - 8], own[4096];

    if (named && *named)
        return found(out, size, named, name);
    if (sp_user_dir(data, sizeof data, "data")) {
        snprintf(own, sizeof own, "%s/models", data);
        if (found(out, size, own, name))
            return 1;
    }
    return found(out, size, SPRY_MODELS_INSTALLED, name) ||
           found(out, size, SPRY_MODELS_SOURCE, name);
}
