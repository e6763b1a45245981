/* test_meta.c - a beginning from which few records teach much. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "adapt/meta.h"
#include "adapt_table.h"
#include "nn/losses.h"

typedef struct {
    const table *d;
} numbers;

/* Squared error of a smooth network: slopes have no corners. */
typedef struct {
    sp_dense first, last;
} small;

static sp_tensor *small_loss(sp_tape *t, const void *net, int task,
                             int64_t subject, void *payload)
{
    const small *m = net;
    const numbers *l = payload;
    enum { IN = 6 };
    float x[EACH * IN], target[EACH];
    sp_tensor *y;

    (void)task;
    for (int i = 0; i < EACH; i++) {
        int64_t row = subject * EACH + i;

        memcpy(x + (int64_t)i * IN, l->d->x[row], IN * sizeof *x);
        target[i] = l->d->x[row][7] * l->d->x[row][0];
    }
    y = sp_nn_input(t, SP_SHAPE(EACH, IN), x);
    y = sp_nn_sigmoid(t, sp_nn_dense(t, &m->first, y));
    return sp_loss_mse(t, sp_nn_dense(t, &m->last, y), target);
}

/* The slope along a direction, and the difference of losses along it. */
static void compare_slopes(sp_meta_kind kind, double *slope, double *difference)
{
    static table d;
    static const int64_t support[] = {0, 1}, query[] = {2, 3, 4};
    sp_meta how = SP_META_DEFAULTS;
    numbers own = {&d};
    small net;
    sp_learner l = {
        .net = &net, .head = "last", .loss = small_loss, .payload = &own};
    float *w, *g, *u;
    double far = 2e-3, up, down, lost;
    sp_rng r = sp_rng_seed(9);
    int64_t n;

    draw_table(&d, 4);
    check_ok(sp_nn_new(&l.nn, 1));
    net.first = sp_dense_make(l.nn, "first", 6, 10, 1);
    net.last = sp_dense_make(l.nn, "last", 10, 1, 1);
    how.kind = kind;
    how.steps = 3;
    how.inner_rate = 0.2;
    how.support = 2;
    how.query = 3;
    n = sp_learner_size(&l);
    w = sp_alloc(3 * n, sizeof *w);
    g = w + n;
    u = g + n;
    sp_learner_get(w, &l);
    check_ok(sp_meta_slope(g, &lost, &l, &how, 0, support, query));
    *slope = 0;
    for (int64_t i = 0; i < n; i++) {
        u[i] = (float)sp_rng_normal(&r);
        *slope += (double)g[i] * (double)u[i];
        w[i] += (float)far * u[i];
    }
    sp_learner_set(&l, w);
    check_ok(sp_meta_slope(g, &up, &l, &how, 0, support, query));
    for (int64_t i = 0; i < n; i++)
        w[i] -= (float)(2 * far) * u[i];
    sp_learner_set(&l, w);
    check_ok(sp_meta_slope(g, &down, &l, &how, 0, support, query));
    *difference = (up - down) / (2 * far);
    sp_free(w);
    sp_nn_free(l.nn);
}

static void test_second_order(void **state)
{
    double slope, difference, first;

    (void)state;
    compare_slopes(SP_META_MAML, &slope, &difference);
    assert_true(fabs(slope - difference) < 0.02 * fabs(difference));
    compare_slopes(SP_META_FOMAML, &first, &difference);
    assert_true(fabs(first - difference) > 0.05 * fabs(difference));
    compare_slopes(SP_META_ANIL, &slope, &difference);
    assert_true(fabs(slope - difference) < 0.02 * fabs(difference));
}

static void test_meta_learns(void **state)
{
    static table d;
    sp_meta how = SP_META_DEFAULTS;
    sp_meta_task task = {&d.t, d.group};
    sp_pretrained source;
    double gain;

    (void)state;
    draw_table(&d, 6);
    open_source(&source);
    for (int i = 0; i < ROWS; i++)
        d.slower[i] = d.x[i][FEATURE];
    how.outer_rate = 1e-3;
    for (int kind = SP_META_MAML; kind <= SP_META_ANIL; kind++) {
        how.kind = (sp_meta_kind)kind;
        how.rounds = kind == SP_META_MAML ? 30 : unless_slow(30, 4);
        check_ok(sp_meta_learn(&source, &task, 1, &how, &gain));
        assert_true(gain >= 0);
        if (kind == SP_META_MAML)
            assert_true(gain > 0.02);
    }
    sp_pretrained_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_order),
        cmocka_unit_test(test_meta_learns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
