/* boost.c - trees over rows of any numbers, for records of others. */
#include <math.h>

#include "transfer.h"

typedef struct {
    const float *label;
    int64_t rows;
} target;

/* Huber: what is far off pulls no harder than what is near. */
static double slopes(float *slope, float *curve, const float *sum, void *at)
{
    const target *t = at;

    for (int64_t i = 0; i < t->rows; i++) {
        double d = (double)sum[i] - (double)t->label[i];

        slope[i] = (float)fmax(-1, fmin(1, d));
        curve[i] = 1;
    }
    return 0;
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

int grow_rows(sp_trees *out, const row_table *r, int rounds)
{
    static const char *const setting[][2] = {
        {"tree_method", "hist"}, {"max_depth", "8"},   {"eta", "0.15"},
        {"lambda", "2"},         {"subsample", "0.8"}, {NULL, NULL}};
    target t = {r->label, r->rows};
    sp_growing g = {.train = {r->x, r->margin, r->rows},
                    .features = r->width,
                    .setting = setting,
                    .rounds = rounds,
                    .threads = 1,
                    .seed = 1,
                    .slopes = slopes,
                    .judge = judge,
                    .payload = &t};

    return r->rows > 1 && sp_trees_grow(out, &g) == SPRY_OK;
}
