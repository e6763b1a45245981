/* writer.c - files that appear when they are whole, and not before.
 *
 * What is written has no name until it is whole and safe on the disk, so that
 * a program that is killed leaves nothing behind. Where the file system knows
 * no such files, it is a temporary beside the target, renamed in the end. */
#define _GNU_SOURCE /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/site.h"

/* In place of the name of a temporary: it has none. */
#define UNNAMED "\n"

static int is_unnamed(const sp_writer *w)
{
    return strcmp(w->temp, UNNAMED) == 0;
}

/* ---- opening ---- */

/* Pipes and devices cannot be replaced, and links must not be: renaming over
 * /dev/stdout would take it away from everyone. */
static int is_special(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Opened by a name such as /dev/stdout it would be cut to nothing, or be one
 * of our own files where the shell closed it. */
static int is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

static void name_temporary(sp_writer *w)
{
    static atomic_uint count;

    snprintf(w->temp, sizeof w->temp, "%s.%lx.%x", w->path,
             (unsigned long)getpid(), atomic_fetch_add(&count, 1));
}

/* The folder of path, opened as `flags` say; -1 when it cannot be. */
static int open_folder(const char *path, int flags, mode_t mode)
{
    char copy[sizeof((sp_writer *)0)->path];

    strcpy(copy, path);
    return open(dirname(copy), flags | O_CLOEXEC, mode);
}

/* In the folder of path, without a name; -1 where that is not possible. */
static int open_unnamed(const char *path, mode_t mode)
{
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0)
        return open_folder(path, O_TMPFILE | O_WRONLY, mode);
#endif
    (void)path;
    (void)mode;
    return -1;
}

/* A fresh file beside path, with the permissions the user's umask gives; one
 * of the user's own folders is nobody else's business. */
static int open_temporary(sp_writer *w)
{
    mode_t mode = sp_is_users_own(w->path) ? 0600 : 0666;
    int fd = open_unnamed(w->path, mode);

    if (fd >= 0)
        strcpy(w->temp, UNNAMED);
    for (int tries = 0; fd < 0 && tries < 100; tries++) {
        name_temporary(w);
        fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    if (fd >= 0 && mode == 0600)
        (void)fchmod(fd, mode);
    return fd;
}

spry_status sp_writer_open(sp_writer *w, const char *path)
{
    int fd;

    *w = (sp_writer){0};
    if (strlen(path) >= sizeof w->path)
        return sp_fail(SPRY_SYSTEM, "%.64s...: the name is too long", path);
    strcpy(w->path, path);
    fd = is_standard(path) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
         : is_special(path)
             ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
             : open_temporary(w);
    w->f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (w->f)
        return SPRY_OK;
    if (fd >= 0)
        close(fd);
    return sp_fail_errno(SPRY_SYSTEM, "%s: cannot be written", path);
}

/* A device or what a link leads to, whose bytes stay; a pipe would take being
 * opened and closed for all that comes. Writing nothing may fail, too. */
static int try_special(const char *path)
{
    struct stat st;
    int fd, good;

    if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
        return 1;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    good = fd >= 0 && write(fd, "", 0) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

spry_status sp_writer_try(const char *path)
{
    sp_writer w;
    spry_status s;

    if (is_standard(path))
        return SPRY_OK;
    if (is_special(path))
        return try_special(path)
                   ? SPRY_OK
                   : sp_fail_errno(SPRY_SYSTEM, "%s: cannot be written", path);
    s = sp_writer_open(&w, path);
    return s == SPRY_OK ? sp_writer_close(&w, 0) : s;
}

/* ---- closing ---- */

/* The rename itself must survive a power cut; a file system that cannot
 * sync a directory is no reason to fail. */
static void sync_directory(const char *path)
{
    int fd = open_folder(path, O_RDONLY | O_DIRECTORY, 0);

    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* What has no name cannot be renamed: it gets one first. */
static int give_name(sp_writer *w)
{
    char fd[40];

    snprintf(fd, sizeof fd, "/proc/self/fd/%d", fileno(w->f));
    for (int tries = 0; tries < 100; tries++) {
        name_temporary(w);
        if (linkat(AT_FDCWD, fd, AT_FDCWD, w->temp, AT_SYMLINK_FOLLOW) == 0)
            return 1;
        if (errno != EEXIST)
            break;
    }
    strcpy(w->temp, UNNAMED);
    return 0;
}

/* Under its name, in one moment that no signal ends. 0 and errno on failure. */
static int publish(sp_writer *w)
{
    sigset_t all, before;
    int good, why;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    good = (!is_unnamed(w) || give_name(w)) && !rename(w->temp, w->path);
    why = errno;
    if (!good && !is_unnamed(w))
        unlink(w->temp);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return good;
}

/* Flush to the disk, publish and close; 0 and errno when something was
 * lost. */
static int finish(sp_writer *w, int keep)
{
    int good = !ferror(w->f) && !fflush(w->f), why;

    if (good && keep && *w->temp)
        good = !fsync(fileno(w->f)) && publish(w);
    else if (*w->temp && !is_unnamed(w))
        unlink(w->temp);
    why = errno;
    if (fclose(w->f) && good) {
        good = 0;
        why = errno;
    }
    w->f = NULL;
    errno = why;
    return good;
}

spry_status sp_writer_close(sp_writer *w, int keep)
{
    int good;

    if (!w->f)
        return SPRY_OK;
    good = finish(w, keep);
    if (!good && keep)
        return sp_fail_errno(SPRY_SYSTEM, "%s: cannot be written", w->path);
    if (good && keep && *w->temp)
        sync_directory(w->path);
    return SPRY_OK;
}
