/* digest.c - a fast keyed hash: sums of products, then a polynomial.
 *
 * Blocks of 1024 bytes are words of 32 bits; each gets a secret word added,
 * and products of two of them are summed up modulo 2^64. Twice, with the
 * secret words shifted by four: where two blocks differ, each sum is the same
 * with probability 2^-32, whatever the blocks. The sums of all blocks are the
 * coefficients of a polynomial modulo 2^61 - 1, which is evaluated at a secret
 * point. (UMAC, RFC 4418, does it so.) */
#include "base/digest.h"

#include <string.h>

#include "base/base.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

enum { BLOCK = 4 * SP_DIGEST_WORDS };

static const uint64_t PRIME = ((uint64_t)1 << 61) - 1;

void sp_digest_key_make(sp_digest_key *out, const uint8_t seed[SP_DIGEST_SEED])
{
    uint8_t text[SP_DIGEST_SEED + 4], sum[SP_SHA256];
    uint8_t *to = (uint8_t *)out;

    memcpy(text, seed, SP_DIGEST_SEED);
    for (uint32_t i = 0; i * SP_SHA256 < sizeof *out; i++) {
        size_t left = sizeof *out - i * SP_SHA256;

        memcpy(text + SP_DIGEST_SEED, &i, sizeof i);
        sp_sha256(sum, text, sizeof text);
        memcpy(to + i * SP_SHA256, sum, left < SP_SHA256 ? left : SP_SHA256);
    }
    for (int i = 0; i < 2; i++)
        out->point[i] = out->point[i] % (PRIME - 2) + 2;
}

#ifdef __SSE2__

/* Words 0 .. 3 of eight times words 4 .. 7. */
static __m128i products(__m128i a, __m128i b)
{
    return _mm_add_epi64(
        _mm_mul_epu32(a, b),
        _mm_mul_epu32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32)));
}

static uint64_t sum_of(__m128i x)
{
    uint64_t half[2];

    _mm_storeu_si128((__m128i *)half, x);
    return half[0] + half[1];
}

static void sum_block(uint64_t out[2], const uint32_t *key, const uint8_t *data)
{
    __m128i sum[2] = {_mm_setzero_si128(), _mm_setzero_si128()};

    for (int i = 0; i < SP_DIGEST_WORDS; i += 8) {
        const __m128i *k = (const __m128i *)(key + i);
        const __m128i *m = (const __m128i *)(data + 4 * i);
        __m128i a = _mm_loadu_si128(m), b = _mm_loadu_si128(m + 1);
        __m128i x = _mm_loadu_si128(k), y = _mm_loadu_si128(k + 1);
        __m128i z = _mm_loadu_si128(k + 2);

        sum[0] = _mm_add_epi64(
            sum[0], products(_mm_add_epi32(a, x), _mm_add_epi32(b, y)));
        sum[1] = _mm_add_epi64(
            sum[1], products(_mm_add_epi32(a, y), _mm_add_epi32(b, z)));
    }
    out[0] = sum_of(sum[0]);
    out[1] = sum_of(sum[1]);
}

#define WIDE __attribute__((target("avx2")))

WIDE static __m256i wide_products(__m256i v, __m256i w)
{
    __m256i a = _mm256_permute2x128_si256(v, w, 0x20);
    __m256i b = _mm256_permute2x128_si256(v, w, 0x31);

    return _mm256_add_epi64(
        _mm256_mul_epu32(a, b),
        _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)));
}

WIDE static uint64_t wide_sum_of(__m256i x)
{
    return sum_of(_mm_add_epi64(_mm256_castsi256_si128(x),
                                _mm256_extracti128_si256(x, 1)));
}

/* The same sums, sixteen words at a time. */
WIDE static void sum_block_wide(uint64_t out[2], const uint32_t *key,
                                const uint8_t *data)
{
    __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};

    for (int i = 0; i < SP_DIGEST_WORDS; i += 16) {
        const __m256i *m = (const __m256i *)(data + 4 * i);
        __m256i a = _mm256_loadu_si256(m), b = _mm256_loadu_si256(m + 1);

        for (int s = 0; s < 2; s++) {
            const __m256i *k = (const __m256i *)(key + i + 4 * s);

            sum[s] = _mm256_add_epi64(
                sum[s],
                wide_products(_mm256_add_epi32(a, _mm256_loadu_si256(k)),
                              _mm256_add_epi32(b, _mm256_loadu_si256(k + 1))));
        }
    }
    out[0] = wide_sum_of(sum[0]);
    out[1] = wide_sum_of(sum[1]);
}

static int is_wide(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

#else

static int is_wide(void)
{
    return 0;
}

#define sum_block_wide sum_block

static void sum_block(uint64_t out[2], const uint32_t *key, const uint8_t *data)
{
    out[0] = out[1] = 0;
    for (int i = 0; i < SP_DIGEST_WORDS; i += 8) {
        uint32_t m[8];

        memcpy(m, data + 4 * i, sizeof m);
        for (int j = 0; j < 4; j++)
            for (int s = 0; s < 2; s++) {
                const uint32_t *k = key + i + j + 4 * s;

                out[s] += (uint64_t)(uint32_t)(m[j] + k[0]) *
                          (uint32_t)(m[j + 4] + k[4]);
            }
    }
}

#endif

/* x times the point, plus more, modulo the prime; all are below 2^61. By
 * halves: 2^64 is 8 there, and 2^61 is 1. */
static uint64_t step(uint64_t x, uint64_t point, uint64_t more)
{
    const uint64_t low = 0xffffffffu, few = ((uint64_t)1 << 29) - 1;
    uint64_t top = (x >> 32) * (point >> 32), end = (x & low) * (point & low);
    uint64_t middle = (x >> 32) * (point & low) + (x & low) * (point >> 32);
    uint64_t y = 8 * top + (middle >> 29) + ((middle & few) << 32) +
                 (end & PRIME) + (end >> 61) + more;

    y = (y & PRIME) + (y >> 61);
    return y >= PRIME ? y - PRIME : y;
}

static void take_block(uint64_t value[2], const sp_digest_key *key,
                       const uint8_t *data, int wide_ones)
{
    uint64_t sum[2];

    if (wide_ones)
        sum_block_wide(sum, key->word, data);
    else
        sum_block(sum, key->word, data);
    for (int i = 0; i < 2; i++) {
        value[i] = step(value[i], key->point[i], sum[i] >> 32);
        value[i] = step(value[i], key->point[i], sum[i] & 0xffffffffu);
    }
}

void sp_digest(uint8_t out[SP_DIGEST], const sp_digest_key *key,
               const void *data, size_t n)
{
    const uint8_t *at = data;
    uint64_t value[2] = {1, 1};
    int wide_ones = is_wide();
    size_t left = n;

    for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
        take_block(value, key, at, wide_ones);
    if (left) {
        uint8_t last[BLOCK] = {0};

        memcpy(last, at, left);
        take_block(value, key, last, wide_ones);
    }
    for (int i = 0; i < 2; i++)
        value[i] = step(value[i], key->point[i], n);
    memcpy(out, value, SP_DIGEST);
}
