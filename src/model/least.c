/* least.c - what a problem takes at the very least, whatever the schedule.
 *
 * Every product is computed and every value is read once. It is a bound to
 * hold measurements against, not a prediction: what is not certain is left
 * out, and a machine that was probed in a noisy hour counts as a middling
 * one. */
#include "model/least.h"

#include <math.h>

#include "model/internal.h"

/* Bytes that are read or written once: values of A as the densest table of
 * them has them, and what is written. */
static double least_bytes(const sp_sparse *p)
{
    const spry_stats *t = sp_problem_sketch(p);
    double nnz = (double)p->A->nnz;
    double value = !t || t->one_value   ? 0
                   : t->different < 257 ? 0.125
                                        : (double)p->type;

    return nnz * value + (double)sp_sparse_output_size(p) * (double)p->type;
}

/* Bytes of a level of all cores that are in use. */
static double capacity(const spry_machine *m, int level)
{
    double sharing = fmax(1, m->cache[level].shared_by);

    return (double)m->cache[level].bytes * ceil(m->threads / sharing);
}

/* What the level closest to the cores cannot hold comes from the next. */
static double move_seconds(double bytes, const spry_machine *m,
                           const sp_rates *r)
{
    double seconds = bytes / r->bandwidth[0];

    for (int i = 1; i < SP_LEVELS; i++)
        seconds = fmax(seconds, (bytes - capacity(m, i - 1)) / r->bandwidth[i]);
    return seconds;
}

/* The machine as if nothing had been measured. */
static spry_machine not_probed(const spry_machine *m)
{
    spry_machine out = *m;

    out.probed = 0;
    out.fma_f32 = out.fma_f64 = 0;
    for (int i = 0; i < SPRY_CACHES; i++)
        out.cache_read[i] = 0;
    return out;
}

double sp_model_least(const sp_sparse *p, const spry_machine *m)
{
    spry_machine plain = not_probed(m);
    spry_schedule x = spry_schedule_baseline(m->threads > 1 ? m->threads : 1);
    sp_ask q = {p, &x, m, NULL, spry_isa_bytes(m->isa) / (int)p->type, NULL};
    sp_rates r = sp_model_rates(&q), usual;
    double products = (double)p->A->nnz * (double)p->n;

    q.m = &plain;
    usual = sp_model_rates(&q);
    r.cycle = fmin(r.cycle, usual.cycle); /* two vectors of products */
    for (int i = 0; i < SP_LEVELS; i++)
        r.bandwidth[i] = fmax(r.bandwidth[i], usual.bandwidth[i]);
    return fmax(products / (2.0 * q.lanes) * r.cycle / r.cores,
                move_seconds(least_bytes(p), m, &r));
}
