/* map.c - verified bytes to running code.
 *
 * The bytes go into a sealed memory file, so nobody can change them between
 * check and load, and no directory has to allow execution. dlopen believes
 * that two equal paths are one library; the descriptor stays open while the
 * code is loaded so that /proc/self/fd/N cannot come to mean another one, and
 * the key that the object carries is asked for in any case. Where memory
 * files may not be executed, a file in a private directory serves. */
#define _GNU_SOURCE /* memfd_create */
#include "jit/internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U /* Linux 6.3: where unset may come to mean noexec */
#endif

/* dlopen, and hand back only the object that carries this key. */
static void *load(const char *path, const char *key_hex)
{
    const char *carried;
    void *handle;

    sp_jit_lock();
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    carried = handle ? dlsym(handle, SP_JIT_KEY_SYMBOL) : NULL;
    if (handle && (!carried || strcmp(carried, key_hex) != 0)) {
        dlclose(handle);
        handle = NULL;
    }
    sp_jit_unlock();
    return handle;
}

static int sealed_memory(const sp_bytes *object)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int fd = memfd_create("spry-kernel", flags | MFD_EXEC);

    if (fd < 0)
        fd = memfd_create("spry-kernel", flags);
    if (fd < 0)
        return -1;
    if (sp_bytes_write(fd, object->data, object->len) &&
        fcntl(fd, F_ADD_SEALS,
              F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
        return fd;
    close(fd);
    return -1;
}

static void *load_from_memory(int *fd, const sp_bytes *object,
                              const char *key_hex)
{
    char path[32];
    void *handle = NULL;

    *fd = sealed_memory(object);
    if (*fd < 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    handle = load(path, key_hex);
    if (!handle) {
        close(*fd);
        *fd = -1;
    }
    return handle;
}

/* The file is gone once it is loaded; its pages stay. */
static void *load_from_directory(const sp_bytes *object, const char *key_hex,
                                 const char *dir)
{
    char path[SP_PATH + 16];
    void *handle = NULL;
    int fd;

    snprintf(path, sizeof path, "%s/kernel.so", dir);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd >= 0) {
        int ok = sp_bytes_write(fd, object->data, object->len);

        if (close(fd) == 0 && ok)
            handle = load(path, key_hex);
    }
    sp_place_remove(dir);
    return handle;
}

spry_status sp_map(sp_mapped *out, const sp_bytes *object, const char *key_hex,
                   const char *first)
{
    char dir[SP_PATH];
    const char *why;
    int at = 0;

    out->handle = load_from_memory(&out->fd, object, key_hex);
    while (!out->handle && sp_place_temp(dir, first, &at))
        out->handle = load_from_directory(object, key_hex, dir);
    if (out->handle)
        return SPRY_OK;
    why = dlerror();
    return sp_fail(SPRY_SYSTEM, "cannot load a compiled kernel: %s",
                   why ? why : "no memory file and no directory to load from");
}

void sp_unmap(sp_mapped *m)
{
    sp_jit_lock();
    if (m->handle)
        dlclose(m->handle);
    sp_jit_unlock();
    if (m->fd >= 0)
        close(m->fd);
    *m = (sp_mapped){NULL, -1};
}
