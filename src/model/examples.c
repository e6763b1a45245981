/* examples.c - subjects, and how well a model chooses among examples. */
#include "model/cost.h"

#include <math.h>
#include <stdlib.h>

#include "model/internal.h"

spry_status sp_subject_of(sp_subject *out, const sp_sparse *p,
                          const spry_machine *m)
{
    spry_schedule plain =
        spry_schedule_baseline(m->threads > 1 ? m->threads : 1);
    spry_prediction t;
    spry_status s = sp_features_pattern(out->pattern, p);

    if (s == SPRY_OK)
        s = sp_predict(&t, p, &plain, m);
    if (s != SPRY_OK)
        return s;
    sp_features_machine(out->machine, m);
    out->task = (sp_problem_shape){p->op,      p->type,    p->n,
                                   p->A->rows, p->A->cols, p->A->nnz};
    out->plain = fmax(t.seconds, 1e-12);
    out->p = p;
    out->m = m;
    return SPRY_OK;
}

void sp_subject_bare(sp_subject *out, const sp_problem_shape *k,
                     const spry_machine *m)
{
    *out = (sp_subject){.task = *k, .plain = (double)NAN, .m = m};
    sp_features_shape(out->pattern, k);
    sp_features_machine(out->machine, m);
}

/* ---- regret ---- */

typedef struct {
    double score, log_seconds;
} choice;

/* By score; of equal ones the slower comes first: ties earn nothing. */
static int by_score(const void *a, const void *b)
{
    const choice *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return (x->log_seconds < y->log_seconds) -
           (x->log_seconds > y->log_seconds);
}

/* The timed rows of a subject in the order of their scores; returns how many
 * and the least of their times. */
static int64_t in_order(choice *out, double *best, const sp_examples *e,
                        const double *score, int64_t subject)
{
    int64_t count = 0;

    *best = HUGE_VAL;
    for (int64_t i = e->start[subject]; i < e->start[subject + 1]; i++)
        if (isfinite(e->row[i].log_seconds)) {
            out[count++] = (choice){isnan(score[i]) ? HUGE_VAL : score[i],
                                    e->row[i].log_seconds};
            *best = fmin(*best, e->row[i].log_seconds);
        }
    qsort(out, (size_t)count, sizeof *out, by_score);
    return count;
}

/* What one subject's order costs. */
typedef double regret_of(const choice *in_order, int64_t count, double best,
                         int k);

static double best_of(const choice *c, int64_t count, double best, int k)
{
    double least = HUGE_VAL;

    for (int64_t i = 0; i < count && i < k; i++)
        least = fmin(least, c[i].log_seconds);
    return least - best;
}

static double each_of(const choice *c, int64_t count, double best, int k)
{
    const double fade = 0.8;
    double sum = 0, all = 0, weight = 1;

    for (int64_t i = 0; i < count && i < k; i++) {
        sum += weight * (c[i].log_seconds - best);
        all += weight;
        weight *= fade;
    }
    return sum / all;
}

static double mean_over_subjects(const sp_examples *e, const double *score,
                                 int k, regret_of *of)
{
    choice *c = sp_alloc_raw(e->rows + 1, sizeof *c);
    double sum = 0, best;
    int64_t subjects = 0;

    for (int64_t s = 0; c && s < e->subjects; s++) {
        int64_t count = in_order(c, &best, e, score, s);

        if (count < 2)
            continue;
        sum += of(c, count, best, k);
        subjects++;
    }
    sp_free(c);
    return subjects ? sum / (double)subjects : nan("");
}

double sp_examples_regret(const sp_examples *e, const double *score, int k)
{
    return mean_over_subjects(e, score, k, best_of);
}

double sp_examples_mean_regret(const sp_examples *e, const double *score)
{
    return mean_over_subjects(e, score, 20, each_of);
}
