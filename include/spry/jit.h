/* jit.h - kernels compiled at run time: the compiler, and the cache of kernels.
 *
 * Compiled kernels are cached in a folder of the user's, each named by the
 * SHA-256 of everything it was made from and authenticated with a secret key of
 * the user's. A file that does not verify is never loaded but compiled anew.
 * All functions here are safe while other processes use the cache. */
#ifndef SPRY_JIT_H
#define SPRY_JIT_H

#include <stddef.h>
#include <stdint.h>

#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

/* Try to compile and load a kernel: SPRY_OK, or SPRY_SYSTEM and a message that
 * says what is missing. */
spry_status spry_jit_available(void);

/* The compiler's version line, "" when there is none; valid until this thread's
 * next call. The compiler is $SPRY_CC, else $CC (a program without arguments),
 * else cc, gcc or clang in PATH. */
const char *spry_jit_compiler(void);

/* Why kernels are not cached on disk, one sentence; "" when they are. Valid
 * until this thread's next call. */
const char *spry_jit_note(void);

/* The cache's folder; SPRY_SYSTEM when there is none. */
spry_status spry_jit_path(char *out, size_t size);

typedef struct {
    char key[65];     /* hex */
    int64_t bytes;    /* of the file */
    int64_t used;     /* last use, seconds since 1970 */
    const char *flaw; /* what is wrong with it, a static string; NULL: good */
    int64_t reserved[4]; /* 0 */
} spry_jit_entry;

typedef struct {
    int64_t count, bytes, flawed;
    const spry_jit_entry *entry; /* [count], last used first */
} spry_jit_entries;

/* List the cached kernels: by name only, or verifying each. An empty list when
 * there is no folder yet. Free with spry_jit_entries_free. */
spry_status spry_jit_list(spry_jit_entries **out);
spry_status spry_jit_verify(spry_jit_entries **out);
void spry_jit_entries_free(spry_jit_entries *e);

typedef struct {
    size_t size; /* sizeof (spry_jit_removed) */
    int64_t count, bytes;
} spry_jit_removed;

/* Remove kernels that do not verify and leftovers of interrupted compilations,
 * then the least recently used until at most keep_bytes remain. out may be
 * NULL. */
spry_status spry_jit_gc(spry_jit_removed *out, int64_t keep_bytes);

/* Remove all of them. */
spry_status spry_jit_clear(spry_jit_removed *out);

#ifdef __cplusplus
}
#endif
#endif
