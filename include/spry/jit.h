/* jit.h - kernels compiled at run time: can we, with what, and what is kept.
 *
 * Compiled kernels are kept in a folder of the user's, each under the
 * SHA-256 of all that made it and sealed with the user's secret; one that
 * does not verify is never loaded, only compiled anew. Everything here works
 * while other processes compile, load and clear. */
#ifndef SPRY_JIT_H
#define SPRY_JIT_H

#include <stddef.h>
#include <stdint.h>

#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

/* SPRY_OK when a kernel can be compiled and loaded here and now (one is);
 * else SPRY_SYSTEM, and the sentence says what is missing. */
spry_status spry_jit_available(void);

/* The compiler's version line, "" when there is none; it stays valid until
 * this thread's next call. Found as $SPRY_CC, else $CC (a program, no
 * arguments), else cc, gcc or clang in PATH. */
const char *spry_jit_compiler(void);

/* Why kernels are not kept on disk, one sentence; "" when they are. It stays
 * valid until this thread's next call. */
const char *spry_jit_note(void);

/* The folder of kept kernels; SPRY_SYSTEM when there is nowhere. */
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

/* What is kept, by name only; or with each one's seal checked. No folder
 * yet is an empty list. Free with spry_jit_entries_free. */
spry_status spry_jit_list(spry_jit_entries **out);
spry_status spry_jit_verify(spry_jit_entries **out);
void spry_jit_entries_free(spry_jit_entries *e);

typedef struct {
    size_t size; /* sizeof (spry_jit_removed) */
    int64_t count, bytes;
} spry_jit_removed;

/* Remove flawed kernels and what interrupted compiles left behind, then
 * those unused for longest until at most keep_bytes remain. out may be
 * NULL. */
spry_status spry_jit_gc(spry_jit_removed *out, int64_t keep_bytes);

/* Remove all of them. */
spry_status spry_jit_clear(spry_jit_removed *out);

#ifdef __cplusplus
}
#endif
#endif
