/* plain.c - how long the plain loop takes. */
#include "model/plain.h"

#include <math.h>
#include <string.h>

/* Where the bound is not known, for want of the matrix, a nanosecond for each
 * product: what the trees make of that is at least seconds. */
double sp_plain_log(const sp_subject *s)
{
    double products = (double)s->task.nnz * fmax(1, (double)s->task.n);

    return isfinite(s->plain)
               ? log(s->plain)
               : log(1e-9 * (products + (double)s->task.rows + 1));
}

typedef struct {
    float *x, *label;
    int64_t rows;
} baselines;

static double baseline_slopes(float *slope, float *curve, const float *sum,
                              void *at)
{
    const baselines *b = at;

    for (int64_t i = 0; i < b->rows; i++) {
        slope[i] = sum[i] - b->label[i];
        curve[i] = 1;
    }
    return 0;
}

static double no_judge(const float *sum, int round, double loss, int *stop,
                       void *at)
{
    (void)sum;
    (void)round;
    (void)loss;
    (void)stop;
    (void)at;
    return 0;
}

static void list_baselines(baselines *b, const sp_examples *e)
{
    for (int64_t i = 0; i < e->subjects; i++) {
        const sp_subject *s = &e->subject[i];
        double log_seconds = sp_baseline_of(e, i);
        float *x = b->x + b->rows * SP_PLAIN_FEATURES;

        if (!isfinite(log_seconds))
            continue;
        memcpy(x, s->pattern, sizeof s->pattern);
        memcpy(x + SP_PATTERN, s->machine, sizeof s->machine);
        b->label[b->rows++] = (float)(log_seconds - sp_plain_log(s));
    }
}

/* One leaf that adds nothing. */
static spry_status no_tree(sp_trees *out)
{
    spry_status s = sp_trees_new(out, SP_PLAIN_FEATURES, 1, 1);

    if (s == SPRY_OK) {
        out->start[1] = 1;
        out->node[0].feature = -1;
    }
    return s;
}

/* How wrong the bound of the plain loop is; nothing where no baseline was
 * measured. */
spry_status sp_plain_grow(sp_trees *out, const sp_fitting *l)
{
    static const char *const setting[][2] = {
        {"tree_method", "hist"},   {"max_depth", "3"},   {"eta", "0.1"},
        {"min_child_weight", "3"}, {"subsample", "0.8"}, {NULL, NULL}};
    int64_t most = l->train->subjects + 1;
    baselines b = {sp_alloc(most, SP_PLAIN_FEATURES * sizeof(float)),
                   sp_alloc(most, sizeof(float)), 0};
    sp_growing g = {.features = SP_PLAIN_FEATURES,
                    .setting = setting,
                    .rounds = 60,
                    .threads = l->threads,
                    .seed = l->seed,
                    .slopes = baseline_slopes,
                    .judge = no_judge,
                    .payload = &b};
    spry_status s;

    if (b.x && b.label) {
        list_baselines(&b, l->train);
        g.train = (sp_boost_data){b.x, NULL, b.rows};
        s = b.rows >= 4 ? sp_trees_grow(out, &g) : no_tree(out);
    } else
        s = sp_fail_memory((size_t)most * SP_PLAIN_FEATURES * sizeof(float));
    sp_free(b.x);
    sp_free(b.label);
    return s;
}
