/* examples.c - subjects, and how well a model chooses among examples. */
#include "model/cost.h"

#include <math.h>

#include "model/internal.h"

spry_status sp_subject_of(sp_subject *out, const spry_problem *p,
                          const spry_machine *m)
{
    spry_schedule plain =
        spry_schedule_baseline(m->threads > 1 ? m->threads : 1);
    spry_prediction t;
    spry_status s = sp_features_pattern(out->pattern, p);

    if (s == SPRY_OK)
        s = spry_predict(&t, p, &plain, m);
    if (s != SPRY_OK)
        return s;
    sp_features_machine(out->machine, m);
    out->task =
        (sp_task){p->op, p->type, p->n, p->A->rows, p->A->cols, p->A->nnz};
    out->plain = fmax(t.seconds, 1e-12);
    out->p = p;
    out->m = m;
    return SPRY_OK;
}

void sp_subject_bare(sp_subject *out, const sp_task *k, const spry_machine *m)
{
    *out = (sp_subject){.task = *k, .plain = NAN, .m = m};
    sp_features_shape(out->pattern, k);
    sp_features_machine(out->machine, m);
}

/* ---- regret ---- */

/* Of the rows that were timed: the least time of all, and of the k best
 * scored. 0 when there are fewer than two. */
static int best_of(double *all, double *chosen, const sp_example *row,
                   const double *score, int64_t rows, int k)
{
    double last = -HUGE_VAL;
    int64_t timed = 0;

    *all = *chosen = HUGE_VAL;
    for (int64_t i = 0; i < rows; i++)
        if (row[i].verdict == 0) {
            *all = fmin(*all, row[i].log_seconds);
            timed++;
        }
    /* One score after the other; equal ones are chosen by the last of them. */
    for (int rank = 0; rank < k && timed > 0;) {
        double next = HUGE_VAL, slowest = -HUGE_VAL;
        int equal = 0;

        for (int64_t i = 0; i < rows; i++)
            if (row[i].verdict == 0 && score[i] > last && score[i] < next)
                next = score[i];
        for (int64_t i = 0; i < rows; i++)
            if (row[i].verdict == 0 &&
                (score[i] == next ||
                 (next == HUGE_VAL && !(score[i] <= last)))) {
                slowest = fmax(slowest, row[i].log_seconds);
                equal++;
            }
        if (equal == 0)
            break;
        *chosen = fmin(*chosen, slowest);
        last = next;
        rank += equal;
    }
    return timed > 1;
}

double sp_examples_regret(const sp_examples *e, const double *score, int k)
{
    double sum = 0, all, chosen;
    int64_t count = 0;

    for (int64_t s = 0; s < e->subjects; s++) {
        int64_t at = e->start[s];

        if (!best_of(&all, &chosen, e->row + at, score + at,
                     e->start[s + 1] - at, k))
            continue;
        sum += chosen - all;
        count++;
    }
    return count ? sum / (double)count : nan("");
}
