/* isa.c - instruction sets: their names, their widths, which of them runs
 * here. */
#include "spry/machine.h"

#include <string.h>

#include "base/base.h"
#include "machine/internal.h"

static const struct {
    const char *name;
    int bytes;
} sets[] = {
    [SPRY_PORTABLE] = {"portable", 16}, [SPRY_NEON] = {"neon", 16},
    [SPRY_SSE2] = {"sse2", 16},         [SPRY_AVX2] = {"avx2", 32},
    [SPRY_AVX512] = {"avx512", 64},
};

enum { SETS = sizeof sets / sizeof sets[0] };

const char *spry_isa_name(spry_isa isa)
{
    return (unsigned)isa < SETS ? sets[isa].name : "unknown";
}

int spry_isa_bytes(spry_isa isa)
{
    return (unsigned)isa < SETS ? sets[isa].bytes : sets[0].bytes;
}

spry_status spry_isa_parse(spry_isa *out, const char *name)
{
    *out = SPRY_PORTABLE;
    for (int i = 0; i < SETS; i++)
        if (strcmp(name, sets[i].name) == 0) {
            *out = (spry_isa)i;
            return SPRY_OK;
        }
    return sp_fail(SPRY_USAGE,
                   "'%s' is not an instruction set: use portable, neon, "
                   "sse2, avx2 or avx512",
                   name);
}

/* The compiler's run-time check asks cpuid and, with xgetbv, whether the
 * system saves the wide registers. */
spry_isa sp_isa_here(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma"))
        return SPRY_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return SPRY_AVX2;
    return SPRY_SSE2;
#elif defined(__aarch64__)
    return SPRY_NEON; /* part of the base architecture */
#else
    return SPRY_PORTABLE;
#endif
}
