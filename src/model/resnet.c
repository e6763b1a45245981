/* resnet.c - a small network: a layer, two blocks that add to what they are
 * given, one number. */
#include "model/resnet.h"

#include <math.h>
#include <string.h>

void sp_resnet_make(sp_resnet *m, sp_nn *nn, const char *name)
{
    char full[SP_NN_NAME];

    m->scaler = sp_scaler_make(nn, name, SP_FEATURES);
    snprintf(full, sizeof full, "%s.first", name);
    m->first = sp_dense_make(nn, full, SP_FEATURES, SP_RESNET_WIDTH, 1);
    for (int i = 0; i < SP_RESNET_BLOCKS; i++) {
        snprintf(full, sizeof full, "%s.block%d", name, i);
        m->block[i] =
            sp_dense_make(nn, full, SP_RESNET_WIDTH, SP_RESNET_WIDTH, 1);
    }
    snprintf(full, sizeof full, "%s.last", name);
    m->last = sp_dense_make(nn, full, SP_RESNET_WIDTH, 1, 1);
}

int sp_resnet_known(const sp_nn *nn, const char *name)
{
    size_t length = strlen(name);
    const char *at;

    for (int i = 0; sp_nn_at(nn, i, &at); i++)
        if (strncmp(at, name, length) == 0 && at[length] == '.')
            return 1;
    return 0;
}

sp_tensor *sp_resnet_pass(sp_tape *t, const void *net, const float *x,
                          int64_t rows)
{
    const sp_resnet *m = net;
    sp_tensor *h = sp_nn_input(t, SP_SHAPE(rows, SP_FEATURES), NULL);

    if (h)
        sp_scaler_apply(h->value, &m->scaler, x, rows, SP_FEATURES);
    h = sp_nn_relu(t, sp_nn_dense(t, &m->first, h));
    for (int i = 0; i < SP_RESNET_BLOCKS; i++)
        h = sp_nn_add(t, h, sp_nn_relu(t, sp_nn_dense(t, &m->block[i], h)));
    return sp_nn_dense(t, &m->last, h);
}

/* ---- scale ----
 *
 * A loss over ranks pulls scores apart; as logarithms of time they are brought
 * back by a line through what was not learned from. */

typedef struct {
    double slope, level;
} line;

static line line_through(const sp_dataset *t, const float *score)
{
    double xy = 0, xx = 0, off = 0;
    line fit = {1, 0};

    for (int64_t s = 0; s < t->e->subjects; s++) {
        int64_t from = t->start[s], to = t->start[s + 1];
        double x = 0, y = 0, n = fmax(1, (double)(to - from));

        for (int64_t i = from; i < to; i++) {
            x += (double)score[i] / n;
            y += (double)t->slower[i] / n;
        }
        for (int64_t i = from; i < to; i++) {
            xy += ((double)score[i] - x) * ((double)t->slower[i] - y);
            xx += ((double)score[i] - x) * ((double)score[i] - x);
        }
    }
    if (xx > 0 && xy > 0)
        fit.slope = fmin(1, fmax(0.2, xy / xx));
    for (int64_t i = 0; i < t->rows; i++)
        off += (double)t->slower[i] - fit.slope * (double)score[i];
    fit.level = off / fmax(1, (double)t->rows);
    return fit;
}

static spry_status set_scale(sp_resnet *m, const sp_dataset *t, int threads)
{
    float *score = sp_alloc(t->rows + 1, sizeof *score);
    spry_status s;
    line fit;

    if (!score)
        return sp_fail_memory((size_t)t->rows * sizeof *score);
    s = sp_net_table(score, t, m, sp_resnet_pass, threads);
    if (s == SPRY_OK) {
        fit = line_through(t, score);
        for (int64_t i = 0; i < m->last.weight->size; i++)
            m->last.weight->value[i] *= (float)fit.slope;
        m->last.bias->value[0] =
            (float)(fit.slope * (double)m->last.bias->value[0] + fit.level);
    }
    sp_free(score);
    return s;
}

spry_status sp_resnet_learn(sp_resnet *m, sp_nn *nn, const sp_fitting *l,
                            const sp_dataset *train, const sp_dataset *test)
{
    sp_net_fitting fitting = {
        .l = l,
        .train = train,
        .test = test,
        .target = train->slower,
        .nn = nn,
        .net = m,
        .pass = sp_resnet_pass,
        .epochs = l->rounds ? l->rounds : 50,
        .patience = 20,
        .rate = 1e-3,
        .decay = 1e-6,
        .clip = 0.5,
        .rank = 1,
        .begin = sp_seconds(),
    };
    spry_status s;

    sp_scaler_fit(&m->scaler, train, 0);
    s = sp_net_learn(&fitting);
    return s == SPRY_OK ? set_scale(m, test->rows ? test : train, l->threads)
                        : s;
}
