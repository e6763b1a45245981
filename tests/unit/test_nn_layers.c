/* test_nn_layers.c - every layer: values where they are known by heart, and
 * slopes by differences for every input and every weight. */
#include "nn_gradient.h"

#include <string.h>

#include "base/base.h"

/* Numbers that a step cannot carry over 0. */
static void keep_off_zero(sp_tensor *x)
{
    for (int64_t i = 0; i < x->size; i++)
        x->value[i] += x->value[i] < 0 ? -0.25f : 0.25f;
}

/* ---- functions of one tensor ---- */

typedef struct {
    sp_tensor *(*function)(sp_tape *t, sp_tensor *x);
    sp_tensor *x;
} one;

static sp_tensor *run_one(sp_tape *t, void *arg)
{
    one *o = arg;

    return o->function(t, o->x);
}

static void test_functions(void **state)
{
    sp_tensor *(*const functions[])(sp_tape *, sp_tensor *) = {
        sp_nn_relu, sp_nn_sigmoid, sp_nn_average};

    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        gradient g;
        one o = {functions[i], NULL};

        gradient_open(&g, 1);
        o.x = gradient_input(&g, "x", SP_SHAPE(3, 5), 1.5);
        keep_off_zero(o.x);
        gradient_check(&g, run_one, &o);
        gradient_close(&g);
    }
}

static sp_tensor *thirds(sp_tape *t, sp_tensor *x)
{
    return sp_nn_scale(t, x, 1.0 / 3);
}

static sp_tensor *reshaped(sp_tape *t, sp_tensor *x)
{
    return sp_nn_sigmoid(t, sp_nn_reshape(t, x, SP_SHAPE(5, 1, 3)));
}

static sp_tensor *picked(sp_tape *t, sp_tensor *x)
{
    static const int32_t index[] = {2, 0, 0, 1, 2, 2, 2};

    return sp_nn_sigmoid(t, sp_nn_rows(t, x, index, 7));
}

static sp_tensor *averaged(sp_tape *t, sp_tensor *x)
{
    static const int64_t start[] = {0, 2, 2, 3};

    return sp_nn_pool(t, sp_nn_sigmoid(t, x), start, 3);
}

static sp_tensor *joined(sp_tape *t, sp_tensor *x)
{
    sp_tensor *parts[] = {x, sp_nn_sigmoid(t, x), x};

    return sp_nn_join(t, parts, 3);
}

static sp_tensor *doubled(sp_tape *t, sp_tensor *x)
{
    return sp_nn_sigmoid(t, sp_nn_add(t, x, x));
}

static void test_arrangements(void **state)
{
    sp_tensor *(*const functions[])(sp_tape *, sp_tensor *) = {
        thirds, reshaped, picked, averaged, joined, doubled};

    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        gradient g;
        one o = {functions[i], NULL};

        gradient_open(&g, 1);
        o.x = gradient_input(&g, "x", SP_SHAPE(3, 5), 1);
        gradient_check(&g, run_one, &o);
        gradient_close(&g);
    }
}

static void test_known_values(void **state)
{
    static const float in[] = {1, 2, 3, -4, 5, 6};
    static const int64_t start[] = {0, 0, 2, 3};
    static const float mean[] = {0, 0, 2, -1, 5, 6};
    gradient g;
    sp_tensor *x, *y;

    (void)state;
    gradient_open(&g, 1);
    sp_tape_begin(g.t, 0);
    x = sp_nn_input(g.t, SP_SHAPE(3, 2), in);
    y = sp_nn_pool(g.t, x, start, 3);
    assert_memory_equal(y->value, mean, sizeof mean);
    assert_null(y->grad);
    y = sp_nn_relu(g.t, x);
    assert_true(y->value[3] == 0 && y->value[5] == 6);
    y = sp_nn_sigmoid(g.t, sp_nn_input(g.t, SP_SHAPE(2), NULL));
    assert_true(y->value[0] == 0.5f);
    gradient_close(&g);
}

/* ---- two tensors that meet ---- */

typedef struct {
    sp_tensor *a, *b;
} two;

static sp_tensor *run_add(sp_tape *t, void *arg)
{
    two *w = arg;

    return sp_nn_sigmoid(t, sp_nn_add(t, w->a, w->b));
}

static void test_meeting(void **state)
{
    const sp_shape other[] = {SP_SHAPE(5), SP_SHAPE(1, 5), SP_SHAPE(3, 5)};

    (void)state;
    for (int i = 0; i < 3; i++) {
        gradient g;
        two w;

        gradient_open(&g, 1);
        w.a = gradient_input(&g, "a", SP_SHAPE(3, 5), 1);
        w.b = gradient_input(&g, "b", other[i], 1);
        gradient_check(&g, run_add, &w);
        gradient_close(&g);
    }
}

/* ---- dense, norm ---- */

typedef struct {
    sp_dense d;
    sp_norm norm;
    sp_tensor *x;
} layer;

static sp_tensor *run_dense(sp_tape *t, void *arg)
{
    layer *l = arg;

    return sp_nn_dense(t, &l->d, l->x);
}

static sp_tensor *run_norm(sp_tape *t, void *arg)
{
    layer *l = arg;

    return sp_nn_norm(t, &l->norm, l->x);
}

static void test_dense(void **state)
{
    (void)state;
    for (int bias = 0; bias < 2; bias++) {
        gradient g;
        layer l;

        gradient_open(&g, 1);
        l.d = sp_dense_make(g.n, "d", 5, 3, bias);
        l.x = gradient_input(&g, "x", SP_SHAPE(2, 7, 5), 1);
        assert_int_equal(sp_nn_count(g.n), 15 + 3 * bias + 70);
        gradient_check(&g, run_dense, &l);
        gradient_close(&g);
    }
}

static void test_dense_values(void **state)
{
    static const float weight[] = {1, 2, 3, 4, 5, 6}, bias[] = {7, 8, 9};
    static const float in[] = {1, 10, 2, 20}, out[] = {28, 51, 74, 49, 94, 139};
    gradient g;
    sp_dense d;
    sp_tensor *y;

    (void)state;
    gradient_open(&g, 1);
    d = sp_dense_make(g.n, "d", 2, 3, 1);
    memcpy(d.weight->value, weight, sizeof weight);
    memcpy(d.bias->value, bias, sizeof bias);
    sp_tape_begin(g.t, 0);
    y = sp_nn_dense(g.t, &d, sp_nn_input(g.t, SP_SHAPE(2, 2), in));
    assert_memory_equal(y->value, out, sizeof out);
    gradient_close(&g);
}

static void test_norm(void **state)
{
    gradient g;
    layer l;
    sp_tensor *y;

    (void)state;
    gradient_open(&g, 1);
    l.norm = sp_norm_make(g.n, "norm", 5);
    l.x = gradient_input(&g, "x", SP_SHAPE(3, 5), 2);
    g.tolerance = 3e-3;
    gradient_check(&g, run_norm, &l);
    sp_tape_begin(g.t, 0);
    y = run_norm(g.t, &l);
    for (int i = 0; i < 3; i++) {
        double mean = 0, square = 0;

        for (int j = 0; j < 5; j++) {
            mean += (double)y->value[5 * i + j] / 5;
            square += pow((double)y->value[5 * i + j], 2) / 5;
        }
        assert_true(fabs(mean) < 1e-6 && fabs(square - 1) < 1e-3);
    }
    gradient_close(&g);
}

/* ---- what does not fit ---- */

static void test_refusals(void **state)
{
    gradient g;
    sp_dense d;
    sp_tensor *x;

    (void)state;
    gradient_open(&g, 1);
    d = sp_dense_make(g.n, "d", 5, 3, 1);
    sp_tape_begin(g.t, 1);
    x = sp_nn_input(g.t, SP_SHAPE(2, 4), NULL);
    assert_null(sp_nn_relu(g.t, sp_nn_dense(g.t, &d, x)));
    assert_int_equal(sp_tape_status(g.t), SPRY_USAGE);
    assert_non_null(strstr(spry_message(), "5 inputs"));
    assert_int_equal(sp_tape_backward(g.t, NULL), SPRY_USAGE);

    sp_tape_begin(g.t, 1);
    assert_null(sp_nn_rows(g.t, d.weight, (int32_t[]){3}, 1));
    sp_tape_begin(g.t, 1);
    assert_null(sp_nn_input(g.t, SP_SHAPE(1 << 30, 1 << 30, 1 << 30), NULL));
    assert_int_equal(sp_tape_status(g.t), SPRY_USAGE);
    sp_tape_begin(g.t, 1);
    x = sp_nn_input(g.t, SP_SHAPE(1), NULL);
    assert_int_equal(sp_tape_backward(g.t, x), SPRY_USAGE);
    gradient_close(&g);
}

/* Whatever allocation is refused, the tape says so and nothing leaks. */
static void test_short_memory(void **state)
{
    int64_t n = 0;
    spry_status s;

    (void)state;
    do {
        sp_nn *net = NULL;
        sp_tape *t = NULL;
        sp_attention a = {0};
        sp_tensor *x;

        sp_alloc_refuse(++n, 1);
        s = sp_nn_new(&net, 1);
        if (s == SPRY_OK) {
            a = sp_attention_make(net, "a", 64, 64, 2);
            s = sp_nn_status(net);
        }
        if (s == SPRY_OK)
            s = sp_tape_new(&t, 1);
        if (s == SPRY_OK) {
            sp_tape_begin(t, 1);
            x = sp_nn_input(t, SP_SHAPE(3, 200, 64), NULL);
            x = sp_nn_average(t, sp_nn_attention(t, &a, x, x, NULL));
            x = sp_nn_dense(t, &a.out, x);
            s = sp_tape_backward(
                t, sp_nn_average(t, sp_nn_reshape(t, x, SP_SHAPE(64, 1))));
        }
        sp_alloc_refuse(0, 0);
        sp_tape_free(t);
        sp_nn_free(net);
        assert_int_equal(sp_alloc_live(), 0);
        assert_true(s == SPRY_OK || s == SPRY_SYSTEM);
    } while (s != SPRY_OK);
    assert_true(n > 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_arrangements),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_meeting),
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_dense_values),
        cmocka_unit_test(test_norm),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_short_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
