/* bytes.c - whole files in and out through a descriptor already checked. */
#include "jit/internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int sp_bytes_read(sp_bytes *out, int fd, size_t limit)
{
    struct stat st;
    size_t have = 0;

    *out = (sp_bytes){0};
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0 ||
        (size_t)st.st_size > limit)
        return 0;
    out->data = sp_alloc_raw(st.st_size, 1);
    out->len = (size_t)st.st_size;
    while (out->data && have < out->len) {
        ssize_t n = read(fd, out->data + have, out->len - have);

        if (n > 0)
            have += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    if (out->data && have == out->len)
        return 1;
    sp_free(out->data);
    *out = (sp_bytes){0};
    return 0;
}

int sp_bytes_write(int fd, const void *data, size_t n)
{
    const char *p = data;

    while (n > 0) {
        ssize_t k = write(fd, p, n);

        if (k > 0) {
            p += k;
            n -= (size_t)k;
        } else if (k == 0 || errno != EINTR) {
            return 0;
        }
    }
    return 1;
}
