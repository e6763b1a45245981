/* internal.h - what the files of the jit room know of each other. */
#ifndef SP_JIT_INTERNAL_H
#define SP_JIT_INTERNAL_H

#include "base/base.h"
#include "base/private.h"
#include "jit/jit.h"

enum { SP_PATH = 4096, SP_KEY_HEX = 2 * SP_SHA256 + 1 };

/* The symbol every compiled object carries: its own key, in hex. */
#define SP_JIT_KEY_SYMBOL "spry_jit_key"

/* ---- lock.c: what the threads of a process share ---- */

/* Held for the list of loaded code, the compiler asked last and the dynamic
 * loader; never while anything is compiled. A fork waits for it, so that a
 * child finds it free. */
void sp_jit_lock(void);
void sp_jit_unlock(void);

/* ---- bytes.c: whole files through descriptors ---- */

typedef struct {
    uint8_t *data; /* sp_free */
    size_t len;
} sp_bytes;

/* All of the open regular file, at most `limit` bytes; 0 on failure. */
int sp_bytes_read(sp_bytes *out, int fd, size_t limit);
int sp_bytes_write(int fd, const void *data, size_t n);

/* ---- run.c: one child process ---- */

/* Run argv[0] (a path) without a shell, with `temp` as its TMPDIR unless
 * NULL; what it writes goes to `said` (its first few thousand bytes).
 * SPRY_OK: it ended and *code is its exit code, 128 + n when signal n ended
 * it. SPRY_TIMEOUT: it was killed after `seconds`. */
spry_status sp_run(int *code, sp_buf *said, const char *const argv[],
                   const char *temp, double seconds);

/* ---- compiler.c: which one, and who it is ---- */

typedef struct {
    char path[SP_PATH];
    char version[256];           /* its version line */
    char identity[SP_PATH + 64]; /* resolved path, size, time of change */
} sp_compiler;

spry_status sp_compiler_find(sp_compiler *out);

/* ---- place.c: directories that are ours alone ---- */

/* Make a fresh 0700 directory in the next parent that allows it: `first` (may
 * be NULL or ""), /dev/shm, TMPDIR, /tmp. *at counts them, from 0: call again
 * for one elsewhere. `path` holds SP_PATH. 0 when there is no further one. */
int sp_place_temp(char *path, const char *first, int *at);
void sp_place_remove(const char *path); /* with the files in it */

/* ---- compile.c: text to the bytes of a shared object ---- */

double sp_compile_limit(void); /* seconds */

extern const char *const sp_compile_flags[]; /* ours, NULL-terminated */

/* The object exports key_hex as SP_JIT_KEY_SYMBOL. Scratch space is looked
 * for in `first`, see sp_place_temp. */
spry_status sp_compile(sp_bytes *out, const sp_compiler *cc, const char *source,
                       const char *const flags[], const char *key_hex,
                       const char *first);

/* ---- secret.c: the user's secret ---- */

/* Read it, or make it. 0 when it can be neither kept nor trusted. */
int sp_secret_get(uint8_t out[SP_SHA256], const char **why);

/* ---- cache.c: kept objects, sealed ---- */

typedef struct {
    int fd; /* of the folder; -1: nothing is kept */
    char path[SP_PATH];
    uint8_t secret[SP_SHA256];
    char note[SP_PATH + 256]; /* why nothing is kept, else "" */
} sp_cache;

/* With `only_read`, also a folder that cannot be written. */
void sp_cache_open(sp_cache *c, int only_read);
void sp_cache_close(sp_cache *c);

/* The object kept under `key`: NULL when it is there and its seal is good,
 * else what is wrong with it, a static string, and *out is empty. */
const char *sp_cache_get(sp_bytes *out, const sp_cache *c,
                         const uint8_t key[SP_SHA256]);
/* Remember that it was used now. */
void sp_cache_touch(const sp_cache *c, const uint8_t key[SP_SHA256]);
/* Seal and keep. That it could not be kept is no failure of the caller's. */
void sp_cache_put(const sp_cache *c, const uint8_t key[SP_SHA256],
                  const sp_bytes *object);

/* Wait until nobody else compiles `key`, at most `seconds`. The lock only
 * saves work, so -1 (no lock) is an answer to go on with. */
int sp_cache_lock(const sp_cache *c, const uint8_t key[SP_SHA256],
                  double seconds);
void sp_cache_unlock(int lock);

/* ---- map.c: bytes to running code ---- */

typedef struct {
    void *handle;
    int fd; /* the object's memory file, -1 when it came from disk */
} sp_mapped;

/* Load exactly these bytes; refused unless they carry key_hex. */
spry_status sp_map(sp_mapped *out, const sp_bytes *object, const char *key_hex,
                   const char *first);
void sp_unmap(sp_mapped *m);

#endif
