/* limit.c - the same machine made smaller, and the names it then goes by. */
#include "spry/machine.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "machine/internal.h"
#include "machine/isa.h"

/* Probed numbers stay out: they differ from run to run. */
void sp_fingerprint(spry_machine *m)
{
    sp_hash h = sp_hash_begin();
    int64_t facts[3 + 2 * SPRY_CACHES] = {m->threads, m->isa, m->sockets};
    char hex[33];

    for (int i = 0; i < SPRY_CACHES; i++) {
        facts[3 + 2 * i] = m->cache[i].bytes;
        facts[4 + 2 * i] = m->cache[i].shared_by;
    }
    sp_hash_add(&h, m->name, strlen(m->name));
    sp_hash_add(&h, facts, sizeof facts);
    sp_hash_hex(hex, h);
    memcpy(m->fingerprint, hex, 16);
    m->fingerprint[16] = 0;
}

/* FLOPs of one arithmetic instruction, relatively. */
static double weight(spry_isa isa)
{
    const sp_isa *set = sp_isa_of(isa);

    return set->bytes * (set->fused ? 2.0 : 1.0);
}

/* Point n moves to the share f of the way from its neighbour. */
static void between(double *curve, int n, double f)
{
    curve[n] = curve[n - 1] + f * (curve[n] - curve[n - 1]);
}

/* Forget the points above `threads`; the last becomes `threads` itself, on
 * the line between its neighbours. */
static void cut_points(spry_machine *m, int threads)
{
    int n = 0;

    while (n < m->points && m->at[n] < threads)
        n++;
    if (n == m->points)
        return;
    if (n > 0 && m->at[n] > threads) {
        double f = (double)(threads - m->at[n - 1]) /
                   (double)(m->at[n] - m->at[n - 1]);

        between(m->read, n, f);
        between(m->triad, n, f);
        between(m->lines, n, f);
        between(m->lines_small, n, f);
    }
    m->at[n] = threads;
    m->points = n + 1;
}

int64_t spry_machine_cache(const spry_machine *m, int level)
{
    SP_NEED_OR(0, m);
    if (level < 0 || level >= SPRY_CACHES)
        return 0;
    return m->measured[0] > 0 ? m->measured[level] : m->cache[level].bytes;
}

spry_status spry_machine_limit(spry_machine *m, int threads, spry_isa isa)
{
    SP_NEED(m);
    if (threads < 0 || threads > m->threads)
        return sp_fail(SPRY_USAGE, "%d threads asked for, %d can be used",
                       threads, m->threads);
    if (!sp_isa_includes(m->isa, isa))
        return sp_fail(SPRY_USAGE, "%s asked for, but this CPU has %s",
                       spry_isa_name(isa), spry_isa_name(m->isa));
    if (threads > 0) {
        m->threads = threads;
        cut_points(m, threads);
    }
    m->fma_f32 *= weight(isa) / weight(m->isa);
    m->fma_f64 *= weight(isa) / weight(m->isa);
    m->isa = isa;
    sp_fingerprint(m);
    return SPRY_OK;
}

/* By what nineteen of twenty A/A pairs stay under: on grade A a single pair
 * shows a difference of 1 %, on grade D none below 10 % can be believed. */
char spry_machine_grade(const spry_machine *m)
{
    SP_NEED_OR('?', m);

    static const double above[] = {0.01, 0.03, 0.10};
    char grade = 'A';

    if (!m->probed)
        return '?';
    for (int i = 0; i < 3; i++)
        grade = (char)(grade + (m->noise > above[i]));
    return grade;
}
