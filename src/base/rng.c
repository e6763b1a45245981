/* rng.c - xoshiro256** by Blackman and Vigna, seeded by splitmix64. */
#include "base/base.h"

#include <math.h>

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

sp_rng sp_rng_seed(uint64_t seed)
{
    sp_rng r;

    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        r.s[i] = z ^ (z >> 31);
    }
    return r;
}

uint64_t sp_rng_next(sp_rng *r)
{
    uint64_t *s = r->s;
    uint64_t out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return out;
}

/* Draw again in the short last interval, which would favour small numbers. */
uint64_t sp_rng_below(sp_rng *r, uint64_t n)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;

    do
        x = sp_rng_next(r);
    while (x >= limit);
    return x % n;
}

double sp_rng_unit(sp_rng *r)
{
    return (double)(sp_rng_next(r) >> 11) * 0x1p-53;
}

double sp_rng_normal(sp_rng *r)
{
    double u = 1 - sp_rng_unit(r), v = sp_rng_unit(r);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
