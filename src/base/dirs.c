/* dirs.c - where things are kept: SPRY_HOME for all, else XDG's places. */
#include "base/base.h"
#include "base/site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "data" -> XDG_DATA_HOME/spry, else ~/.local/share/spry, and so on. */
static const struct {
    const char *kind, *variable, *below_home;
} places[] = {
    {"data", "XDG_DATA_HOME", ".local/share"},
    {"cache", "XDG_CACHE_HOME", ".cache"},
    {"config", "XDG_CONFIG_HOME", ".config"},
};

int sp_user_dir(char *out, size_t size, const char *kind)
{
    const char *root = getenv("SPRY_HOME"), *home = getenv("HOME");
    int n = 0;

    if (root && root[0]) {
        n = snprintf(out, size, "%s/%s", root, kind);
        return n > 0 && (size_t)n < size;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *xdg = getenv(places[i].variable);

        if (strcmp(places[i].kind, kind) != 0)
            continue;
        if (xdg && xdg[0] == '/')
            n = snprintf(out, size, "%s/spry", xdg);
        else if (home && home[0])
            n = snprintf(out, size, "%s/%s/spry", home, places[i].below_home);
    }
    return n > 0 && (size_t)n < size;
}

int sp_is_users_own(const char *path)
{
    char dir[4096];

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t n;

        if (!sp_user_dir(dir, sizeof dir, places[i].kind))
            continue;
        n = strlen(dir);
        if (strncmp(path, dir, n) == 0 && path[n] == '/')
            return 1;
    }
    return 0;
}

spry_status sp_need_folder(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return sp_fail_errno(SPRY_USAGE, "%s", path);
    SP_REFUSE(!S_ISDIR(st.st_mode), "%s: not a folder", path);
    return SPRY_OK;
}

spry_status sp_need_export(const char *dir, const char *name)
{
    SP_REFUSE(!sp_is_identifier(name), "\"%s\" is not a C identifier", name);
    SP_REFUSE(strlen(dir) > 4000, "the directory's name is too long");
    return sp_need_folder(dir);
}

spry_status sp_make_dirs(const char *path, unsigned mode)
{
    char part[4096];
    size_t n = strlen(path);
    int made;

    if (n == 0 || n >= sizeof part)
        return sp_fail(SPRY_SYSTEM, "%s: not a usable path", path);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != 0)
            continue;
        part[i] = 0;
        made = mkdir(part, (mode_t)mode) == 0;
        if (!made && errno != EEXIST)
            return sp_fail_errno(SPRY_SYSTEM, "cannot make directory %s", part);
        if (made && mode == 0700) /* whatever the umask took away */
            (void)chmod(part, 0700);
        part[i] = path[i];
    }
    return SPRY_OK;
}
