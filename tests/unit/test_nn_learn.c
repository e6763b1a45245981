/* test_nn_learn.c - products, Adam, and whole networks that learn: the same
 * bits for the same seed, and what they were asked for. */
#include "nn_gradient.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "machine/isa.h"
#include "nn/blas.h"

/* ---- products ---- */

static double product_at(const sp_gemm *g, int64_t i, int64_t j)
{
    double sum = 0;

    for (int64_t k = 0; k < g->k; k++)
        sum += (double)(g->ta ? g->a[k * g->lda + i] : g->a[i * g->lda + k]) *
               (double)(g->tb ? g->b[j * g->ldb + k] : g->b[k * g->ldb + j]);
    return sum;
}

/* Small integers, so that every order of summation is exact; a frame of 7s
 * around C that must stay. */
static void check_product(sp_gemm g, int threads, int own)
{
    enum { FRAME = 3 };
    sp_rng r = sp_rng_seed(3);
    int64_t na = (g.ta ? g.k : g.m) * g.lda, nb = (g.tb ? g.n : g.k) * g.ldb;
    float *a = sp_alloc(na, sizeof *a), *b = sp_alloc(nb, sizeof *b), *c;

    g.ldc = g.n + FRAME;
    c = sp_alloc(g.m * g.ldc, sizeof *c);
    for (int64_t i = 0; i < na; i++)
        a[i] = (float)sp_rng_below(&r, 7) - 3;
    for (int64_t i = 0; i < nb; i++)
        b[i] = (float)sp_rng_below(&r, 7) - 3;
    for (int64_t i = 0; i < g.m * g.ldc; i++)
        c[i] = 7;
    g.a = a;
    g.b = b;
    g.c = c;
    if (own)
        sp_loops_gemm(&g);
    else
        sp_nn_gemm(&g, threads);
    for (int64_t i = 0; i < g.m; i++) {
        for (int64_t j = 0; j < g.n; j++)
            assert_true((double)c[i * g.ldc + j] ==
                        product_at(&g, i, j) + (g.add ? 7 : 0));
        for (int64_t j = g.n; j < g.ldc; j++)
            assert_true(c[i * g.ldc + j] == 7);
    }
    sp_free(a);
    sp_free(b);
    sp_free(c);
}

static void test_products(void **state)
{
    static const int64_t size[][3] = {{1, 1, 1},   {5, 9, 3},      {33, 7, 300},
                                      {4, 8, 256}, {97, 120, 130}, {3, 5, 0},
                                      {1, 40, 9},  {40, 1, 9}};

    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (int form = 0; form < 8; form++) {
            sp_gemm g = {.m = size[i][0],
                         .n = size[i][1],
                         .k = size[i][2],
                         .ta = form & 1,
                         .tb = form >> 1 & 1,
                         .add = form >> 2};

            g.lda = (g.ta ? g.m : g.k) + 2;
            g.ldb = (g.tb ? g.k : g.n) + 1;
            check_product(g, 1, 0);
            check_product(g, 3, 0);
            check_product(g, 1, 1);
        }
    assert_true(*sp_nn_blas());
}

/* The kernels that are asked for suit the machine, and the environment is as
 * before once the library is open. */
static void test_core_type(void **state)
{
    const char *type[SP_CORE_TYPES];
    int n = sp_blas_core_types(type), whatever = 0;

    (void)state;
    assert_true(n >= 1 && n <= SP_CORE_TYPES);
    for (int i = 0; i < n; i++)
        whatever += type[i] == NULL;
    assert_int_equal(whatever, 1); /* what it finds itself is tried, too */
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vl"))
        assert_string_equal(type[0], "SkylakeX");
    else if (__builtin_cpu_supports("avx2"))
        assert_true(strcmp(type[0], "Zen") == 0 ||
                    strcmp(type[0], "Haswell") == 0);
#endif
    (void)sp_blas_open();
    assert_string_equal(getenv("OPENBLAS_NUM_THREADS"), "7");
    assert_null(getenv("OPENBLAS_CORETYPE"));
    assert_true(sp_nn_blas_share() >= 0);
}

/* A trial is a fork: products must work in it, threads or not. */
static void test_after_fork(void **state)
{
    int status = -1;
    pid_t child;

    (void)state;
    check_product((sp_gemm){.m = 130, .n = 120, .k = 97, .lda = 97, .ldb = 120},
                  2, 0);
    child = fork();
    if (child == 0) {
        static float a[64 * 64], b[64 * 64], c[64 * 64];

        a[65] = 2;
        b[64] = 3;
        sp_nn_gemm(&(sp_gemm){.m = 64,
                              .n = 64,
                              .k = 64,
                              .a = a,
                              .lda = 64,
                              .b = b,
                              .ldb = 64,
                              .c = c,
                              .ldc = 64},
                   1);
        _exit(c[64] == 6 ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- Adam ---- */

/* By hand: the first step of Adam is `rate` against the sign. */
static void test_adam_step(void **state)
{
    const sp_adam adam = SP_ADAM_DEFAULTS;
    sp_nn *n;
    sp_tensor *w, *fixed;

    (void)state;
    check_ok(sp_nn_new(&n, 1));
    w = sp_nn_weights(n, "w", SP_SHAPE(2), sp_init_constant(1));
    fixed = sp_nn_weights(n, "fixed.w", SP_SHAPE(1), sp_init_constant(5));
    sp_nn_freeze(n, "fixed.", 1);
    assert_int_equal(sp_nn_count(n), 2);
    w->grad[0] = 3;
    w->grad[1] = -4;
    assert_true(fabs(sp_nn_adam(n, &adam, 1) - 5) < 1e-6);
    assert_true(fabsf(w->value[0] - 0.999f) < 1e-6f);
    assert_true(fabsf(w->value[1] - 1.001f) < 1e-6f);
    assert_true(w->grad[0] == 0 && fixed->value[0] == 5);
    w->grad[0] = NAN; /* a lost gradient changes nothing */
    assert_true(isnan(sp_nn_adam(n, &adam, 1)));
    assert_true(fabsf(w->value[0] - 0.999f) < 1e-6f && w->grad[0] == 0);
    sp_nn_free(n);
}

static float decayed(double decay, int decoupled, double clip)
{
    sp_adam adam = SP_ADAM_DEFAULTS;
    sp_nn *n;
    sp_tensor *w;
    float value;

    adam.rate = 0.1;
    adam.decay = decay;
    adam.decoupled = decoupled;
    adam.clip = clip;
    check_ok(sp_nn_new(&n, 1));
    w = sp_nn_weights(n, "w", SP_SHAPE(1), sp_init_constant(2));
    w->grad[0] = clip > 0 ? 1e6f : 0;
    sp_nn_adam(n, &adam, 1);
    value = w->value[0];
    if (clip > 0) /* what the moments saw was clipped */
        assert_true(n->weights[0]->first[0] <= 0.1f * (float)clip * 1.001f);
    sp_nn_free(n);
    return value;
}

static void test_decay_and_clip(void **state)
{
    (void)state;
    assert_true(decayed(0, 1, 0) == 2);
    assert_true(fabsf(decayed(0.5, 1, 0) - 1.9f) < 1e-6f);
    assert_true(fabsf(decayed(0.5, 0, 0) - 1.9f) < 1e-5f);
    assert_true(fabsf(decayed(0, 1, 0.5) - 1.9f) < 1e-5f);
}

static void test_share(void **state)
{
    (void)state;
    assert_true(sp_nn_share(0, 4, 100, 0.1) == 0.25);
    assert_true(sp_nn_share(3, 4, 100, 0.1) == 1);
    assert_true(fabs(sp_nn_share(4, 4, 100, 0.1) - 1) < 1e-12);
    assert_true(fabs(sp_nn_share(52, 4, 100, 0.1) - 0.55) < 1e-12);
    assert_true(sp_nn_share(100, 4, 100, 0.1) == 0.1);
    for (int i = 5; i < 100; i++)
        assert_true(sp_nn_share(i, 4, 100, 0) < sp_nn_share(i - 1, 4, 100, 0));
}

static double deviation(const sp_tensor *x)
{
    double sum = 0;

    for (int64_t i = 0; i < x->size; i++)
        sum += (double)x->value[i] * (double)x->value[i];
    return sqrt(sum / (double)x->size);
}

static void test_starts(void **state)
{
    sp_nn *n;
    sp_tensor *k;

    (void)state;
    check_ok(sp_nn_new(&n, 1));
    k = sp_nn_weights(n, "k", SP_SHAPE(200, 50), sp_init_kaiming(50));
    assert_true(fabs(deviation(k) - 0.2) < 0.01);
    assert_null(sp_nn_weights(n, "k", SP_SHAPE(1), sp_init_constant(0)));
    assert_int_equal(sp_nn_status(n), SPRY_USAGE);
    sp_nn_free(n);
}

/* ---- a regression ---- */

enum { POINTS = 64 };

typedef struct {
    sp_nn *n;
    sp_tape *t;
    sp_dense first, last;
    float x[POINTS * 2], y[POINTS];
} fit;

static void fit_open(fit *f, uint64_t seed, int threads)
{
    sp_rng r = sp_rng_seed(99);

    check_ok(sp_nn_new(&f->n, seed));
    check_ok(sp_tape_new(&f->t, threads));
    f->first = sp_dense_make(f->n, "first", 2, 32, 1);
    f->last = sp_dense_make(f->n, "last", 32, 1, 1);
    for (int i = 0; i < POINTS; i++) {
        double a = 2 * sp_rng_unit(&r) - 1, b = 2 * sp_rng_unit(&r) - 1;

        f->x[2 * i] = (float)a;
        f->x[2 * i + 1] = (float)b;
        f->y[i] = (float)(a * b + sin(2 * a));
    }
}

static void fit_close(fit *f)
{
    sp_tape_free(f->t);
    sp_nn_free(f->n);
}

static float fit_step(fit *f, const sp_adam *adam)
{
    sp_tensor *x, *loss;

    sp_tape_begin(f->t, 1);
    x = sp_nn_input(f->t, SP_SHAPE(POINTS, 2), f->x);
    x = sp_nn_sigmoid(f->t, sp_nn_dense(f->t, &f->first, x));
    loss = sp_loss_mse(f->t, sp_nn_dense(f->t, &f->last, x), f->y);
    check_ok(sp_tape_backward(f->t, loss));
    sp_nn_adam(f->n, adam, 1);
    return loss->value[0];
}

static void test_regression(void **state)
{
    const sp_adam adam = {
        .rate = 0.01, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
    fit f;
    float first, last = 0;

    (void)state;
    fit_open(&f, 5, 1);
    first = fit_step(&f, &adam);
    for (int i = 0; i < 1500; i++)
        last = fit_step(&f, &adam);
    assert_true(first > 0.2f);
    assert_true(last < 1e-3f);
    fit_close(&f);
}

static uint64_t bits_of(const sp_nn *n)
{
    sp_hash h = sp_hash_begin();
    sp_tensor *t;

    for (int i = 0; (t = sp_nn_at(n, i, NULL)); i++)
        sp_hash_add(&h, t->value, (size_t)t->size * sizeof(float));
    return h.a;
}

static uint64_t fitted_bits(uint64_t seed, int threads)
{
    const sp_adam adam = SP_ADAM_DEFAULTS;
    uint64_t bits;
    fit f;

    fit_open(&f, seed, threads);
    for (int i = 0; i < 50; i++)
        fit_step(&f, &adam);
    bits = bits_of(f.n);
    fit_close(&f);
    return bits;
}

static void test_same_bits(void **state)
{
    (void)state;
    assert_true(fitted_bits(5, 1) == fitted_bits(5, 1));
    assert_true(fitted_bits(5, 2) == fitted_bits(5, 2));
    assert_true(fitted_bits(5, 1) != fitted_bits(6, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_type),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_after_fork),
        cmocka_unit_test(test_adam_step),
        cmocka_unit_test(test_decay_and_clip),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_regression),
        cmocka_unit_test(test_same_bits),
    };

    unsetenv("OPENBLAS_CORETYPE"); /* for test_core_type, before it opens */
    setenv("OPENBLAS_NUM_THREADS", "7", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
