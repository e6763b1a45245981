/* rank.c - a loss over pairs: the faster of two must have the lower score. */
#include <math.h>

#include "model/dataset.h"

/* Pairs closer than the clock can tell are not compared; of many rows each
 * meets so many others; the weight halves with every so much that the faster
 * of two is slower than the best. */
static const double closest = 0.02, halved = 0.35;
enum { OTHERS = 48 };

typedef struct {
    const sp_dataset *t;
    const float *score;
    float *slope, *curve;
    double loss, weight, share;
    double best; /* of the subject */
} ranking;

static void compare(ranking *r, int64_t i, int64_t j)
{
    const sp_dataset *t = r->t;
    double apart = (double)t->slower[i] - (double)t->slower[j];
    double noise = hypot((double)t->noise[i], (double)t->noise[j]);
    int64_t slow = apart > 0 ? i : j, fast = apart > 0 ? j : i;
    double d, p, w;

    if (fabs(apart) <= fmax(closest, noise))
        return;
    w = exp2(-((double)t->slower[fast] - r->best) / halved) + 0.3;
    w *= fmin(1, fabs(apart) / 0.2);
    d = (double)r->score[slow] - (double)r->score[fast];
    p = 1 / (1 + exp(4 * d)); /* of getting it wrong */
    r->loss += w * (d > -8 ? log1p(exp(-4 * d)) : -4 * d);
    r->weight += w;
    r->slope[slow] -= (float)(r->share * w * p);
    r->slope[fast] += (float)(r->share * w * p);
    r->curve[slow] += (float)(r->share * w * 4 * p * (1 - p));
    r->curve[fast] += (float)(r->share * w * 4 * p * (1 - p));
}

static void rank_subject(ranking *r, int64_t from, int64_t to)
{
    int64_t n = to - from, step = n > OTHERS ? n / OTHERS : 1;

    r->best = HUGE_VAL;
    for (int64_t i = from; i < to; i++)
        r->best = fmin(r->best, (double)r->t->slower[i]);
    for (int64_t i = from; i < to; i++)
        for (int64_t j = i + 1 + (step > 1 ? i % step : 0); j < to; j += step)
            compare(r, i, j);
}

double sp_rank_slopes(float *slope, float *curve, const float *score,
                      const sp_dataset *t, double share)
{
    double loss = 0, weight = 0;

    for (int64_t s = 0; s < t->e->subjects; s++) {
        int64_t n = t->start[s + 1] - t->start[s];
        ranking r = {.t = t, .score = score, .slope = slope, .curve = curve};

        r.share = share * 2 / fmax(1, fmin((double)n, OTHERS));
        rank_subject(&r, t->start[s], t->start[s + 1]);
        loss += r.loss;
        weight += r.weight;
    }
    return weight > 0 ? loss / weight : 0;
}
