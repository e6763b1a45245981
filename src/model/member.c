/* member.c - a small network: a layer, two blocks that add to what they are
 * given, one number. */
#include "model/member.h"

#include <math.h>
#include <string.h>

void sp_member_make(sp_member *m, sp_nn *nn, const char *name)
{
    char full[SP_NN_NAME];

    m->scaler = sp_scaler_make(nn, name, SP_FEATURES);
    snprintf(full, sizeof full, "%s.first", name);
    m->first = sp_dense_make(nn, full, SP_FEATURES, SP_MEMBER_WIDTH, 1);
    for (int i = 0; i < SP_MEMBER_BLOCKS; i++) {
        snprintf(full, sizeof full, "%s.block%d", name, i);
        m->block[i] =
            sp_dense_make(nn, full, SP_MEMBER_WIDTH, SP_MEMBER_WIDTH, 1);
    }
    snprintf(full, sizeof full, "%s.last", name);
    m->last = sp_dense_make(nn, full, SP_MEMBER_WIDTH, 1, 1);
}

int sp_member_known(const sp_nn *nn, const char *name)
{
    size_t length = strlen(name);
    const char *at;

    for (int i = 0; sp_nn_at(nn, i, &at); i++)
        if (strncmp(at, name, length) == 0 && at[length] == '.')
            return 1;
    return 0;
}

sp_tensor *sp_member_pass(sp_tape *t, const void *member, const float *x,
                          int64_t rows)
{
    const sp_member *m = member;
    sp_tensor *h = sp_nn_input(t, SP_SHAPE(rows, SP_FEATURES), NULL);

    if (h)
        sp_scaler_apply(h->value, &m->scaler, x, rows, SP_FEATURES);
    h = sp_nn_relu(t, sp_nn_dense(t, &m->first, h));
    for (int i = 0; i < SP_MEMBER_BLOCKS; i++)
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

static line line_through(const sp_lesson_table *t, const float *score)
{
    double xy = 0, xx = 0, off = 0;
    line is = {1, 0};

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
        is.slope = fmin(1, fmax(0.2, xy / xx));
    for (int64_t i = 0; i < t->rows; i++)
        off += (double)t->slower[i] - is.slope * (double)score[i];
    is.level = off / fmax(1, (double)t->rows);
    return is;
}

static spry_status set_scale(sp_member *m, const sp_lesson_table *t,
                             int threads)
{
    float *score = sp_alloc(t->rows + 1, sizeof *score);
    spry_status s;
    line is;

    if (!score)
        return sp_fail_memory((size_t)t->rows * sizeof *score);
    s = sp_net_table(score, t, m, sp_member_pass, threads);
    if (s == SPRY_OK) {
        is = line_through(t, score);
        for (int64_t i = 0; i < m->last.weight->size; i++)
            m->last.weight->value[i] *= (float)is.slope;
        m->last.bias->value[0] =
            (float)(is.slope * (double)m->last.bias->value[0] + is.level);
    }
    sp_free(score);
    return s;
}

spry_status sp_member_learn(sp_member *m, sp_nn *nn, const sp_lesson *l,
                            const sp_lesson_table *train,
                            const sp_lesson_table *test)
{
    sp_net_lesson is = {
        .l = l,
        .train = train,
        .test = test,
        .target = train->slower,
        .nn = nn,
        .net = m,
        .pass = sp_member_pass,
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
    s = sp_net_learn(&is);
    return s == SPRY_OK ? set_scale(m, test->rows ? test : train, l->threads)
                        : s;
}
