/* cache.c - compiled objects to files that prove they are ours, and back.
 *
 *     magic 16 | key 32 | length 8, little endian | object | HMAC 32
 *
 * The file is named by its key; the HMAC, with the user's secret, covers all
 * before it. Writers build beside it and rename, so readers never lock and
 * never see half a file. What was read is what is checked is what is loaded:
 * a file swapped after the check changes nothing. */
#define _DEFAULT_SOURCE /* flock */
#include "jit/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAGIC = 16, HEAD = MAGIC + SP_SHA256 + 8, FILE_MAX = 65 << 20 };

static const char magic[MAGIC] = "spry kernel 1\n";

static void use_nothing(sp_cache *c, const char *what, const char *why)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    snprintf(c->note, sizeof c->note,
             "compiled kernels are not kept on disk: %s%s%s (set SPRY_HOME to "
             "a directory of yours)",
             what, what[0] ? " " : "", why);
}

void sp_cache_open(sp_cache *c, int only_read)
{
    char parent[SP_PATH - 8];
    const char *why = "";

    memset(c, 0, sizeof *c);
    c->fd = -1;
    if (!sp_user_dir(parent, sizeof parent, "cache")) {
        use_nothing(c, "", "neither SPRY_HOME nor HOME is set");
        return;
    }
    snprintf(c->path, sizeof c->path, "%s/k", parent);
    if (sp_make_dirs(c->path, 0700) != SPRY_OK) {
        use_nothing(c, "", spry_message());
        return;
    }
    c->fd = sp_private_open(c->path, &why);
    if (c->fd < 0)
        use_nothing(c, c->path, why);
    else if (!only_read && faccessat(c->fd, ".", W_OK, AT_EACCESS) != 0)
        use_nothing(c, c->path, "cannot be written");
    else if (!sp_secret_get(c->secret, &why))
        use_nothing(c, "", why);
}

void sp_cache_close(sp_cache *c)
{
    if (c->fd >= 0)
        close(c->fd);
    memset(c->secret, 0, sizeof c->secret);
    c->fd = -1;
}

static void put_length(uint8_t out[8], uint64_t n)
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(n >> 8 * i);
}

/* Equal, in a time that tells nothing about where they differ. */
static int same(const uint8_t *a, const uint8_t *b, size_t n)
{
    uint8_t differ = 0;

    for (size_t i = 0; i < n; i++)
        differ |= a[i] ^ b[i];
    return !differ;
}

static const char *flaw_inside(const sp_bytes *file, const sp_cache *c,
                               const uint8_t key[SP_SHA256])
{
    uint8_t length[8], mac[SP_SHA256];
    size_t body = file->len - SP_SHA256;

    if (file->len < HEAD + SP_SHA256)
        return "too short";
    if (!same(file->data, (const uint8_t *)magic, MAGIC))
        return "not a kept kernel";
    if (!same(file->data + MAGIC, key, SP_SHA256))
        return "sealed for another key";
    put_length(length, body - HEAD);
    if (!same(file->data + MAGIC + SP_SHA256, length, sizeof length))
        return "cut off or grown";
    sp_hmac_sha256(mac, c->secret, SP_SHA256, file->data, body);
    return same(file->data + body, mac, SP_SHA256) ? NULL : "seal broken";
}

const char *sp_cache_get(sp_bytes *out, const sp_cache *c,
                         const uint8_t key[SP_SHA256])
{
    char name[SP_KEY_HEX];
    const char *flaw;
    int fd;

    *out = (sp_bytes){0};
    sp_hex(name, key, SP_SHA256);
    fd = openat(c->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? "absent" : "not a file we can open";
    flaw = sp_private_flaw(fd);
    if (!flaw && !sp_bytes_read(out, fd, FILE_MAX))
        flaw = "cannot be read";
    if (!flaw)
        flaw = flaw_inside(out, c, key);
    close(fd);
    if (flaw) {
        sp_free(out->data);
        *out = (sp_bytes){0};
        return flaw;
    }
    out->len -= HEAD + SP_SHA256;
    memmove(out->data, out->data + HEAD, out->len);
    return NULL;
}

void sp_cache_touch(const sp_cache *c, const uint8_t key[SP_SHA256])
{
    char name[SP_KEY_HEX];

    sp_hex(name, key, SP_SHA256);
    utimensat(c->fd, name, NULL, AT_SYMLINK_NOFOLLOW); /* a wish */
}

/* The sealed file, whole. */
static sp_bytes seal(const sp_cache *c, const uint8_t key[SP_SHA256],
                     const sp_bytes *object)
{
    size_t body = HEAD + object->len;
    sp_bytes file = {sp_alloc_raw((int64_t)(body + SP_SHA256), 1),
                     body + SP_SHA256};

    if (!file.data)
        return file;
    memcpy(file.data, magic, MAGIC);
    memcpy(file.data + MAGIC, key, SP_SHA256);
    put_length(file.data + MAGIC + SP_SHA256, object->len);
    memcpy(file.data + HEAD, object->data, object->len);
    sp_hmac_sha256(file.data + body, c->secret, SP_SHA256, file.data, body);
    return file;
}

void sp_cache_put(const sp_cache *c, const uint8_t key[SP_SHA256],
                  const sp_bytes *object)
{
    char dir[SP_PATH], temp[SP_PATH + 16], name[SP_KEY_HEX];
    sp_bytes file = seal(c, key, object);
    int fd, ok;

    if (!file.data)
        return;
    sp_hex(name, key, SP_SHA256);
    if (sp_place_temp(dir, c->path, &(int){0})) {
        snprintf(temp, sizeof temp, "%s/sealed", dir);
        fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ok = fd >= 0 && fchmod(fd, 0600) == 0 &&
             sp_bytes_write(fd, file.data, file.len) && fsync(fd) == 0;
        if (fd >= 0 && close(fd) == 0 && ok)
            renameat(AT_FDCWD, temp, c->fd, name);
        sp_place_remove(dir);
    }
    sp_free(file.data);
}

/* 256 lock files, one per first byte of a key: two kernels that share one
 * wait for each other now and then, and no file must ever be removed. */
int sp_cache_lock(const sp_cache *c, const uint8_t key[SP_SHA256],
                  double seconds)
{
    double deadline = sp_seconds() + seconds;
    char name[16];
    int fd;

    snprintf(name, sizeof name, "lock.%02x", key[0]);
    fd = openat(c->fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)fchmod(fd, 0600); /* whatever the umask took away */
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || sp_seconds() > deadline) {
            close(fd); /* no locks here, or its holder hangs */
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return fd;
}

/* A child forked meanwhile has the descriptor too, so closing ours would not
 * be enough. */
void sp_cache_unlock(int lock)
{
    if (lock < 0)
        return;
    (void)flock(lock, LOCK_UN);
    close(lock);
}
