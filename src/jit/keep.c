/* keep.c - the folder of kept kernels to a list, and to a smaller folder. */
#include "spry/jit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jit/internal.h"

enum { LEFTOVER_SECONDS = 3600 }; /* no compile lasts that long */

typedef struct {
    spry_jit_entries public; /* first: handed out as a pointer to it */
    spry_jit_entry *entry;
    int64_t cap;
} entries;

/* A kept kernel's name is its key; anything else is not a kernel. */
static int parse_key(uint8_t key[SP_SHA256], const char *name)
{
    static const char digit[] = "0123456789abcdef";

    if (strlen(name) != SP_KEY_HEX - 1)
        return 0;
    for (int i = 0; i < SP_KEY_HEX - 1; i++) {
        const char *d = strchr(digit, name[i]);

        if (!d)
            return 0;
        key[i / 2] = (uint8_t)((i % 2 ? key[i / 2] << 4 : 0) | (d - digit));
    }
    return 1;
}

/* The folder, read through a descriptor of its own. */
static DIR *open_folder(const sp_cache *c)
{
    int fd = openat(c->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    if (!d && fd >= 0)
        close(fd);
    return d;
}

static const char *flaw_of(const sp_cache *c, const uint8_t key[SP_SHA256])
{
    sp_bytes object;
    const char *flaw = sp_cache_get(&object, c, key);

    sp_free(object.data);
    return flaw;
}

static spry_status append(entries *all, const char *name, const struct stat *st,
                          const char *flaw)
{
    spry_jit_entry *e = all->entry;

    if (all->public.count == all->cap) {
        e = sp_grow(e, all->cap, all->cap * 2 + 16, sizeof *e);
        if (!e)
            return sp_fail_memory((size_t)all->cap * 2 * sizeof *e);
        all->entry = e;
        all->cap = all->cap * 2 + 16;
    }
    e += all->public.count++;
    *e = (spry_jit_entry){
        .bytes = st->st_size, .used = st->st_mtim.tv_sec, .flaw = flaw};
    memcpy(e->key, name, sizeof e->key);
    all->public.bytes += e->bytes;
    all->public.flawed += flaw != NULL;
    return SPRY_OK;
}

static int last_used_first(const void *a, const void *b)
{
    const spry_jit_entry *x = a, *y = b;

    if (x->used != y->used)
        return x->used < y->used ? 1 : -1;
    return strcmp(x->key, y->key);
}

/* A file that goes while we look is simply not listed. */
static spry_status read_folder(entries *all, const sp_cache *c, int verify)
{
    DIR *d = open_folder(c);
    spry_status s = SPRY_OK;
    const struct dirent *e;

    if (!d)
        return sp_fail_errno(SPRY_SYSTEM, "cannot list %s", c->path);
    while (s == SPRY_OK && (e = readdir(d))) {
        uint8_t key[SP_SHA256];
        struct stat st;

        if (parse_key(key, e->d_name) &&
            fstatat(c->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            s = append(all, e->d_name, &st, verify ? flaw_of(c, key) : NULL);
    }
    closedir(d);
    if (all->public.count)
        qsort(all->entry, (size_t)all->public.count, sizeof *all->entry,
              last_used_first);
    all->public.entry = all->entry;
    return s;
}

static spry_status open_cache(sp_cache *c, int only_read)
{
    sp_cache_open(c, only_read);
    return c->fd >= 0 ? SPRY_OK : sp_fail(SPRY_SYSTEM, "%s", c->note);
}

static spry_status list(spry_jit_entries **out, const sp_cache *c, int verify)
{
    entries *all = sp_alloc(1, sizeof *all);
    spry_status s;

    *out = NULL;
    if (!all)
        return sp_fail_memory(sizeof *all);
    s = read_folder(all, c, verify);
    if (s == SPRY_OK)
        *out = &all->public;
    else
        spry_jit_entries_free(&all->public);
    return s;
}

static spry_status open_and_list(spry_jit_entries **out, int verify)
{
    sp_cache c;
    spry_status s;

    *out = NULL;
    s = open_cache(&c, 1);
    if (s == SPRY_OK)
        s = list(out, &c, verify);
    sp_cache_close(&c);
    return s;
}

spry_status spry_jit_list(spry_jit_entries **out)
{
    SP_NEED_NEW(out);
    return open_and_list(out, 0);
}

spry_status spry_jit_verify(spry_jit_entries **out)
{
    SP_NEED_NEW(out);
    return open_and_list(out, 1);
}

void spry_jit_entries_free(spry_jit_entries *e)
{
    entries *all = (entries *)e;

    if (!all)
        return;
    sp_free(all->entry);
    sp_free(all);
}

/* Remove by name in the folder; a directory goes with the files in it. */
static void remove_name(const sp_cache *c, const char *name)
{
    char path[2 * SP_PATH];

    if (unlinkat(c->fd, name, 0) == 0)
        return;
    snprintf(path, sizeof path, "%s/%s", c->path, name);
    sp_place_remove(path);
}

/* The build directories of processes that did not live to remove them. */
static void remove_leftovers(const sp_cache *c)
{
    DIR *d = open_folder(c);
    const struct dirent *e;
    struct stat st;

    while (d && (e = readdir(d)))
        if (strncmp(e->d_name, "spry.", 5) == 0 &&
            fstatat(c->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_mtim.tv_sec < time(NULL) - LEFTOVER_SECONDS)
            remove_name(c, e->d_name);
    if (d)
        closedir(d);
}

/* Keep good kernels, last used first, while they fit into keep_bytes. */
static spry_status shrink(spry_jit_removed *out, int64_t keep_bytes)
{
    spry_jit_entries *all = NULL;
    int64_t kept = 0;
    sp_cache c;
    spry_status s = open_cache(&c, 0);

    *out = (spry_jit_removed){0};
    if (s == SPRY_OK)
        s = list(&all, &c, keep_bytes > 0);
    for (int64_t i = 0; s == SPRY_OK && i < all->count; i++) {
        const spry_jit_entry *e = &all->entry[i];

        if (keep_bytes > 0 && !e->flaw && kept + e->bytes <= keep_bytes) {
            kept += e->bytes;
            continue;
        }
        remove_name(&c, e->key);
        out->count++;
        out->bytes += e->bytes;
    }
    if (s == SPRY_OK)
        remove_leftovers(&c);
    spry_jit_entries_free(all);
    sp_cache_close(&c);
    return s;
}

spry_status spry_jit_gc(spry_jit_removed *out, int64_t keep_bytes)
{
    spry_jit_removed whole;
    spry_status s;

    if (keep_bytes < 0)
        return sp_fail(SPRY_USAGE, "cannot keep %lld bytes",
                       (long long)keep_bytes);
    if (out)
        SP_ROOM(out);
    s = shrink(&whole, keep_bytes);
    if (out)
        SP_GIVE(out, &whole);
    return s;
}

spry_status spry_jit_clear(spry_jit_removed *out)
{
    return spry_jit_gc(out, 0);
}

spry_status spry_jit_path(char *out, size_t size)
{
    SP_NEED(out);

    char parent[SP_PATH];
    int n = -1;

    if (sp_user_dir(parent, sizeof parent, "cache"))
        n = snprintf(out, size, "%s/k", parent);
    if (n > 0 && (size_t)n < size)
        return SPRY_OK;
    if (size)
        out[0] = 0;
    return sp_fail(SPRY_SYSTEM, "neither SPRY_HOME nor HOME is set");
}
