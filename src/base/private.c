/* private.c - folders and files of the user's that nobody else can write to. */
#include "base/private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int sp_private_open(const char *path, const char **why)
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

const char *sp_private_flaw(int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return "not a regular file";
    if (st.st_uid != geteuid())
        return "belongs to someone else";
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return "can be written by others";
    if (st.st_nlink != 1)
        return "has a second name";
    return NULL;
}
