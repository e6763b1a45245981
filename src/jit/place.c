/* place.c - fresh directories that nobody else can write to. */
#define _DEFAULT_SOURCE /* mkdtemp, realpath */
#include "jit/internal.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A fresh directory in `parent`, by its true name: compilers are handed it
 * as an argument, and a relative one could look like an option. */
static int make_in(char *path, const char *parent)
{
    char made[SP_PATH], real[PATH_MAX];

    if (!parent || !parent[0] ||
        snprintf(made, sizeof made, "%s/spry.XXXXXX", parent) >= SP_PATH ||
        !mkdtemp(made))
        return 0;
    if (realpath(made, real) && strlen(real) < SP_PATH - 32) {
        memcpy(path, real, strlen(real) + 1);
        return 1;
    }
    rmdir(made);
    return 0;
}

int sp_place_temp(char *path, const char *first, int *at)
{
    const char *parent[] = {first, "/dev/shm", getenv("TMPDIR"), "/tmp"};
    const int count = sizeof parent / sizeof parent[0];

    while (*at < count)
        if (make_in(path, parent[(*at)++]))
            return 1;
    return 0;
}

void sp_place_remove(const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *e;

    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(path);
}
