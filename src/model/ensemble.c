/* ensemble.c - trees for the order of schedules and for their time together.
 *
 * A few members are grown, every tree from other rows and features: what one
 * takes for a rule and was chance, the others do not know, and the mean is
 * better than any of them. */
#include "model/ensemble.h"

#include <math.h>
#include <string.h>

enum { MEMBERS = 4 };

typedef struct {
    const sp_fitting *l;
    const sp_dataset *train, *test;
    float *weight; /* [train rows] */
    int member;    /* that is grown now */
    int laps;      /* of all members */
    int ended;     /* somebody said stop */
    double begin;
} work;

/* Huber on the time, and the rank. */
static double slopes(float *slope, float *curve, const float *sum, void *at)
{
    const double far = 1, rank = 1;
    work *w = at;
    double loss = 0;

    for (int64_t i = 0; i < w->train->rows; i++) {
        double d = (double)sum[i] - (double)w->train->slower[i];
        double weight = (double)w->weight[i];

        slope[i] = (float)(weight * fmax(-far, fmin(far, d)));
        curve[i] = (float)weight;
        loss += weight * fmin(fabs(d), d * d);
    }
    loss /= (double)w->train->rows;
    return loss + sp_rank_slopes(slope, curve, sum, w->train, rank);
}

static double judge(const float *sum, int round, double loss, int *stop,
                    void *at)
{
    work *w = at;
    sp_lap lap = {++w->laps, loss, nan(""), 0};
    double regret = sum ? sp_dataset_regret(w->test, sum, &lap.regret) : 0;
    double share = (w->member + 1) / (double)MEMBERS;

    (void)round;
    w->ended |= sp_fitting_note(w->l, w->begin, &lap);
    *stop = w->ended || (w->l->seconds > 0 &&
                         sp_seconds() - w->begin > share * w->l->seconds);
    return regret;
}

static spry_status grow_member(sp_trees *out, work *w)
{
    static const char *const setting[][2] = {{"tree_method", "hist"},
                                             {"max_depth", "6"},
                                             {"eta", "0.06"},
                                             {"min_child_weight", "8"},
                                             {"subsample", "0.8"},
                                             {"colsample_bytree", "0.7"},
                                             {"lambda", "2"},
                                             {"colsample_bynode", "0.3"},
                                             {NULL, NULL}};
    sp_growing g = {
        .train = {w->train->x, w->train->bound, w->train->rows},
        .test = {w->test->x, w->test->bound, w->test->rows},
        .features = SP_FEATURES,
        .setting = setting,
        .least = 80, /* a small test is no judge of fewer */
        .rounds = w->l->rounds ? w->l->rounds : 250,
        .patience = 80,
        .threads = w->l->threads,
        .seed = w->l->seed + 1000 * (uint64_t)w->member,
        .slopes = slopes,
        .judge = judge,
        .payload = w,
    };

    return sp_trees_grow(out, &g);
}

/* The first `grown` one after another, as the mean of them. */
static spry_status join_members(sp_trees *out, const sp_trees *part, int grown)
{
    int64_t nodes = 0;
    int trees = 0;
    spry_status s;

    for (int k = 0; k < grown; k++) {
        trees += part[k].trees;
        nodes += part[k].start[part[k].trees];
    }
    s = sp_trees_new(out, SP_FEATURES, trees, nodes);
    if (s != SPRY_OK)
        return s;
    nodes = trees = 0;
    for (int k = 0; k < grown; k++) {
        int64_t own = part[k].start[part[k].trees];

        memcpy(out->node + nodes, part[k].node,
               (size_t)own * sizeof *out->node);
        for (int t = 1; t <= part[k].trees; t++)
            out->start[++trees] = nodes + part[k].start[t];
        nodes += own;
    }
    for (int64_t i = 0; i < nodes; i++)
        if (out->node[i].feature < 0)
            out->node[i].value /= (float)grown;
    return SPRY_OK;
}

spry_status sp_ensemble_grow(sp_trees *out, const sp_dataset *train,
                             const sp_dataset *test, const sp_fitting *l)
{
    work w = {.l = l, .train = train, .test = test, .begin = sp_seconds()};
    sp_trees part[MEMBERS] = {{0}};
    spry_status s = SPRY_OK;

    *out = (sp_trees){0};
    w.weight = sp_alloc(train->rows + 1, sizeof *w.weight);
    if (!w.weight)
        return sp_fail_memory((size_t)train->rows * sizeof *w.weight);
    sp_dataset_weigh(w.weight, w.train);
    for (; w.member < MEMBERS && s == SPRY_OK && !w.ended; w.member++)
        s = grow_member(&part[w.member], &w);
    if (s == SPRY_OK)
        s = join_members(out, part, w.member);
    for (int k = 0; k < MEMBERS; k++)
        sp_trees_free(&part[k]);
    sp_free(w.weight);
    return s;
}
