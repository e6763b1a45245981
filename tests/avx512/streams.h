/* streams.h - stores of 64 bytes past the cache made of two of 32; read
 * before every text for AVX-512 in a build with SPRY_LOWER_AVX512. */
#ifndef SPRY_LOWERED_STREAMS
#define SPRY_LOWERED_STREAMS
#ifndef __clang__ /* which lowers its own word for them */

typedef float lowered_ps2 __attribute__((vector_size(64)));
typedef double lowered_pd2 __attribute__((vector_size(64)));

static inline void lowered_movntps512(float *p, lowered_ps2 x)
{
    __builtin_ia32_movntps256(
        p, __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7));
    __builtin_ia32_movntps256(
        p + 8, __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
}

static inline void lowered_movntpd512(double *p, lowered_pd2 x)
{
    __builtin_ia32_movntpd256(p, __builtin_shufflevector(x, x, 0, 1, 2, 3));
    __builtin_ia32_movntpd256(p + 4, __builtin_shufflevector(x, x, 4, 5, 6, 7));
}

#define __builtin_ia32_movntps512(p, x) lowered_movntps512(p, x)
#define __builtin_ia32_movntpd512(p, x) lowered_movntpd512(p, x)
#endif
#endif
