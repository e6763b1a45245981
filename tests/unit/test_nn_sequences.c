/* test_nn_sequences.c - LSTM and attention: values known by heart, slopes by
 * differences, rows of unequal length. */
#include "nn_gradient.h"

#include <string.h>

#include "base/base.h"

/* ---- lstm ---- */

typedef struct {
    sp_lstm l[2];
    sp_tensor *x;
    const int32_t *length;
    int reverse;
} reader;

static sp_tensor *run_lstm(sp_tape *t, void *arg)
{
    reader *r = arg;

    return sp_nn_lstm(t, &r->l[0], r->x, r->length, r->reverse);
}

static sp_tensor *run_bilstm(sp_tape *t, void *arg)
{
    reader *r = arg;

    return sp_nn_bilstm(t, r->l, r->x, r->length);
}

static void test_lstm(void **state)
{
    static const int32_t length[] = {4, 1, 3};
    gradient g;
    reader r = {0};

    (void)state;
    gradient_open(&g, 1);
    r.l[0] = sp_lstm_make(g.n, "forward", 3, 2);
    r.l[1] = sp_lstm_make(g.n, "reverse", 3, 2);
    r.x = gradient_input(&g, "x", SP_SHAPE(4, 3, 3), 1);
    for (int i = 0; i < 4; i++) {
        r.reverse = i % 2;
        r.length = i < 2 ? NULL : length;
        gradient_check(&g, run_lstm, &r);
    }
    gradient_check(&g, run_bilstm, &r);
    gradient_close(&g);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* One number in, one number kept: the equations, in the order of the gates. */
static void test_lstm_values(void **state)
{
    static const float in[] = {0.5f, -1.5f, 0.75f};
    static const double w[] = {0.3, -0.7, 1.1, 0.9},
                        v[] = {0.5, 0.2, -0.4, 1.3};
    static const double b[] = {0.1, 1, -0.2, 0.4};
    double h = 0, c = 0;
    gradient g;
    sp_lstm l;
    sp_tensor *y;

    (void)state;
    gradient_open(&g, 1);
    l = sp_lstm_make(g.n, "l", 1, 1);
    assert_true(l.bias->value[1] == 1 && l.bias->value[0] == 0);
    for (int i = 0; i < 4; i++) {
        l.in->value[i] = (float)w[i];
        l.back->value[i] = (float)v[i];
        l.bias->value[i] = (float)b[i];
    }
    sp_tape_begin(g.t, 0);
    y = sp_nn_lstm(g.t, &l, sp_nn_input(g.t, SP_SHAPE(3, 1, 1), in), NULL, 0);
    for (int s = 0; s < 3; s++) {
        double sum[4];

        for (int i = 0; i < 4; i++)
            sum[i] = w[i] * (double)in[s] + v[i] * h + b[i];
        c = sigmoid(sum[1]) * c + sigmoid(sum[0]) * tanh(sum[2]);
        h = sigmoid(sum[3]) * tanh(c);
        assert_true(fabs((double)y->value[s] - h) < 1e-6);
    }
    gradient_close(&g);
}

/* A sequence gives the same alone as among longer ones, and reading it in
 * reverse is reading its mirror image. */
static void test_lstm_lengths(void **state)
{
    static const int32_t length[] = {2, 4};
    gradient g;
    sp_lstm l;
    sp_tensor *x, *batch, *alone, *mirror, *y, *z;

    (void)state;
    gradient_open(&g, 1);
    l = sp_lstm_make(g.n, "l", 3, 2);
    x = gradient_input(&g, "x", SP_SHAPE(4, 2, 3), 1);
    sp_tape_begin(g.t, 0);
    batch = sp_nn_lstm(g.t, &l, x, length, 1);
    alone = sp_nn_input(g.t, SP_SHAPE(2, 1, 3), NULL);
    mirror = sp_nn_input(g.t, SP_SHAPE(2, 1, 3), NULL);
    for (int s = 0; s < 2; s++) {
        memcpy(alone->value + 3 * s, x->value + 6 * s, 3 * sizeof(float));
        memcpy(mirror->value + 3 * (1 - s), x->value + 6 * s,
               3 * sizeof(float));
    }
    y = sp_nn_lstm(g.t, &l, alone, NULL, 1);
    z = sp_nn_lstm(g.t, &l, mirror, NULL, 0);
    check_ok(sp_tape_status(g.t));
    for (int s = 0; s < 4; s++)
        for (int j = 0; j < 2; j++) {
            float have = batch->value[s * 4 + j];

            assert_true(s < 2 || have == 0);
            assert_true(s >= 2 || fabsf(have - y->value[s * 2 + j]) < 1e-6f);
            assert_true(s >= 2 ||
                        fabsf(have - z->value[(1 - s) * 2 + j]) < 1e-6f);
        }
    gradient_close(&g);
}

/* ---- attention ---- */

typedef struct {
    sp_attention a;
    sp_tensor *x, *source;
    const uint8_t *mask;
    int heads;
} looker;

static sp_tensor *run_attention(sp_tape *t, void *arg)
{
    looker *l = arg;

    return sp_nn_attention(t, &l->a, l->x, l->source, l->mask);
}

static sp_tensor *run_attend_max(sp_tape *t, void *arg)
{
    looker *l = arg;

    return sp_nn_attend_max(t, l->x, l->source, l->heads, l->mask);
}

static const uint8_t some_keys[] = {1, 0, 1, 1, 0, 0, 0, 0};

static void test_attention(void **state)
{
    gradient g;
    looker l = {0};

    (void)state;
    gradient_open(&g, 1);
    l.a = sp_attention_make(g.n, "a", 6, 4, 2);
    l.x = gradient_input(&g, "x", SP_SHAPE(2, 3, 6), 1);
    l.source = gradient_input(&g, "source", SP_SHAPE(2, 4, 4), 1);
    gradient_check(&g, run_attention, &l);
    l.mask = some_keys; /* the second entry of the batch sees nothing */
    gradient_check(&g, run_attention, &l);
    gradient_close(&g);

    gradient_open(&g, 1);
    l = (looker){.a = sp_attention_make(g.n, "self", 6, 6, 3)};
    l.x = l.source = gradient_input(&g, "x", SP_SHAPE(2, 3, 6), 1);
    gradient_check(&g, run_attention, &l);
    gradient_close(&g);
}

static void test_attend_max(void **state)
{
    gradient g;
    looker l = {.heads = 2};
    sp_tensor *y;

    (void)state;
    gradient_open(&g, 1);
    g.step = 0x1p-9; /* the best key stays the best */
    g.tolerance = 5e-3;
    l.x = gradient_input(&g, "x", SP_SHAPE(2, 3, 6), 1);
    l.source = gradient_input(&g, "source", SP_SHAPE(2, 4, 6), 1);
    gradient_check(&g, run_attend_max, &l);
    l.mask = some_keys;
    gradient_check(&g, run_attend_max, &l);
    sp_tape_begin(g.t, 0);
    y = run_attend_max(g.t, &l);
    assert_true(y->value[0] != 0 && y->value[3] == 0); /* sees no key */
    gradient_close(&g);
}

/* With equal scores attention is a mean over what is seen. */
static void test_attention_mean(void **state)
{
    static const float value[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t mask[] = {1, 0, 1, 0};
    gradient g;
    sp_tensor *q, *v, *y;

    (void)state;
    gradient_open(&g, 1);
    sp_tape_begin(g.t, 0);
    q = sp_nn_input(g.t, SP_SHAPE(1, 1, 2), NULL);
    v = sp_nn_input(g.t, SP_SHAPE(1, 4, 2), value);
    for (int heads = 1; heads <= 2; heads++) {
        y = sp_nn_attend(g.t, q, v, v, heads, mask);
        assert_true(y->value[0] == 3 && y->value[1] == 4);
    }
    gradient_close(&g);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lstm),
        cmocka_unit_test(test_lstm_values),
        cmocka_unit_test(test_lstm_lengths),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_attend_max),
        cmocka_unit_test(test_attention_mean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
