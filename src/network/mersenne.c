/* mersenne.c - MT19937 by Matsumoto and Nishimura: the stream of chance that
 * the official challenge networks were drawn from. */
#include "network/internal.h"

enum { SHIFT = 397 };

void sp_mersenne_seed(sp_mersenne *m, uint32_t seed)
{
    m->word[0] = seed;
    for (uint32_t i = 1; i < SP_MERSENNE; i++) {
        uint32_t before = m->word[i - 1];

        m->word[i] = 1812433253u * (before ^ (before >> 30)) + i;
    }
    m->at = SP_MERSENNE;
}

static uint32_t twist(uint32_t high, uint32_t low, uint32_t far)
{
    uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);

    return far ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
}

static void refill(sp_mersenne *m)
{
    for (int i = 0; i < SP_MERSENNE; i++)
        m->word[i] = twist(m->word[i], m->word[(i + 1) % SP_MERSENNE],
                           m->word[(i + SHIFT) % SP_MERSENNE]);
    m->at = 0;
}

uint32_t sp_mersenne_next(sp_mersenne *m)
{
    uint32_t y;

    if (m->at == SP_MERSENNE)
        refill(m);
    y = m->word[m->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

uint64_t sp_mersenne_bits(sp_mersenne *m)
{
    uint64_t high = sp_mersenne_next(m) >> 5;

    return high << 26 | sp_mersenne_next(m) >> 6;
}
