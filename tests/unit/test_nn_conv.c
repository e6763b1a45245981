/* test_nn_conv.c - sparse convolution is dense convolution looked at where
 * there is something. */
#include "nn_gradient.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { SIDE = 13 };

/* About `percent` of a SIDE x SIDE image, from row and column `shift` on. */
static sp_sites *some_sites(int percent, int32_t shift, uint64_t seed)
{
    int32_t row[SIDE * SIDE], col[SIDE * SIDE];
    sp_rng r = sp_rng_seed(seed);
    sp_sites *s = NULL;
    int64_t n = 0;

    for (int32_t i = 0; i < SIDE; i++)
        for (int32_t j = 0; j < SIDE; j++)
            if (sp_rng_below(&r, 100) < (uint64_t)percent) {
                row[n] = i + shift;
                col[n++] = j + shift;
            }
    check_ok(sp_sites_new(&s, n, row, col));
    return s;
}

/* Index of site (row, col), or -1. */
static int64_t site_at(const sp_sites *s, int64_t row, int64_t col)
{
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t k = s->start[r]; k < s->start[r + 1]; k++)
            if (s->row[r] == row && s->col[k] == col)
                return k;
    return -1;
}

/* ---- sites ---- */

static void test_shrink(void **state)
{
    static const int32_t row[] = {0, 0, 0, 1, 3, 6, 7, 7};
    static const int32_t col[] = {0, 1, 9, 8, 2, 4, 4, 7};
    static const int32_t small_row[] = {0, 1, 3};
    static const int64_t small_start[] = {0, 2, 3, 5};
    static const int32_t small_col[] = {0, 4, 1, 2, 3};
    sp_sites *s, *half;

    (void)state;
    check_ok(sp_sites_new(&s, 8, row, col));
    assert_int_equal(s->rows, 5);
    check_ok(sp_sites_shrink(&half, s, 2));
    assert_int_equal(half->n, 5);
    assert_int_equal(half->rows, 3);
    assert_memory_equal(half->row, small_row, sizeof small_row);
    assert_memory_equal(half->start, small_start, sizeof small_start);
    assert_memory_equal(half->col, small_col, sizeof small_col);
    sp_sites_free(half);
    sp_sites_free(s);
}

static void test_bad_sites(void **state)
{
    static const int32_t down[] = {1, 0}, same[] = {1, 1}, below[] = {-1, 0};
    sp_sites *s;

    (void)state;
    assert_int_equal(sp_sites_new(&s, 2, down, same), SPRY_USAGE);
    assert_int_equal(sp_sites_new(&s, 2, same, same), SPRY_USAGE);
    assert_int_equal(sp_sites_new(&s, 2, below, same), SPRY_USAGE);
    assert_null(s);
    check_ok(sp_sites_new(&s, 0, NULL, NULL));
    sp_sites_free(s);
}

/* ---- values ---- */

/* y(o) by its definition, over the whole square. */
static double dense_value(const sp_conv *l, const sp_tensor *x,
                          const sp_sites *from, int64_t row, int64_t col,
                          int64_t channel)
{
    int64_t in = l->weight->shape.dim[1], out = l->weight->shape.dim[2];
    double sum = 0;

    for (int d = 0; d < l->size * l->size; d++) {
        int64_t k = site_at(from, row * l->stride + d / l->size - l->size / 2,
                            col * l->stride + d % l->size - l->size / 2);

        for (int64_t c = 0; k >= 0 && c < in; c++)
            sum += (double)x->value[k * in + c] *
                   (double)l->weight->value[(d * in + c) * out + channel];
    }
    return sum;
}

static void compare(int size, int stride, int64_t in, int64_t out, int percent,
                    int threads)
{
    sp_sites *from = some_sites(percent, 3, 5), *to;
    gradient g;
    sp_conv l;
    sp_tensor *x, *y;

    gradient_open(&g, threads);
    check_ok(sp_sites_shrink(&to, from, stride));
    l = sp_conv_make(g.n, "conv", size, stride, in, out);
    sp_tape_begin(g.t, 0);
    x = sp_nn_input(g.t, SP_SHAPE(from->n, in), NULL);
    for (int64_t i = 0; i < x->size; i++)
        x->value[i] = gradient_weight(i * i);
    y = sp_nn_conv(g.t, &l, x, from, to);
    check_ok(sp_tape_status(g.t));
    assert_int_equal(sp_rows(y), to->n);
    for (int64_t r = 0; r < to->rows; r++)
        for (int64_t k = to->start[r]; k < to->start[r + 1]; k++)
            for (int64_t c = 0; c < out; c++)
                assert_true(fabs((double)y->value[k * out + c] -
                                 dense_value(&l, x, from, to->row[r],
                                             to->col[k], c)) < 1e-4);
    sp_sites_free(to);
    sp_sites_free(from);
    gradient_close(&g);
}

static void test_equals_dense(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        compare(5, 1, 1, 7, 30, threads);
        compare(3, 2, 9, 7, 30, threads);
        compare(3, 1, 3, 2, 100, threads);
        compare(3, 2, 8, 33, 100, threads);
        compare(5, 3, 2, 3, 10, threads);
        compare(1, 2, 2, 3, 50, threads);
        compare(3, 2, 2, 3, 0, threads);
    }
}

/* ---- a full image of ones under a kernel of ones: everything is a count,
 * and there is more of it than one batch or one thread takes ---- */

enum { WIDE = 70, FULL = WIDE * WIDE, CHANNELS = 8 };

static sp_sites *full_image(void)
{
    int32_t *row = sp_alloc(FULL, sizeof *row);
    int32_t *col = sp_alloc(FULL, sizeof *col);
    sp_sites *s;

    for (int32_t i = 0; i < FULL; i++) {
        row[i] = i / WIDE;
        col[i] = i % WIDE;
    }
    check_ok(sp_sites_new(&s, FULL, row, col));
    sp_free(row);
    sp_free(col);
    return s;
}

/* Neighbours of site i, itself included. */
static int neighbours(int i)
{
    int row = i / WIDE, col = i % WIDE;

    return (row == 0 || row == WIDE - 1 ? 2 : 3) *
           (col == 0 || col == WIDE - 1 ? 2 : 3);
}

static void check_counts(const sp_tensor *x, const sp_tensor *y,
                         const sp_tensor *weight)
{
    for (int i = 0; i < FULL; i++) {
        float count = (float)(CHANNELS * neighbours(i));

        assert_true(y->value[CHANNELS * i + 5] == count);
        assert_true(x->grad[CHANNELS * i + 3] == count);
    }
    for (int d = 0; d < 9; d++) {
        int down = WIDE - abs(d / 3 - 1), right = WIDE - abs(d % 3 - 1);

        assert_true(weight->grad[(d * CHANNELS + 2) * CHANNELS + 6] ==
                    (float)(down * right));
    }
}

static void test_full_image(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        sp_sites *s = full_image();
        sp_conv l = {.size = 3, .stride = 1};
        sp_tensor *x, *y;
        float *ones;
        gradient g;

        gradient_open(&g, threads);
        l.weight = sp_nn_weights(g.n, "ones", SP_SHAPE(9, CHANNELS, CHANNELS),
                                 sp_init_constant(1));
        x = gradient_input(&g, "x", SP_SHAPE(FULL, CHANNELS), 1);
        sp_tape_begin(g.t, 1);
        ones = sp_tape_memory(g.t, x->size, sizeof *ones);
        for (int64_t i = 0; i < x->size; i++)
            ones[i] = x->value[i] = 1;
        y = sp_nn_conv(g.t, &l, x, s, s);
        check_ok(sp_tape_backward(g.t, sp_loss_known(g.t, y, 0, ones)));
        check_counts(x, y, l.weight);
        sp_sites_free(s);
        gradient_close(&g);
    }
}

/* ---- slopes ---- */

typedef struct {
    sp_conv first, second;
    sp_tensor *x;
    const sp_sites *sites, *half;
} stack;

static sp_tensor *run_stack(sp_tape *t, void *arg)
{
    stack *s = arg;
    sp_tensor *h = sp_nn_conv(t, &s->first, s->x, s->sites, s->sites);

    return sp_nn_conv(t, &s->second, sp_nn_sigmoid(t, h), s->sites, s->half);
}

static void test_slopes(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        sp_sites *sites = some_sites(8, 0, 9), *half;
        gradient g;
        stack s = {.sites = sites};

        check_ok(sp_sites_shrink(&half, sites, 2));
        s.half = half;
        gradient_open(&g, threads);
        s.first = sp_conv_make(g.n, "first", 5, 1, 1, 3);
        s.second = sp_conv_make(g.n, "second", 3, 2, 3, 2);
        s.x = gradient_input(&g, "x", SP_SHAPE(sites->n, 1), 1);
        gradient_check(&g, run_stack, &s);
        sp_sites_free(half);
        sp_sites_free(sites);
        gradient_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shrink),       cmocka_unit_test(test_bad_sites),
        cmocka_unit_test(test_equals_dense), cmocka_unit_test(test_full_image),
        cmocka_unit_test(test_slopes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
