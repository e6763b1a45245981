/* hash.c - a fast 128-bit hash for keys, eight bytes at a time.
 *
 * Two lanes of multiply-and-fold. Not for anything an adversary can choose:
 * that is what sha256.c is for. */
#include "base/base.h"

#include <string.h>

static uint64_t fold(uint64_t x, uint64_t k)
{
    unsigned long long lo = x * k, hi = (x >> 32) * (k >> 32) ^ (x + k);

    return (lo ^ (hi << 1)) ^ (lo >> 29);
}

sp_hash sp_hash_begin(void)
{
    return (sp_hash){0x243f6a8885a308d3u, 0x13198a2e03707344u, 0};
}

static void add_word(sp_hash *h, uint64_t w)
{
    h->a = fold(h->a ^ w, 0x9e3779b97f4a7c15u);
    h->b = fold(h->b + w, 0xd6e8feb86659fd93u) ^ (h->b >> 31);
}

/* Pieces are hashed apart: "ab" + "c" differs from "a" + "bc". */
void sp_hash_add(sp_hash *h, const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t w;

    h->len += n;
    for (size_t left = n; left >= 8; left -= 8, p += 8) {
        memcpy(&w, p, 8);
        add_word(h, w);
    }
    w = 0;
    if (n % 8)
        memcpy(&w, p, n % 8);
    add_word(h, w ^ ((uint64_t)n << 56) ^ n);
}

void sp_hash_hex(char out[33], sp_hash h)
{
    add_word(&h, h.len);
    for (int i = 0; i < 3; i++) { /* each half comes to depend on both */
        uint64_t a = h.a;

        add_word(&h, h.b);
        h.b ^= a;
    }
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.a,
             (unsigned long long)h.b);
}
