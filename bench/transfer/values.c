/* values.c - what orders are worth, problem by problem. */
#include <math.h>
#include <stdlib.h>

#include "transfer.h"

typedef struct {
    double score, slower;
} choice;

static int by_score(const void *a, const void *b)
{
    const choice *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return (x->slower < y->slower) - (x->slower > y->slower);
}

static double pairs_right(const choice *c, int64_t n)
{
    double right = 0;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            int told = (c[i].score < c[j].score) - (c[i].score > c[j].score);
            int order =
                (c[i].slower < c[j].slower) - (c[i].slower > c[j].slower);

            right += told == 0 || order == 0 ? 0.5 : told == order;
        }
    return right / fmax(1, (double)n * (double)(n - 1) / 2);
}

static double best_of(const choice *c, int64_t n, int64_t k)
{
    double best = HUGE_VAL;

    for (int64_t i = 0; i < n && i < k; i++)
        best = fmin(best, c[i].slower);
    return best;
}

/* Unmeasured, the first choice is taken if it promises 15 %, as a tune of
 * effort predict does; else the plain loop. */
static value grade(choice *c, int64_t n)
{
    const double promise = -log(1.15);
    value v;
    double best = best_of(c, n, n), taken;

    v.pairs = pairs_right(c, n);
    qsort(c, (size_t)n, sizeof *c, by_score);
    v.top1 = exp(best - c[0].slower);
    v.top5 = exp(best - best_of(c, n, 5));
    v.regret20 = best_of(c, n, 20) - best;
    taken = c[0].score < promise ? c[0].slower : 0;
    v.speedup = -taken;
    v.kept = fmin(best, 0) - taken;
    v.slower = taken > log(1.05);
    return v;
}

static int64_t take(choice *c, const sp_dataset *t, const float *score,
                    int64_t subject)
{
    int64_t n = t->start[subject + 1] - t->start[subject];

    for (int64_t i = 0; i < n; i++) {
        int64_t at = t->start[subject] + i;

        c[i] = (choice){score ? (double)score[at] : 0, (double)t->slower[at]};
    }
    return n;
}

value value_of(const sp_dataset *t, const float *score, int64_t subject)
{
    int64_t n = t->start[subject + 1] - t->start[subject];
    choice *c = sp_alloc(n + 1, sizeof *c);
    value v = {.pairs = (double)NAN};

    if (c && n >= 5)
        v = grade(c, take(c, t, score, subject));
    sp_free(c);
    return v;
}

value value_of_chance(const sp_dataset *t, int64_t subject)
{
    enum { TIMES = 20 };
    int64_t n = t->start[subject + 1] - t->start[subject];
    choice *c = sp_alloc(n + 1, sizeof *c);
    sp_rng r = sp_rng_seed((uint64_t)subject + 1);
    value sum = {0};

    if (!c || n < 5)
        sum.pairs = (double)NAN;
    for (int k = 0; c && n >= 5 && k < TIMES; k++) {
        value v;

        take(c, t, NULL, subject);
        for (int64_t i = 0; i < n; i++)
            c[i].score = -1 - sp_rng_unit(&r);
        v = grade(c, n);
        sum.pairs += v.pairs / TIMES;
        sum.top1 += v.top1 / TIMES;
        sum.top5 += v.top5 / TIMES;
        sum.regret20 += v.regret20 / TIMES;
        sum.kept += v.kept / TIMES;
        sum.slower += v.slower / TIMES;
        sum.speedup += v.speedup / TIMES;
    }
    sp_free(c);
    return sum;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

interval interval_of(const double *v, int64_t n)
{
    enum { AGAIN = 1000, TAIL = AGAIN / 40 };
    double mean[AGAIN], sum = 0;
    sp_rng r = sp_rng_seed(1);

    if (n == 0)
        return (interval){(double)NAN, (double)NAN, (double)NAN};
    for (int64_t i = 0; i < n; i++)
        sum += v[i];
    for (int k = 0; k < AGAIN; k++) {
        mean[k] = 0;
        for (int64_t i = 0; i < n; i++)
            mean[k] += v[sp_rng_below(&r, (uint64_t)n)] / (double)n;
    }
    qsort(mean, AGAIN, sizeof *mean, ascending);
    return (interval){sum / (double)n, mean[TAIL], mean[AGAIN - 1 - TAIL]};
}
