/* load.c - C text to a loaded code object: the whole way, in order.
 *
 * Already in this process, else kept on disk, else compiled now. */
#include "jit/jit.h"

#include <dlfcn.h>
#include <string.h>

#include "jit/internal.h"

/* What a kernel and its caller agree on beyond the text: raise it when that
 * changes, and nothing kept before is found again. */
#define ABI_VERSION "1"

struct sp_jit_code {
    char key[SP_KEY_HEX];
    sp_mapped mapped;
    int users;
    sp_jit_code *next;
};

/* All that is loaded; the room's lock guards the list and the counts. */
static sp_jit_code *loaded;

/* Length first, so that no two lists of fields read alike. */
static void add_field(sp_buf *b, const char *text)
{
    sp_buf_printf(b, "%zu:", strlen(text));
    sp_buf_add(b, text);
}

static void add_fields(sp_buf *b, const char *const text[])
{
    for (; text && *text; text++)
        add_field(b, *text);
    sp_buf_add(b, ";");
}

/* SHA-256 of everything that decides what the object does. */
static spry_status make_key(uint8_t key[SP_SHA256], const sp_compiler *cc,
                            const char *source, const char *const flags[],
                            const char *cpu_key)
{
    const char *const single[] = {ABI_VERSION, cc->identity,
                                  cc->version, cpu_key ? cpu_key : "",
                                  source,      NULL};
    sp_buf b = {0};

    add_fields(&b, single);
    add_fields(&b, sp_compile_flags);
    add_fields(&b, flags);
    if (b.failed) {
        sp_buf_free(&b);
        return sp_fail_memory(strlen(source));
    }
    sp_sha256(key, b.data, b.len);
    sp_buf_free(&b);
    return SPRY_OK;
}

/* One more user of the code loaded under this key, or NULL. */
static sp_jit_code *share_locked(const char *key_hex)
{
    sp_jit_code *c = loaded;

    while (c && strcmp(c->key, key_hex) != 0)
        c = c->next;
    if (c)
        c->users++;
    return c;
}

static sp_jit_code *share(const char *key_hex)
{
    sp_jit_code *c;

    sp_jit_lock();
    c = share_locked(key_hex);
    sp_jit_unlock();
    return c;
}

/* The object's bytes, from disk or from the compiler. Of several processes
 * that miss at once one compiles; the others wait and then find it kept. */
static spry_status obtain(sp_bytes *out, const sp_cache *cache,
                          const sp_compiler *cc, const uint8_t *key,
                          const char *source, const char *const flags[])
{
    char key_hex[SP_KEY_HEX];
    spry_status s;
    int lock;

    sp_hex(key_hex, key, SP_SHA256);
    if (cache->fd < 0)
        return sp_compile(out, cc, source, flags, key_hex, NULL);
    if (!sp_cache_get(out, cache, key)) {
        sp_cache_touch(cache, key);
        return SPRY_OK;
    }
    lock = sp_cache_lock(cache, key, sp_compile_limit());
    if (!sp_cache_get(out, cache, key)) {
        sp_cache_unlock(lock);
        return SPRY_OK;
    }
    s = sp_compile(out, cc, source, flags, key_hex, cache->path);
    if (s == SPRY_OK)
        sp_cache_put(cache, key, out);
    sp_cache_unlock(lock);
    return s;
}

/* Map and enter into the list; another thread may have been faster, then
 * its code is shared and ours let go. */
static spry_status enter(sp_jit_code **out, const sp_bytes *object,
                         const char *key_hex, const char *first)
{
    sp_jit_code *mine = sp_alloc(1, sizeof *mine), *theirs;
    spry_status s;

    if (!mine)
        return sp_fail_memory(sizeof *mine);
    memcpy(mine->key, key_hex, SP_KEY_HEX);
    mine->users = 1;
    s = sp_map(&mine->mapped, object, key_hex, first);
    if (s != SPRY_OK) {
        sp_free(mine);
        return s;
    }
    sp_jit_lock();
    theirs = share_locked(key_hex);
    if (!theirs) {
        mine->next = loaded;
        loaded = mine;
    }
    sp_jit_unlock();
    if (theirs) {
        sp_unmap(&mine->mapped);
        sp_free(mine);
    }
    *out = theirs ? theirs : mine;
    return SPRY_OK;
}

spry_status sp_jit_load(sp_jit_code **out, const char *source,
                        const char *const flags[], const char *cpu_key)
{
    uint8_t key[SP_SHA256];
    char key_hex[SP_KEY_HEX];
    sp_bytes object = {0};
    sp_compiler cc;
    sp_cache cache;
    spry_status s;

    *out = NULL;
    s = sp_compiler_find(&cc);
    if (s == SPRY_OK)
        s = make_key(key, &cc, source, flags, cpu_key);
    if (s != SPRY_OK)
        return s;
    sp_hex(key_hex, key, SP_SHA256);
    *out = share(key_hex);
    if (*out)
        return SPRY_OK;
    sp_cache_open(&cache, 0);
    s = obtain(&object, &cache, &cc, key, source, flags);
    if (s == SPRY_OK)
        s = enter(out, &object, key_hex, cache.fd >= 0 ? cache.path : NULL);
    sp_free(object.data);
    sp_cache_close(&cache);
    return s;
}

void *sp_jit_symbol(const sp_jit_code *code, const char *name)
{
    void *address;

    sp_jit_lock();
    address = dlsym(code->mapped.handle, name);
    sp_jit_unlock();
    return address;
}

void sp_jit_free(sp_jit_code *code)
{
    sp_jit_code **at = &loaded;
    int last;

    if (!code)
        return;
    sp_jit_lock();
    last = --code->users == 0;
    while (last && *at != code)
        at = &(*at)->next;
    if (last)
        *at = code->next;
    sp_jit_unlock();
    if (last) {
        sp_unmap(&code->mapped);
        sp_free(code);
    }
}

spry_status spry_jit_available(void)
{
    sp_jit_code *code;
    spry_status s =
        sp_jit_load(&code, "int spry_jit_works(void) { return 1; }", NULL, "");

    sp_jit_free(code);
    return s == SPRY_OK ? SPRY_OK : SPRY_SYSTEM;
}

const char *spry_jit_note(void)
{
    static _Thread_local char note[sizeof((sp_cache *)0)->note];
    sp_cache cache;

    sp_cache_open(&cache, 0);
    memcpy(note, cache.note, sizeof note);
    sp_cache_close(&cache);
    return note;
}
