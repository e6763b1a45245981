/* loss_rank.c - the order of scores against the order of times. */
#include "nn/losses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/internal.h"

static float *slopes(sp_tape *t, const sp_tensor *score)
{
    float *slope;

    if (!score)
        return sp_tape_refuse(t, "loss: of no scores");
    slope = sp_tape_memory(t, score->size, sizeof *slope);
    if (slope)
        memset(slope, 0, (size_t)score->size * sizeof *slope);
    return slope;
}

/* ---- hinge ---- */

/* 1: a is slower, -1: faster, 0: a tie */
static int sign_of(float a, float b, double tie)
{
    double ratio = log((double)a / (double)b);

    return (ratio > tie) - (ratio < -tie);
}

sp_tensor *sp_loss_hinge(sp_tape *t, sp_tensor *score, const float *seconds,
                         const sp_hinge *h)
{
    float *slope = slopes(t, score);
    double loss = 0, total = 0;
    int64_t n = slope ? score->size : 0, pair = 0;

    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++, pair++) {
            int sign = sign_of(seconds[i], seconds[j], h->tie);
            float weight = h->weight ? h->weight[pair] : 1;
            double apart = (double)(score->value[i] - score->value[j]) * sign;

            if (sign == 0)
                continue;
            total += (double)weight;
            if (apart >= h->margin)
                continue;
            loss += (double)weight * (h->margin - apart);
            slope[i] -= weight * (float)sign;
            slope[j] += weight * (float)sign;
        }
    if (!slope)
        return NULL;
    for (int64_t i = 0; i < n && total > 0; i++)
        slope[i] /= (float)total;
    return sp_loss_known(t, score, total > 0 ? loss / total : 0, slope);
}

/* ---- LambdaRank ---- */

typedef struct {
    float score;
    double gain;
    double discount; /* by the rank of its score */
    int64_t at;
} item;

/* Equal ones keep their order: qsort may not, everywhere. */
static int by_score(const void *a, const void *b)
{
    const item *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int by_gain(const void *a, const void *b)
{
    const item *x = a, *y = b;

    return (x->gain < y->gain) - (x->gain > y->gain);
}

static double discount(int64_t rank)
{
    return 1 / log2((double)rank + 2);
}

static double best_dcg(item *items, int64_t n)
{
    double sum = 0;

    qsort(items, (size_t)n, sizeof *items, by_gain);
    for (int64_t i = 0; i < n; i++)
        sum += items[i].gain * discount(i);
    return sum;
}

/* Items by rank; returns the largest DCG that any order has. */
static double rank_items(item *items, const sp_tensor *score,
                         const float *seconds)
{
    int64_t n = score->size;
    float best = INFINITY;
    double ideal;

    for (int64_t i = 0; i < n; i++)
        best = seconds[i] < best ? seconds[i] : best;
    for (int64_t i = 0; i < n; i++)
        items[i] = (item){score->value[i],
                          exp2((double)best / (double)seconds[i]) - 1, 0, i};
    ideal = best_dcg(items, n);
    qsort(items, (size_t)n, sizeof *items, by_score);
    for (int64_t i = 0; i < n; i++)
        items[i].discount = discount(i);
    return ideal;
}

/* One pair: `a` is the faster and should have the lower score. */
static double pair_loss(float *slope, const item *a, const item *b,
                        double ideal, double sigma)
{
    double weight =
        (a->gain - b->gain) * fabs(a->discount - b->discount) / ideal;
    double x = sigma * ((double)a->score - (double)b->score);
    double push = weight * sigma / (1 + exp(-x));

    slope[a->at] += (float)push;
    slope[b->at] -= (float)push;
    return weight * (x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)));
}

sp_tensor *sp_loss_lambdarank(sp_tape *t, sp_tensor *score,
                              const float *seconds, double sigma)
{
    float *slope = slopes(t, score);
    int64_t n = slope ? score->size : 0;
    item *items = sp_tape_memory(t, n, sizeof *items);
    double ideal, loss = 0;

    if (!slope || !items)
        return NULL;
    ideal = rank_items(items, score, seconds);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (items[i].gain > items[j].gain)
                loss += pair_loss(slope, &items[i], &items[j], ideal, sigma);
    return sp_loss_known(t, score, loss, slope);
}
