/* residual.c - few small trees on what a source gets wrong here. */
#include <math.h>

#include "adapt/adapt.h"

typedef struct {
    const sp_dataset *t;
    float *weight;
} work;

static double slopes(float *slope, float *curve, const float *sum, void *at)
{
    const double far = 1;
    work *w = at;
    double loss = 0;

    for (int64_t i = 0; i < w->t->rows; i++) {
        double d = (double)sum[i] - (double)w->t->slower[i];

        slope[i] = w->weight[i] * (float)fmax(-far, fmin(far, d));
        curve[i] = w->weight[i];
        loss += (double)w->weight[i] * fmin(fabs(d), d * d);
    }
    return loss / (double)w->t->rows +
           sp_rank_slopes(slope, curve, sum, w->t, 1);
}

static double judge(const float *sum, int round, double loss, int *stop,
                    void *at)
{
    (void)sum;
    (void)round;
    (void)loss;
    (void)at;
    *stop = 0;
    return 0;
}

/* Rows that are worth a second thread: fewer are waited for longer than they
 * take. */
enum { MANY = 8192 };

spry_status sp_residual_grow(sp_trees *out, const sp_dataset *t,
                             const float *margin, const sp_residual *how)
{
    char depth[16], rate[32], lambda[32];
    const char *const setting[][2] = {
        {"tree_method", "hist"}, {"max_depth", depth},
        {"eta", rate},           {"min_child_weight", "4"},
        {"subsample", "0.8"},    {"colsample_bytree", "0.5"},
        {"lambda", lambda},      {NULL, NULL}};
    work w = {t, sp_alloc(t->rows + 1, sizeof(float))};
    sp_growing g = {.train = {t->x, margin, t->rows},
                    .features = SP_FEATURES,
                    .setting = setting,
                    .rounds = how->rounds,
                    .threads = t->rows < MANY ? 1 : how->threads,
                    .seed = how->seed,
                    .slopes = slopes,
                    .judge = judge,
                    .payload = &w};
    spry_status s;

    if (!w.weight)
        return sp_fail_memory((size_t)t->rows * sizeof(float));
    snprintf(depth, sizeof depth, "%d", how->depth);
    snprintf(rate, sizeof rate, "%g", how->rate);
    snprintf(lambda, sizeof lambda, "%g", how->lambda);
    sp_dataset_weigh(w.weight, w.t);
    s = sp_trees_grow(out, &g);
    sp_free(w.weight);
    return s;
}
