/* files.h - a folder of the target's own, where memory is the disk, if there
 * is such a place, and files in it that hold one input after the other. */
#ifndef SPRY_FUZZ_FILES_H
#define SPRY_FUZZ_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fuzz_dir[256];

/* Remove all that lies in the folder, which is closed. */
static inline void fuzz_empty(int folder)
{
    DIR *d = folder < 0 ? NULL : fdopendir(folder);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        const char *name = e->d_name;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            unlinkat(dirfd(d), name, 0) == 0)
            continue;
        fuzz_empty(openat(dirfd(d), name, O_RDONLY | O_DIRECTORY));
        unlinkat(dirfd(d), name, AT_REMOVEDIR);
    }
    if (d)
        closedir(d);
}

static inline void fuzz_remove_dir(void)
{
    fuzz_empty(open(fuzz_dir, O_RDONLY | O_DIRECTORY));
    rmdir(fuzz_dir);
}

static inline void fuzz_need(int good, const char *what)
{
    if (good)
        return;
    perror(what); /* nothing would be tested: that is a failure */
    abort();
}

static inline const char *fuzz_folder(void)
{
    const char *tmp = getenv("TMPDIR");

    if (*fuzz_dir)
        return fuzz_dir;
    snprintf(fuzz_dir, sizeof fuzz_dir, "%.200s/spry-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm"
             : tmp && *tmp                 ? tmp
                                           : "/tmp");
    fuzz_need(mkdtemp(fuzz_dir) != NULL, fuzz_dir);
    atexit(fuzz_remove_dir);
    return fuzz_dir;
}

/* A folder in it. */
static inline void fuzz_make(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%.200s", fuzz_folder(), name);
    fuzz_need(mkdir(path, 0700) == 0, path);
}

/* A file that stays open: to make one anew for every input takes longer than
 * to read it. */
typedef struct {
    char path[512];
    int fd;
} fuzz_file;

static inline const char *fuzz_put(fuzz_file *f, const char *name,
                                   const uint8_t *data, size_t size)
{
    if (!*f->path) {
        snprintf(f->path, sizeof f->path, "%s/%.200s", fuzz_folder(), name);
        f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    fuzz_need(f->fd >= 0 && ftruncate(f->fd, (off_t)size) == 0 &&
                  pwrite(f->fd, data, size, 0) == (ssize_t)size,
              f->path);
    return f->path;
}

#endif
