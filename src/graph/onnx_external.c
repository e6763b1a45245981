/* onnx_external.c - tensors whose bytes lie in a file beside the model.
 *
 * A model comes from anywhere, and it names the file. So the name is resolved
 * beneath the model's folder only, through no link of any kind, and what is
 * found must be a regular file of one name. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "graph/onnx.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#if defined(SYS_openat2)
/* As the kernel has them; its header is not everywhere. */
typedef struct {
    uint64_t flags, mode, resolve;
} open_how;
enum { NO_MAGICLINKS = 0x02, NO_SYMLINKS = 0x04, BENEATH = 0x08 };
#endif

static spry_status refuse(const char *name, const char *why)
{
    return sp_fail(SPRY_INPUT, "external data '%s': %s", name, why);
}

spry_status sp_external_key(sp_external *e, const char *key, const char *value)
{
    const char *at = value, *end = value + strlen(value);
    int64_t number = -1;

    if (strcmp(key, "location") == 0) {
        if (e->location)
            return refuse(value, "the location is given twice");
        e->location = value;
        return SPRY_OK;
    }
    if (strcmp(key, "checksum") == 0)
        return SPRY_OK;
    if (strcmp(key, "offset") != 0 && strcmp(key, "length") != 0)
        return refuse(key, "a key that is not known");
    if (!sp_scan_int(&at, end, &number) || at != end || number < 0)
        return refuse(value, "not a count of bytes");
    *(key[0] == 'o' ? &e->offset : &e->length) = number;
    return SPRY_OK;
}

/* Component by component, no links, for kernels without openat2. */
static int open_steps(int folder, const char *path)
{
    char part[256];
    int fd = dup(folder);

    while (fd >= 0) {
        size_t n = strcspn(path, "/");
        int last = path[n] == 0, next;

        if (n == 0 || n >= sizeof part || (n == 1 && path[0] == '.') ||
            (n == 2 && path[0] == '.' && path[1] == '.')) {
            close(fd);
            errno = EINVAL;
            return -1;
        }
        memcpy(part, path, n);
        part[n] = 0;
        next = openat(fd, part,
                      O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
                          (last ? 0 : O_DIRECTORY));
        close(fd);
        if (last)
            return next;
        fd = next;
        path += n + 1;
    }
    return fd;
}

static int open_beneath(int folder, const char *path)
{
#if defined(SYS_openat2)
    open_how how = {O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0,
                    BENEATH | NO_SYMLINKS | NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, folder, path, &how, sizeof how);

    if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL))
        return (int)fd;
#endif
    return open_steps(folder, path);
}

static spry_status check_name(const sp_external *e)
{
    const char *name = e->location;

    if (!name || !*name)
        return sp_fail(SPRY_INPUT, "external data without a location");
    if (name[0] == '/')
        return refuse(name, "it must lie beside the model");
    for (const char *at = name; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == 0 || at[2] == '/'))
            return refuse(name, "it must lie beside the model");
    }
    return SPRY_OK;
}

static spry_status check_file(int fd, int64_t bytes, const sp_external *e)
{
    struct stat st;
    int64_t end;

    if (fstat(fd, &st) != 0)
        return sp_fail_errno(SPRY_INPUT, "external data '%s'", e->location);
    if (!S_ISREG(st.st_mode))
        return refuse(e->location, "it is not a regular file");
    if (st.st_nlink != 1)
        return refuse(e->location, "the file has several names");
    if (e->length >= 0 && e->length != bytes)
        return refuse(e->location, "its length is not that of the tensor");
    if (__builtin_add_overflow(e->offset, bytes, &end) || end > st.st_size)
        return refuse(e->location, "the file is too short");
    return SPRY_OK;
}

static spry_status read_all(char *to, int64_t bytes, int fd,
                            const sp_external *e)
{
    for (int64_t at = 0; at < bytes;) {
        ssize_t n =
            pread(fd, to + at, (size_t)(bytes - at), (off_t)(e->offset + at));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return refuse(e->location, "it cannot be read to its end");
        at += n;
    }
    return SPRY_OK;
}

spry_status sp_external_read(void *to, int64_t bytes, const sp_external *e,
                             int folder)
{
    spry_status s = check_name(e);
    int fd;

    if (s != SPRY_OK)
        return s;
    if (folder < 0)
        return refuse(e->location, "the model lies in no folder");
    fd = open_beneath(folder, e->location);
    if (fd < 0)
        return sp_fail_errno(SPRY_INPUT, "external data '%s' beside the model",
                             e->location);
    s = check_file(fd, bytes, e);
    if (s == SPRY_OK && to)
        s = read_all(to, bytes, fd, e);
    close(fd);
    return s;
}
