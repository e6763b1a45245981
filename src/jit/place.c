/* place.c - paths to directories that nobody else can write to. */
#define _DEFAULT_SOURCE /* mkdtemp, realpath */
#include "jit/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int sp_place_open(const char *path, const char **why)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0) {
        *why = errno == ELOOP || errno == ENOTDIR ? "is not a real directory"
                                                  : "cannot be opened";
        return -1;
    }
    if (fstat(fd, &st) != 0)
        *why = "cannot be examined";
    else if (st.st_uid != geteuid())
        *why = "belongs to someone else";
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        *why = "can be written by others";
    else
        return fd;
    close(fd);
    return -1;
}

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
