/* jit.h - C text in, a callable function out.
 *
 * Knows strings, not schedules. The same text, flags, compiler and CPU give
 * the same code object, compiled at most once per user and loaded at most
 * once per process. All functions may be called from any thread. */
#ifndef SP_JIT_H
#define SP_JIT_H

#include "spry/jit.h"

typedef struct sp_jit_code sp_jit_code;

/* Compile `source` (or find it kept) and load it. `flags`, NULL-terminated or
 * NULL, follow our own (-std=gnu11 -O2 -ffp-contract=fast), so they win.
 * `cpu_key` says which machines may share the result when flags such as
 * -march=native do not. Free with sp_jit_free. Failures: SPRY_SYSTEM when
 * there is no compiler or no place to load from, SPRY_FAIL with the
 * compiler's first error, SPRY_TIMEOUT when it does not end. */
spry_status sp_jit_load(sp_jit_code **out, const char *source,
                        const char *const flags[], const char *cpu_key);

/* The address of `name`, NULL when the source did not define it; valid until
 * the last sp_jit_free of this code. */
void *sp_jit_symbol(const sp_jit_code *code, const char *name);

void sp_jit_free(sp_jit_code *code);

/* A compile may take this long (20 s unless set). */
void sp_jit_limit(double seconds);
/* None may last beyond this moment of sp_seconds; 0: any may. */
void sp_jit_until(double moment);

#endif
