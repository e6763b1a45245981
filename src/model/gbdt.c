/* gbdt.c - boosted trees with the settings that others published.
 *
 * gbdt: TenSet's XGBoost tuner, level by level; gbdt-leaf: its LightGBM one,
 * leaf by leaf over histograms (bagging every round, where LightGBM has every
 * fourth). The label is theirs too: the best time of the problem over this
 * one's, squared error. */
#include <math.h>

#include "model/dataset.h"
#include "model/kinds.h"
#include "model/trees.h"

typedef struct {
    const sp_fitting *l;
    sp_dataset train, test;
    float *label; /* [train.rows] */
    float *score; /* [test.rows] */
    double begin;
} work;

/* Best of the subject over this one: 1 is the best there is. */
static void label_rows(work *w)
{
    const sp_dataset *t = &w->train;

    for (int64_t s = 0; s < t->e->subjects; s++) {
        double best = HUGE_VAL;

        for (int64_t i = t->start[s]; i < t->start[s + 1]; i++)
            best = fmin(best, (double)t->slower[i]);
        for (int64_t i = t->start[s]; i < t->start[s + 1]; i++)
            w->label[i] = (float)exp(best - (double)t->slower[i]);
    }
}

static double slopes(float *slope, float *curve, const float *sum, void *at)
{
    work *w = at;
    double loss = 0;

    for (int64_t i = 0; i < w->train.rows; i++) {
        slope[i] = sum[i] - w->label[i];
        curve[i] = 1;
        loss += (double)(slope[i] * slope[i]);
    }
    return sqrt(loss / (double)w->train.rows);
}

static double judge(const float *sum, int round, double loss, int *stop,
                    void *at)
{
    work *w = at;
    sp_lap lap = {round, loss, nan(""), 0};
    double regret = 0;

    if (sum) {
        for (int64_t i = 0; i < w->test.rows; i++)
            w->score[i] = -sum[i];
        regret = sp_dataset_regret(&w->test, w->score, &lap.regret);
    }
    *stop = sp_fitting_note(w->l, w->begin, &lap);
    return regret;
}

/* Sums begin here, as they do for TenSet. */
static const float beginning = 0.5F;

static spry_status grow(sp_trees *out, work *w, const char *const (*setting)[2],
                        int rounds)
{
    int64_t most = w->train.rows > w->test.rows ? w->train.rows : w->test.rows;
    float *margin = sp_alloc(most + 1, sizeof *margin);
    sp_growing g = {
        .train = {w->train.x, margin, w->train.rows},
        .test = {w->test.x, margin, w->test.rows},
        .features = SP_FEATURES,
        .setting = setting,
        .rounds = w->l->rounds ? w->l->rounds : rounds,
        .patience = 100,
        .threads = w->l->threads,
        .seed = w->l->seed,
        .slopes = slopes,
        .judge = judge,
        .payload = w,
    };
    spry_status s;

    w->label = sp_alloc(w->train.rows + 1, sizeof *w->label);
    w->score = sp_alloc(w->test.rows + 1, sizeof *w->score);
    if (margin && w->label && w->score) {
        for (int64_t i = 0; i < most; i++)
            margin[i] = beginning;
        label_rows(w);
        s = sp_trees_grow(out, &g);
    } else
        s = sp_fail_memory((size_t)most * 4);
    sp_free(margin);
    sp_free(w->label);
    sp_free(w->score);
    return s;
}

static spry_status open(sp_cost *c)
{
    sp_trees *t = sp_alloc(1, sizeof *t);

    if (!t)
        return sp_fail_memory(sizeof *t);
    c->inner = t;
    return sp_trees_open(t, c->nn, "trees", SP_FEATURES);
}

static void close(sp_cost *c)
{
    if (c->inner)
        sp_trees_free(c->inner);
    sp_free(c->inner);
}

static spry_status fit(sp_cost *c, const sp_fitting *l,
                       const char *const (*setting)[2], int rounds)
{
    work w = {.l = l, .begin = sp_seconds()};
    sp_trees *t = sp_alloc(1, sizeof *t);
    spry_status s =
        t ? sp_datasets_new(&w.train, &w.test, l) : sp_fail_memory(sizeof *t);

    c->inner = t;
    if (s == SPRY_OK)
        s = grow(t, &w, setting, rounds);
    if (s == SPRY_OK)
        s = sp_trees_keep(c->nn, "trees", t);
    sp_dataset_free(&w.train);
    sp_dataset_free(&w.test);
    return s;
}

static spry_status look(sp_view *v)
{
    (void)v;
    return SPRY_OK;
}

/* A share of the best speed as the logarithm of a time; below a hundredth,
 * where the sum may even be negative, straight on. */
static double as_cost(double speed)
{
    const double least = 0.01;

    return speed > least ? -log(speed) : 1 - log(least) - speed / least;
}

static spry_status score(double *out, sp_view *v, const spry_schedule *x,
                         int64_t count)
{
    float row[SP_FEATURES];

    for (int64_t i = 0; i < count; i++)
        out[i] =
            sp_subject_row(row, v->subject, &x[i])
                ? as_cost((double)beginning + sp_trees_sum(v->cost->inner, row))
                : HUGE_VAL;
    return SPRY_OK;
}

static spry_status fit_levels(sp_cost *c, const sp_fitting *l)
{
    static const char *const setting[][2] = {{"tree_method", "hist"},
                                             {"grow_policy", "depthwise"},
                                             {"max_depth", "6"},
                                             {"gamma", "0.003"},
                                             {"min_child_weight", "2"},
                                             {"eta", "0.2"},
                                             {NULL, NULL}};

    return fit(c, l, setting, 300);
}

static spry_status fit_leaves(sp_cost *c, const sp_fitting *l)
{
    static const char *const setting[][2] = {{"tree_method", "hist"},
                                             {"grow_policy", "lossguide"},
                                             {"max_depth", "0"},
                                             {"max_leaves", "72"},
                                             {"eta", "0.1632095"},
                                             {"colsample_bytree", "0.84375"},
                                             {"subsample", "0.89435"},
                                             {"min_child_weight", "4"},
                                             {NULL, NULL}};

    return fit(c, l, setting, 2000);
}

const sp_cost_kind sp_cost_gbdt = {
    .name = "gbdt",
    .about = "boosted trees, level by level, TenSet's settings",
    .fit = fit_levels,
    .open = open,
    .close = close,
    .look = look,
    .score = score,
};

const sp_cost_kind sp_cost_gbdt_leaf = {
    .name = "gbdt-leaf",
    .about = "boosted trees, leaf by leaf, LightGBM's settings",
    .fit = fit_leaves,
    .open = open,
    .close = close,
    .look = look,
    .score = score,
};
