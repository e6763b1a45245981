/* mlp.c - a network over all features, shaped like TenSet's: two layers of
 * 256, two blocks that add to what they are given, one number. */
#include <math.h>
#include <string.h>

#include "model/kinds.h"
#include "model/net.h"

enum { WIDTH = 256 };

typedef struct {
    sp_scaler scaler;
    sp_dense first, second, block[2], last;
} mlp;

static spry_status make(mlp *n, sp_nn *nn)
{
    n->scaler = sp_scaler_make(nn, "mlp", SP_FEATURES);
    n->first = sp_dense_make(nn, "mlp.first", SP_FEATURES, WIDTH, 1);
    n->second = sp_dense_make(nn, "mlp.second", WIDTH, WIDTH, 1);
    n->block[0] = sp_dense_make(nn, "mlp.block0", WIDTH, WIDTH, 1);
    n->block[1] = sp_dense_make(nn, "mlp.block1", WIDTH, WIDTH, 1);
    n->last = sp_dense_make(nn, "mlp.last", WIDTH, 1, 1);
    return sp_nn_status(nn);
}

static sp_tensor *pass(sp_tape *t, const void *net, const float *x,
                       int64_t rows)
{
    const mlp *n = net;
    sp_tensor *h = sp_nn_input(t, SP_SHAPE(rows, SP_FEATURES), NULL);

    if (h)
        sp_scaler_apply(h->value, &n->scaler, x, rows, SP_FEATURES);
    h = sp_nn_relu(t, sp_nn_dense(t, &n->first, h));
    h = sp_nn_relu(t, sp_nn_dense(t, &n->second, h));
    for (int i = 0; i < 2; i++)
        h = sp_nn_add(t, h, sp_nn_relu(t, sp_nn_dense(t, &n->block[i], h)));
    return sp_nn_dense(t, &n->last, h);
}

static spry_status open(sp_cost *c)
{
    c->inner = sp_alloc(1, sizeof(mlp));
    return c->inner ? make(c->inner, c->nn) : sp_fail_memory(sizeof(mlp));
}

static void close(sp_cost *c)
{
    sp_free(c->inner);
}

static spry_status learn(sp_cost *c, const sp_fitting *l, double begin,
                         const sp_dataset *train, const sp_dataset *test)
{
    mlp *n = c->inner;
    sp_net_fitting fitting = {
        .l = l,
        .train = train,
        .test = test,
        .target = train->slower,
        .nn = c->nn,
        .net = n,
        .pass = pass,
        .epochs = l->rounds ? l->rounds : 50,
        .patience = 20,
        .rate = 7e-4,
        .decay = 1e-6,
        .clip = 0.5,
        .rank = 1,
        .begin = begin,
    };

    sp_scaler_fit(&n->scaler, train, 0);
    return sp_net_learn(&fitting);
}

static spry_status fit(sp_cost *c, const sp_fitting *l)
{
    double begin = sp_seconds();
    sp_dataset train = {0}, test = {0};
    spry_status s = open(c);

    if (s == SPRY_OK)
        s = sp_datasets_new(&train, &test, l);
    if (s == SPRY_OK)
        s = learn(c, l, begin, &train, &test);
    sp_dataset_free(&train);
    sp_dataset_free(&test);
    return s;
}

/* ---- use ---- */

/* Up to `count` of them; what cannot be had is told apart by good[]. */
static spry_status score_few(double *out, sp_view *v, const spry_schedule *x,
                             int count)
{
    enum { FEW = 64 };
    static const float nothing[SP_FEATURES];
    float row[FEW][SP_FEATURES];
    int good[FEW];
    sp_tensor *y;

    for (int i = 0; i < count; i++) {
        good[i] = sp_subject_row(row[i], v->subject, &x[i]);
        if (!good[i])
            memcpy(row[i], nothing, sizeof nothing);
    }
    sp_tape_begin(v->inner, 0);
    y = pass(v->inner, v->cost->inner, row[0], count);
    for (int i = 0; y && i < count; i++)
        out[i] = good[i] ? (double)y->value[i] : HUGE_VAL;
    return sp_tape_status(v->inner);
}

static spry_status score(double *out, sp_view *v, const spry_schedule *x,
                         int64_t count)
{
    enum { FEW = 64 };
    spry_status s = SPRY_OK;

    for (int64_t at = 0; at < count && s == SPRY_OK; at += FEW)
        s = score_few(out + at, v, x + at,
                      (int)(count - at < FEW ? count - at : FEW));
    return s;
}

const sp_cost_kind sp_cost_mlp = {
    .name = "mlp",
    .about = "a network over pattern, machine, schedule and bound",
    .fit = fit,
    .open = open,
    .close = close,
    .look = sp_look_tape,
    .leave = sp_leave_tape,
    .score = score,
};
