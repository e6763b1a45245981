/* lanes.c - the probe's inner loops, compiled for each instruction set and
 * chosen by the machine's. */
#include "machine/internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Sixteen-byte vectors: SSE2 on x86, whatever there is elsewhere. */
#define SET(name) name##_16
#define BYTES     16
#define TARGET
#if defined(__aarch64__)
#define FMA32(a, b, c) vfmaq_f32(c, a, b)
#define FMA64(a, b, c) vfmaq_f64(c, a, b)
#else
#define FMA32(a, b, c) ((a) * (b) + (c))
#define FMA64(a, b, c) ((a) * (b) + (c))
#endif
#include "machine/lanes_body.h"

#if defined(__x86_64__)
#define SET(name)      name##_32
#define BYTES          32
#define TARGET         __attribute__((target("avx2,fma")))
#define FMA32(a, b, c) _mm256_fmadd_ps(a, b, c)
#define FMA64(a, b, c) _mm256_fmadd_pd(a, b, c)
#include "machine/lanes_body.h"

#define SET(name)      name##_64
#define BYTES          64
#define TARGET         __attribute__((target("avx512f,fma")))
#define FMA32(a, b, c) _mm512_fmadd_ps(a, b, c)
#define FMA64(a, b, c) _mm512_fmadd_pd(a, b, c)
#include "machine/lanes_body.h"
#endif

const sp_lanes *sp_lanes_of(spry_isa isa)
{
#if defined(__x86_64__)
    if (isa == SPRY_AVX512)
        return &lanes_64;
    if (isa == SPRY_AVX2)
        return &lanes_32;
#endif
    (void)isa;
    return &lanes_16;
}
