/* sha256.c - bytes to a digest nobody can aim at (FIPS 180-4), and the same
 * with a secret (HMAC, RFC 2104). */
#include "base/base.h"

#include <string.h>

enum { BLOCK = 64 };

typedef struct {
    uint32_t h[8];
    uint8_t block[BLOCK]; /* what does not fill a block yet */
    uint64_t len;         /* bytes seen */
} sha256;

/* The first 32 bits of the fractions of the cube roots of the primes. */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load_big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

/* w[0..15] is the block; the rest mixes it. */
static void expand(uint32_t w[64], const uint8_t *block)
{
    for (int i = 0; i < 16; i++)
        w[i] = load_big_endian(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

/* h <- compress(h, block); v holds FIPS's a..h. */
static void compress(uint32_t h[8], const uint8_t *block)
{
    uint32_t w[64], v[8];

    expand(w, block);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t major = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t t1 = v[7] +
                      (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                      choose + round_constant[i] + w[i];
        uint32_t t2 =
            (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + major;

        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

/* The fractions of the square roots of the first eight primes. */
static sha256 begin(void)
{
    return (sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

static void add(sha256 *s, const void *data, size_t n)
{
    const uint8_t *p = data;
    size_t have = s->len % BLOCK;

    s->len += n;
    while (n > 0) {
        size_t take = n < BLOCK - have ? n : BLOCK - have;

        memcpy(s->block + have, p, take);
        p += take;
        n -= take;
        have += take;
        if (have == BLOCK) {
            compress(s->h, s->block);
            have = 0;
        }
    }
}

/* Pad with 1, zeros and the length in bits. */
static void end(uint8_t out[SP_SHA256], sha256 *s)
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint64_t bits = s->len * 8;
    uint8_t length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    add(s, padding, 1 + (BLOCK + 55 - s->len % BLOCK) % BLOCK);
    add(s, length, sizeof length);
    for (int i = 0; i < SP_SHA256; i++)
        out[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sp_sha256(uint8_t out[SP_SHA256], const void *data, size_t n)
{
    sha256 s = begin();

    add(&s, data, n);
    end(out, &s);
}

/* H((key ^ pad), data) */
static void keyed(uint8_t out[SP_SHA256], const uint8_t key[BLOCK], uint8_t pad,
                  const void *data, size_t n)
{
    uint8_t padded[BLOCK];
    sha256 s = begin();

    for (int i = 0; i < BLOCK; i++)
        padded[i] = key[i] ^ pad;
    add(&s, padded, BLOCK);
    add(&s, data, n);
    end(out, &s);
}

void sp_hmac_sha256(uint8_t out[SP_SHA256], const void *key, size_t key_len,
                    const void *data, size_t n)
{
    uint8_t block[BLOCK] = {0}, inner[SP_SHA256];

    if (key_len > BLOCK)
        sp_sha256(block, key, key_len);
    else if (key_len > 0)
        memcpy(block, key, key_len);
    keyed(inner, block, 0x36, data, n);
    keyed(out, block, 0x5c, inner, sizeof inner);
}

void sp_hex(char *out, const uint8_t *data, size_t n)
{
    static const char digit[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digit[data[i] >> 4];
        out[2 * i + 1] = digit[data[i] & 15];
    }
    out[2 * n] = 0;
}
