/* secret.c - 32 random bytes that only this user can read.
 *
 * They seal the kept kernels, and live apart from them, in the data folder,
 * so that clearing or copying the cache takes no secret along. One that
 * others could have read is replaced; what it sealed is compiled anew. */
#define _DEFAULT_SOURCE /* getentropy */
#include "jit/internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "jit.secret"

static int read_secret(uint8_t out[SP_SHA256], int dir)
{
    int fd = openat(dir, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    int ok;

    if (fd < 0)
        return 0;
    ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
         !(st.st_mode & (S_IRWXG | S_IRWXO)) && st.st_size == SP_SHA256 &&
         read(fd, out, SP_SHA256) == SP_SHA256;
    close(fd);
    return ok;
}

/* Several processes may do this at once: whoever links first has made it,
 * unless what bears the name is no good, then the last to replace it has. */
static void make_secret(int dir)
{
    char temp[48];
    uint8_t fresh[SP_SHA256], ignored[SP_SHA256];
    int fd;

    snprintf(temp, sizeof temp, NAME ".%ld.%p", (long)getpid(),
             (void *)fresh); /* one per thread: a stack address */
    fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (getentropy(fresh, sizeof fresh) == 0 && fchmod(fd, 0600) == 0 &&
        sp_bytes_write(fd, fresh, sizeof fresh) && fsync(fd) == 0 &&
        linkat(dir, temp, dir, NAME, 0) != 0 && !read_secret(ignored, dir))
        renameat(dir, temp, dir, NAME);
    close(fd);
    unlinkat(dir, temp, 0);
}

int sp_secret_get(uint8_t out[SP_SHA256], const char **why)
{
    char path[SP_PATH];
    int dir, ok;

    *why = "there is no data directory for its secret";
    if (!sp_user_dir(path, sizeof path, "data") ||
        sp_make_dirs(path, 0700) != SPRY_OK)
        return 0;
    dir = sp_private_open(path, why);
    if (dir < 0) {
        *why = "the data directory for its secret is not ours alone";
        return 0;
    }
    ok = read_secret(out, dir);
    if (!ok) {
        make_secret(dir);
        ok = read_secret(out, dir);
    }
    close(dir);
    *why = "its secret cannot be made in the data directory";
    return ok;
}
