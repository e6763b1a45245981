/* models.c - where trained models lie.
 *
 * Looked for beside the code that asks: the shared library, or the program
 * that holds the static one. So what is installed can be moved, and no path
 * of where it was built stands in it. */
#define _GNU_SOURCE /* dladdr1 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#ifndef SPRY_MODELS_INSTALLED
#define SPRY_MODELS_INSTALLED ""
#endif

enum { PATH = 4096 };

/* Is there such a file? Then its path is in out. */
static int found(char *out, size_t size, const char *folder, const char *name)
{
    int n = snprintf(out, size, "%s/%s", folder, name);

    return *folder && n > 0 && (size_t)n < size && access(out, R_OK) == 0;
}

/* The file that we were loaded from; 0 when nobody knows. */
static int own_file(char out[PATH])
{
    static const char here;
    struct link_map *map = NULL;
    Dl_info info;
    ssize_t n;

    if (dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
        *map->l_name)
        return realpath(map->l_name, out) != NULL;
    n = readlink("/proc/self/exe", out, PATH - 1);
    if (n <= 0)
        return 0;
    out[n] = 0;
    return 1;
}

/* In `folder`/models when that is a package's own folder or the source tree,
 * in `folder`/share/spry/models when it is a prefix. */
static int found_near(char *out, size_t size, const char *folder, int package,
                      const char *name)
{
    char at[PATH + 32];

    snprintf(at, sizeof at, "%s/share/spry/models", folder);
    if (found(out, size, at, name))
        return 1;
    snprintf(at, sizeof at, "%s/include/spry.h", folder);
    if (!package && access(at, R_OK) != 0)
        return 0;
    snprintf(at, sizeof at, "%s/models", folder);
    return found(out, size, at, name);
}

/* From where the code lies upwards: lib/, lib/x86_64-linux-gnu/ and bin/ of a
 * prefix, build/release/tests/ of a source tree. */
static int found_beside(char *out, size_t size, const char *name)
{
    enum { LEVELS = 5 };
    char folder[PATH];

    if (!own_file(folder))
        return 0;
    for (int level = 0; level < LEVELS; level++) {
        char *slash = strrchr(folder, '/');

        if (!slash || slash == folder)
            return 0;
        *slash = 0;
        if (found_near(out, size, folder, level == 0, name))
            return 1;
    }
    return 0;
}

int sp_model_path(char *out, size_t size, const char *name)
{
    const char *named = getenv("SPRY_MODELS");
    char data[PATH - 8], own[PATH];

    if (named && *named)
        return found(out, size, named, name);
    if (sp_user_dir(data, sizeof data, "data")) {
        snprintf(own, sizeof own, "%s/models", data);
        if (found(out, size, own, name))
            return 1;
    }
    return found_beside(out, size, name) ||
           found(out, size, SPRY_MODELS_INSTALLED, name);
}
