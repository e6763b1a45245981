/* curves_body.h - vectors of an instruction set, and curves on them. */
#ifndef SP_DENSE_CURVES_BODY_H
#define SP_DENSE_CURVES_BODY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "dense/tile.h"

/* Whether a register of an x86 holds a vector; where it does not, vectors are
 * made of several by the compiler. */
#if BYTES == 64 && defined(__AVX512F__) || BYTES == 32 && defined(__AVX__) || \
    BYTES == 16 && defined(__SSE__)
#define FITS_X86 1
#include <immintrin.h>
#else
#define FITS_X86 0
#endif

#define INLINE static inline __attribute__((always_inline, unused))

typedef float vec __attribute__((vector_size(BYTES)));
typedef int32_t bits __attribute__((vector_size(BYTES)));
typedef float vec_any
    __attribute__((vector_size(BYTES), aligned(4), may_alias));

enum { LANES = BYTES / 4 };

INLINE vec load(const float *x)
{
    return *(const vec_any *)x;
}

INLINE void store(float *x, vec y)
{
    *(vec_any *)x = y;
}

/* A part of a vector, behind which may be no memory: under a mask where there
 * are such. A copy of so many bytes is a call, and what it wrote as a few
 * numbers is waited for to be read as a whole. */
#if FITS_X86 && BYTES == 64
INLINE vec load_part(const float *x, int64_t count)
{
    return (vec)_mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), x);
}

INLINE void store_part(float *x, vec y, int64_t count)
{
    _mm512_mask_storeu_ps(x, (__mmask16)((1u << count) - 1), (__m512)y);
}
#else
INLINE vec load_part(const float *x, int64_t count)
{
    vec y = {0};

    memcpy(&y, x, (size_t)count * sizeof *x);
    return y;
}

INLINE void store_part(float *x, vec y, int64_t count)
{
    memcpy(x, &y, (size_t)count * sizeof *x);
}
#endif

/* The last channels may be fewer than a vector's. */
INLINE vec load_channels(const float *x, int64_t left)
{
    return left >= LANES ? load(x) : load_part(x, left);
}

INLINE void store_channels(float *x, vec y, int64_t left)
{
    if (left >= LANES)
        store(x, y);
    else
        store_part(x, y, left);
}

INLINE vec same(float x)
{
    return x - (vec){0};
}

INLINE vec choose(bits when, vec yes, vec no)
{
    return (vec)((when & (bits)yes) | (~when & (bits)no));
}

/* Of two the smaller or larger one; the second where one is no number: as an
 * instruction has it where there is one. */
#if FITS_X86 && BYTES == 64
#define OF_TWO(which, x, y) (vec) _mm512_##which##_ps((__m512)(x), (__m512)(y))
#elif FITS_X86 && BYTES == 32
#define OF_TWO(which, x, y) (vec) _mm256_##which##_ps((__m256)(x), (__m256)(y))
#elif FITS_X86
#define OF_TWO(which, x, y) (vec) _mm_##which##_ps((__m128)(x), (__m128)(y))
#endif

INLINE vec smaller(vec x, vec y)
{
#ifdef OF_TWO
    return OF_TWO(min, x, y);
#else
    return choose(x < y, x, y);
#endif
}

INLINE vec larger(vec x, vec y)
{
#ifdef OF_TWO
    return OF_TWO(max, x, y);
#else
    return choose(x > y, x, y);
#endif
}

/* What is no number passes both limits. */
INLINE vec clamp(vec x, vec low, vec high)
{
    return smaller(high, larger(low, x));
}

/* The larger and the smaller of two; what is no number stays so. */
INLINE vec maximum(vec x, vec y)
{
    return choose(x == x, larger(x, y), x);
}

INLINE vec minimum(vec x, vec y)
{
    return choose(x == x, smaller(x, y), x);
}

INLINE vec magnitude(vec x)
{
    return (vec)((bits)x & 0x7fffffff);
}

/* e^x: x = n ln 2 + r, |r| <= ln 2 / 2, a polynomial for e^r; past both ends
 * of f32 what IEEE says, so that a mask of -Inf leaves nothing. */
INLINE vec vec_exp(vec given)
{
    const vec low = same(-103.9f), high = same(88.7228f);
    vec x = clamp(given, low, high), n, r, p;
    bits whole;

    n = x * 1.44269504f + 12582912.0f; /* rounds to a whole number */
    whole = (bits)n - (bits)same(12582912.0f);
    n -= 12582912.0f;
    r = x - n * 0.693145752f - n * 1.42860677e-6f;
    p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1;
    { /* 2^n in two factors: below 2^-126 it is gradual */
        bits half = whole >> 1, rest = whole - half;

        p = p * (vec)((half + 127) << 23) * (vec)((rest + 127) << 23);
    }
    p = choose(given > high, same(INFINITY), p);
    return choose(given < low, same(0), p);
}

INLINE vec vec_sigmoid(vec x)
{
    return 1 / (1 + vec_exp(-x));
}

INLINE vec vec_tanh(vec x)
{
    vec y = magnitude(x), far = 1 - 2 / (vec_exp(2 * y) + 1), q = x * x;
    /* near 0 that would cancel */
    vec near = q * (q * (q * (q * 0.02186948f - 0.05396825f) + 0.13333334f) -
                    0.33333334f);

    far = (vec)((bits)far | ((bits)x & (bits)same(-0.0f)));
    return choose(y < same(0.3f), x + x * near, far);
}

/* erf x: 1 - t e^(-x x) p(t), t = 1 / (1 + 0.3275911 x): 1.5e-7. */
INLINE vec vec_erf(vec x)
{
    vec y = magnitude(x), t = 1 / (1 + y * 0.3275911f), p, far, q = x * x;
    vec near;

    p = t * 1.061405429f - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    far = 1 - p * t * vec_exp(-q);
    far = (vec)((bits)far | ((bits)x & (bits)same(-0.0f)));
    near = q * (q * (q * (q * 0.00522397f - 0.02686617f) + 0.11283792f) -
                0.37612638f);
    return choose(y < same(0.5f), x * (near + 1.12837917f), far);
}

INLINE vec vec_sqrt(vec x)
{
    for (int i = 0; i < LANES; i++)
        x[i] = sqrtf(x[i]);
    return x;
}

INLINE vec curve(vec x, spry_act act, float alpha, float beta)
{
    vec zero = {0}, one = same(1);

    switch (act) {
    case SPRY_ACT_NONE: break;
    case SPRY_ACT_RELU: return larger(zero, x);
    case SPRY_ACT_CLIP: return clamp(x, same(alpha), same(beta));
    case SPRY_ACT_LEAKY: return choose(x < zero, x * alpha, x);
    case SPRY_ACT_HSIGMOID: return clamp(x * alpha + beta, zero, one);
    case SPRY_ACT_HSWISH: return x * clamp(x * (1.0f / 6) + 0.5f, zero, one);
    case SPRY_ACT_SIGMOID: return vec_sigmoid(x);
    case SPRY_ACT_SILU: return x * vec_sigmoid(x);
    case SPRY_ACT_TANH: return vec_tanh(x);
    case SPRY_ACT_GELU: return 0.5f * x * (1 + vec_erf(x * 0.70710678f));
    case SPRY_ACT_EXP: return vec_exp(x);
    case SPRY_ACT_SQRT: return vec_sqrt(x);
    }
    return x;
}

/* The loop for one curve, so that the choice is made once. */
INLINE void bend_by(float *x, int64_t count, spry_act act, float alpha,
                    float beta)
{
    int64_t i = 0;

    for (; i + LANES <= count; i += LANES)
        store(x + i, curve(load(x + i), act, alpha, beta));
    if (i < count)
        store_part(x + i, curve(load_part(x + i, count - i), act, alpha, beta),
                   count - i);
}

static __attribute__((unused)) void bend(float *x, int64_t count,
                                         const sp_finish *f)
{
    switch (f->act) {
#define CASE(act) \
    case act: bend_by(x, count, act, f->alpha, f->beta); break;
        CASE(SPRY_ACT_NONE)
        CASE(SPRY_ACT_RELU)
        CASE(SPRY_ACT_CLIP)
        CASE(SPRY_ACT_LEAKY)
        CASE(SPRY_ACT_HSIGMOID)
        CASE(SPRY_ACT_HSWISH)
        CASE(SPRY_ACT_SIGMOID)
        CASE(SPRY_ACT_SILU)
        CASE(SPRY_ACT_TANH)
        CASE(SPRY_ACT_GELU)
        CASE(SPRY_ACT_EXP)
        CASE(SPRY_ACT_SQRT)
#undef CASE
    }
}

#endif
