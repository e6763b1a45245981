/* simulate.c - records of a machine that is not there.
 *
 * What was measured keeps all that the analytic model does not know; what the
 * model does know of a machine, its caches, vectors, threads and memory,
 * changes from the real one to the imagined one. */
#include <math.h>
#include <string.h>

#include "adapt/adapt.h"

static void imagine(spry_machine *m, const spry_machine *real,
                    const sp_imagined *how)
{
    double cores = fmax(1, round(real->threads * how->cores));

    *m = *real;
    snprintf(m->name, sizeof m->name, "simulated from %.60s", real->name);
    snprintf(m->fingerprint, sizeof m->fingerprint, "sim%02x%02x%02x%02x%02x",
             (int)(16 * how->cores) & 255, (int)(16 * how->bandwidth) & 255,
             (int)(16 * how->latency) & 255, (int)(16 * how->caches) & 255,
             (int)(16 * how->vectors) & 255);
    for (int i = 0; i < SPRY_CACHES; i++) {
        m->cache[i].bytes = (int64_t)((double)m->cache[i].bytes * how->caches);
        m->measured[i] = (int64_t)((double)m->measured[i] * how->caches);
        m->cache_read[i] *= sqrt(how->bandwidth);
    }
    for (int i = 0; i < m->points; i++) {
        m->read[i] *= how->bandwidth;
        m->triad[i] *= how->bandwidth;
        m->lines[i] /= how->latency;
        m->lines_small[i] /= how->latency;
    }
    for (int i = 1; i <= SPRY_CACHES; i++)
        m->latency[i] *= how->latency;
    m->latency_small *= how->latency;
    m->fma_f32 *= how->vectors;
    m->fma_f64 *= how->vectors;
    m->threads = (int)cores;
    m->cores = m->cores > m->threads ? m->cores : m->threads;
    if (how->vectors < 1 && m->isa == SPRY_AVX512)
        m->isa = SPRY_AVX2;
    else if (how->vectors < 1 && m->isa == SPRY_AVX2)
        m->isa = SPRY_SSE2;
}

/* Subjects on m, and the same rows. */
static spry_status move_subjects(sp_examples *e, const spry_machine *m)
{
    spry_status s = SPRY_OK;

    for (int64_t k = 0; k < e->subjects && s == SPRY_OK; k++) {
        sp_subject *subject = &e->subject[k];

        if (subject->p)
            s = sp_subject_of(subject, subject->p, m);
        else
            subject->m = NULL;
    }
    return s;
}

/* Where row i of the new table came from, and what it takes there. */
static void set_times(sp_slice *out, const sp_dataset *t)
{
    sp_dataset *new = &out->t;

    for (int64_t i = 0; i < new->rows; i++) {
        int64_t from = new->from[i]; /* a slice's rows are its examples */

        new->slower[i] = t->slower[from] + new->bound[i] - t->bound[from];
        out->e.row[from].log_speedup = -(double)new->slower[i];
        out->e.row[from].log_seconds =
            log(out->e.subject[out->e.row[from].subject].plain) +
            (double)new->slower[i];
    }
}

spry_status sp_simulate(sp_slice *out, spry_machine *m, const sp_dataset *t,
                        const sp_imagined *how)
{
    const sp_dataset *one[] = {t};
    const spry_machine *real = NULL;
    sp_slice copy;
    spry_status s;

    memset(out, 0, sizeof *out);
    for (int64_t k = 0; k < t->e->subjects && !real; k++)
        real = t->e->subject[k].m;
    if (!real)
        return sp_fail(SPRY_USAGE, "the machine of these records is not known");
    imagine(m, real, how);
    s = sp_slice_join(&copy, one, 1);
    if (s != SPRY_OK)
        return s;
    s = move_subjects(&copy.e, m);
    out->e = copy.e;
    if (s == SPRY_OK)
        s = sp_dataset_new(&out->t, &out->e, 1);
    if (s == SPRY_OK)
        set_times(out, &copy.t);
    memset(&copy.e, 0, sizeof copy.e); /* out has them */
    sp_slice_free(&copy);
    if (s != SPRY_OK)
        sp_slice_free(out);
    return s;
}

double sp_formula(const sp_imagined *how)
{
    return how->latency / (how->cores * how->bandwidth);
}

int64_t sp_formula_reranks(const sp_dataset *t, const sp_imagined *how)
{
    double factor = log(sp_formula(how));
    int64_t changed = 0;

    for (int64_t s = 0; s < t->e->subjects; s++)
        for (int64_t i = t->start[s]; i < t->start[s + 1]; i++)
            for (int64_t j = i + 1; j < t->start[s + 1]; j++) {
                double a = (double)t->slower[i], b = (double)t->slower[j];
                double there = (a + factor) - (b + factor);

                changed += (a > b) != (there > 0);
            }
    return changed;
}
