/* merge.c - two probes of one machine become one. */
#include "machine/machine.h"

static void larger(double *a, double b)
{
    *a = b > *a ? b : *a;
}

static void smaller(double *a, double b)
{
    if (b > 0 && (*a == 0 || b < *a))
        *a = b;
}

void sp_machine_merge(spry_machine *m, const spry_machine *other)
{
    if (!other->probed)
        return;
    for (int i = 0; i < m->points && i < other->points; i++)
        if (m->at[i] == other->at[i]) {
            larger(&m->read[i], other->read[i]);
            larger(&m->triad[i], other->triad[i]);
            larger(&m->lines[i], other->lines[i]);
            larger(&m->lines_small[i], other->lines_small[i]);
        }
    for (int i = 0; i < SPRY_CACHES; i++)
        if (other->measured[i] > m->measured[i])
            m->measured[i] = other->measured[i];
    for (int i = 0; i < SPRY_CACHES; i++)
        larger(&m->cache_read[i], other->cache_read[i]);
    for (int i = 0; i <= SPRY_CACHES; i++)
        smaller(&m->latency[i], other->latency[i]);
    smaller(&m->latency_small, other->latency_small);
    larger(&m->fma_f32, other->fma_f32);
    larger(&m->fma_f64, other->fma_f64);
    smaller(&m->gather, other->gather);
    smaller(&m->fork, other->fork);
}
