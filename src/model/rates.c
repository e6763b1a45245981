/* rates.c - a machine's numbers as the model wants them.
 *
 * What was not probed is taken from a middling core, so that schedules can
 * be ranked on a machine nobody has measured. */
#include "model/internal.h"

#include <math.h>

/* A core of around 2020, for what is 0 in spry_machine. */
static const struct {
    double clock, fork, line, store;
    double room[SPRY_CACHES], bandwidth[SP_LEVELS], latency[SP_LEVELS];
} middling = {
    .clock = 3e9,
    .fork = 3e-6,
    .line = 64,
    .store = 10e9,
    .room = {32e3, 512e3, 8e6},
    .bandwidth = {120e9, 60e9, 30e9, 12e9},
    .latency = {1.5e-9, 4.5e-9, 15e-9, 90e-9},
};

/* The last cache has other tenants, often unseen ones. */
static const double tenancy = 0.5;

/* A probe that says more met a stolen core. */
static const double slowest_fork = 3e-5;

/* Loads from memory that any core has on their way at a time, at least. */
static const double in_flight = 4;

static double known(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

/* Bandwidth of `threads`, between the measured counts. */
static double at_threads(const spry_machine *m, const double *curve,
                         double otherwise, double threads)
{
    double most = 0;
    int i = 0;

    if (!m->probed || m->points < 1)
        return otherwise * sqrt(threads);
    /* More threads never move less: a dip was a busy neighbour. */
    for (; i < m->points && m->at[i] <= threads; i++)
        most = fmax(most, curve[i]);
    return known(most, otherwise);
}

static double clock_of(double peak, int lanes)
{
    return known(peak / (4.0 * lanes), middling.clock);
}

/* Bytes of a cache that one of `threads` may fill; what a probe found less
 * than that is all there is. Never 0, it divides. */
static double room_of(const spry_machine *m, int level, double cores)
{
    double bytes = known((double)m->cache[level].bytes, middling.room[level]);
    double sharing = m->cache[level].shared_by > 1 ? cores : 1;

    if (level == SPRY_CACHES - 1)
        bytes *= tenancy;
    if (m->measured[0] > 0)
        bytes = fmin(bytes, (double)m->measured[level]);
    return fmax(1, bytes / fmin(sharing, fmax(1, m->cache[level].shared_by)));
}

sp_rates sp_model_rates(const sp_ask *q)
{
    return sp_rates_of(q->m, q->p->type, q->x->threads);
}

sp_rates sp_rates_of(const spry_machine *m, spry_type type, int threads)
{
    double cores = fmin(threads, fmax(1, m->threads));
    double peak = type == SPRY_F32 ? m->fma_f32 : m->fma_f64;
    sp_rates r = {
        .cycle = 1 / clock_of(peak, spry_isa_bytes(m->isa) / (int)type),
        .cores = cores,
        .fork =
            threads > 1 ? fmin(known(m->fork, middling.fork), slowest_fork) : 0,
        .line = known(m->line, middling.line),
        .store = at_threads(m, m->triad, middling.store, cores),
        .lines = at_threads(m, m->lines, 0, cores),
        .flops = cores * peak,
    };

    for (int i = 0; i < SPRY_CACHES; i++) {
        r.room[i] = room_of(m, i, cores);
        r.bandwidth[i] = known(m->cache_read[i], middling.bandwidth[i]) * cores;
    }
    for (int i = 0; i < SP_LEVELS; i++)
        r.latency[i] = known(m->latency[i], middling.latency[i]);
    r.bandwidth[SPRY_CACHES] =
        at_threads(m, m->read, middling.bandwidth[SPRY_CACHES], cores);
    if (r.lines > 0) /* less was measured beside busy neighbours */
        r.lines = fmax(r.lines, in_flight * cores / r.latency[SPRY_CACHES]);
    r.gather = known(m->gather, 1.2 * r.cycle);
    return r;
}
