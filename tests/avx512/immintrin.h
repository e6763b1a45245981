/* immintrin.h - the compiler's own, and the AVX-512 intrinsics that kernels
 * use made of AVX2: SIMDe's where it has them, else lane by lane.
 *
 * For a build with SPRY_LOWER_AVX512, which finds this file first. Vectors of
 * 64 bytes are lowered by the compiler. */
#include_next <immintrin.h>

#ifndef SPRY_LOWERED_INTRINSICS
#define SPRY_LOWERED_INTRINSICS
#include <stdint.h>
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512/loadu.h>
#include <simde/x86/avx512/permutexvar.h>

typedef uint16_t lowered_half_u16 __attribute__((vector_size(32)));
typedef int32_t lowered_half_i32 __attribute__((vector_size(32)));
typedef int32_t lowered_i32 __attribute__((vector_size(64), may_alias));
typedef int64_t lowered_i64 __attribute__((vector_size(64), may_alias));
typedef float lowered_f32 __attribute__((vector_size(64), may_alias));
typedef double lowered_f64 __attribute__((vector_size(64), may_alias));

static inline __m512i lowered_cvtepu8_epi32(__m128i a)
{
    const uint8_t *from = (const uint8_t *)&a;
    lowered_i32 out = {0};

    for (int i = 0; i < 16; i++)
        out[i] = from[i];
    return (__m512i)out;
}

static inline __m512i lowered_cvtepu16_epi32(__m256i a)
{
    lowered_half_u16 from = (lowered_half_u16)a;
    lowered_i32 out = {0};

    for (int i = 0; i < 16; i++)
        out[i] = from[i];
    return (__m512i)out;
}

static inline __m512i lowered_cvtepu8_epi64(__m128i a)
{
    const uint8_t *from = (const uint8_t *)&a;
    lowered_i64 out = {0};

    for (int i = 0; i < 8; i++)
        out[i] = from[i];
    return (__m512i)out;
}

static inline __m512 lowered_gather_ps(__m512i index, const void *base,
                                       int scale)
{
    lowered_i32 at = (lowered_i32)index;
    lowered_f32 out = {0};

    for (int i = 0; i < 16; i++)
        __builtin_memcpy((char *)&out + 4 * i,
                         (const char *)base + (int64_t)at[i] * scale, 4);
    return (__m512)out;
}

static inline __m512d lowered_gather_pd(__m256i index, const void *base,
                                        int scale)
{
    lowered_half_i32 at = (lowered_half_i32)index;
    lowered_f64 out = {0};

    for (int i = 0; i < 8; i++)
        __builtin_memcpy((char *)&out + 8 * i,
                         (const char *)base + (int64_t)at[i] * scale, 8);
    return (__m512d)out;
}

#define _mm512_cvtepu8_epi32(a)  lowered_cvtepu8_epi32(a)
#define _mm512_cvtepu16_epi32(a) lowered_cvtepu16_epi32(a)
#define _mm512_cvtepu8_epi64(a)  lowered_cvtepu8_epi64(a)
#undef _mm512_i32gather_ps
#undef _mm512_i32gather_pd
#define _mm512_i32gather_ps(i, p, scale) lowered_gather_ps(i, p, scale)
#define _mm512_i32gather_pd(i, p, scale) lowered_gather_pd(i, p, scale)
#endif
