/* file.c - whole files in, whole files out.
 *
 * Reading copies instead of mapping: a file that another process cuts short
 * must be an error, not a signal. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

/* A regular file or a pipe; "-" is standard input, whatever it is. O_NONBLOCK:
 * a named pipe that nobody writes into must not keep us waiting. */
static spry_status open_input(int *fd, struct stat *st, const char *path)
{
    int standard = strcmp(path, "-") == 0;

    *fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                   : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return sp_fail_errno(SPRY_INPUT, "%s", path);
    if (fstat(*fd, st) == 0 &&
        (S_ISREG(st->st_mode) || (standard && !S_ISDIR(st->st_mode))))
        return SPRY_OK;
    if (S_ISFIFO(st->st_mode) && fcntl(*fd, F_SETFL, 0) == 0)
        return SPRY_OK; /* from here on the writer is waited for */
    close(*fd);
    return sp_fail(SPRY_INPUT, "%s: %s", path,
                   S_ISDIR(st->st_mode) ? "is a directory"
                                        : "is neither a file nor a pipe");
}

/* Read until the end; the size the system tells is only a first guess, for
 * files of /proc say 0. */
static spry_status read_all(sp_file *out, int fd, size_t guess, size_t limit,
                            const char *path)
{
    size_t cap = guess + 1;

    out->data = sp_alloc_raw((int64_t)cap + 1, 1);
    if (!out->data)
        return sp_fail_memory(cap);
    for (;;) {
        ssize_t n = read(fd, out->data + out->len, cap - out->len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return sp_fail_errno(SPRY_INPUT, "%s", path);
        out->len += (size_t)n;
        if (n == 0)
            break;
        if (out->len > limit)
            return sp_fail(SPRY_INPUT, "%s: is larger than %zu bytes", path,
                           limit);
        if (out->len == cap) {
            char *more =
                sp_grow(out->data, (int64_t)cap, (int64_t)cap * 2 + 1, 1);

            if (!more)
                return sp_fail_memory(cap * 2);
            out->data = more;
            cap *= 2;
        }
    }
    out->data[out->len] = 0;
    return SPRY_OK;
}

/* Replace gzip by what it holds. */
static spry_status unpack_file(sp_file *f, size_t limit, const char *path)
{
    sp_file packed = *f;
    size_t most = sp_unpack_limit(packed.len);
    spry_status s = sp_unpack(f, packed.data, packed.len, SP_GZIP,
                              limit < most ? limit : most);

    sp_file_free(&packed);
    return sp_fail_in(s, path);
}

spry_status sp_file_read(sp_file *out, const char *path, size_t limit)
{
    struct stat st = {0};
    spry_status s;
    int fd;

    *out = (sp_file){0};
    s = open_input(&fd, &st, path);
    if (s != SPRY_OK)
        return s;
    if ((size_t)st.st_size > limit)
        s = sp_fail(SPRY_INPUT, "%s: is larger than %zu bytes", path, limit);
    else
        s = read_all(out, fd, (size_t)st.st_size, limit, path);
    close(fd);
    if (s == SPRY_OK && out->len == 0 && S_ISFIFO(st.st_mode))
        s = sp_fail(SPRY_INPUT, "%s: nothing came through the pipe", path);
    if (s == SPRY_OK && out->len >= 2 && !memcmp(out->data, "\x1f\x8b", 2))
        s = unpack_file(out, limit, path);
    if (s != SPRY_OK)
        sp_file_free(out);
    return s;
}

void sp_file_free(sp_file *f)
{
    sp_free(f->data);
    *f = (sp_file){0};
}

/* ---- writing ---- */

spry_status sp_file_write(const char *path, const void *data, size_t n)
{
    sp_writer w;
    spry_status s = sp_writer_open(&w, path);

    if (s != SPRY_OK)
        return s;
    if (n)
        fwrite(data, 1, n, w.f); /* ferror tells on closing */
    return sp_writer_close(&w, 1);
}
