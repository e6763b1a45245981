/* test_nn_losses.c - losses: known values, slopes by differences. */
#include "nn_gradient.h"

#include <string.h>

#include "base/base.h"

static const float target[] = {0.3f, -1.2f, 2, 0.1f, -0.4f, 0.9f, 0};
enum { N = 7 };

/* ---- values ---- */

typedef struct {
    sp_tensor *(*loss)(sp_tape *t, sp_tensor *x);
    sp_tensor *x;
} valued;

static sp_tensor *run_value(sp_tape *t, void *arg)
{
    valued *v = arg;

    return v->loss(t, v->x);
}

static sp_tensor *mse(sp_tape *t, sp_tensor *x)
{
    return sp_loss_mse(t, x, target);
}

static sp_tensor *huber(sp_tape *t, sp_tensor *x)
{
    return sp_loss_huber(t, x, target, 0.5);
}

static sp_tensor *value_free(sp_tape *t, sp_tensor *x)
{
    return sp_loss_value(t, x, target, target, 0);
}

/* Far from what it was, so that the limit holds on some. */
static sp_tensor *value_held(sp_tape *t, sp_tensor *x)
{
    static const float old[] = {1, -1, 1, -1, 2, 0, 3};

    return sp_loss_value(t, x, old, target, 0.2);
}

static sp_tensor *mixed(sp_tape *t, sp_tensor *x)
{
    return sp_nn_add(t, sp_nn_scale(t, mse(t, x), 0.25), huber(t, x));
}

static void test_value_slopes(void **state)
{
    sp_tensor *(*const losses[])(sp_tape *, sp_tensor *) = {
        mse, huber, value_free, value_held, mixed};

    (void)state;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        gradient g;
        valued v = {losses[i], NULL};

        gradient_open(&g, 1);
        g.step = 0x1p-8; /* off the kinks */
        v.x = gradient_input(&g, "x", SP_SHAPE(N, 1), 1.5);
        gradient_check(&g, run_value, &v);
        gradient_close(&g);
    }
}

static void test_values(void **state)
{
    static const float x[] = {1, 3}, y[] = {0, 0};
    gradient g;
    sp_tensor *t;

    (void)state;
    gradient_open(&g, 1);
    sp_tape_begin(g.t, 0);
    t = sp_nn_input(g.t, SP_SHAPE(2), x);
    assert_true(sp_loss_mse(g.t, t, y)->value[0] == 5);
    assert_true(sp_loss_huber(g.t, t, y, 1)->value[0] == 1.5f);
    assert_true(sp_loss_value(g.t, t, x, y, 0)->value[0] == 2.5f);
    /* 1 and 3, held within 0.5 of 0, miss 1 and 3 by 0.5 and 2.5 */
    assert_true(sp_loss_value(g.t, t, y, x, 0.5)->value[0] == 1.625f);
    gradient_close(&g);
}

/* ---- ranks ---- */

static const float seconds[] = {3, 1, 2, 2.02f, 8, 5, 1};

typedef struct {
    sp_tensor *x;
    sp_hinge h;
    double sigma;
} ranked;

static sp_tensor *run_hinge(sp_tape *t, void *arg)
{
    ranked *r = arg;

    return sp_loss_hinge(t, r->x, seconds, &r->h);
}

static sp_tensor *run_lambdarank(sp_tape *t, void *arg)
{
    ranked *r = arg;

    return sp_loss_lambdarank(t, r->x, seconds, r->sigma);
}

static void test_rank_slopes(void **state)
{
    float weight[N * (N - 1) / 2];
    gradient g;
    ranked r = {.h = {.margin = 1}, .sigma = 1.5};

    (void)state;
    for (int i = 0; i < N * (N - 1) / 2; i++)
        weight[i] = (float)(i % 5) / 4;
    gradient_open(&g, 1);
    g.step = 0x1p-10; /* no change of rank, no kink */
    g.tolerance = 2e-3;
    r.x = gradient_input(&g, "x", SP_SHAPE(N), 2);
    gradient_check(&g, run_hinge, &r);
    gradient_check(&g, run_lambdarank, &r);
    r.h = (sp_hinge){.margin = 0.3, .tie = 0.05, .weight = weight};
    gradient_check(&g, run_hinge, &r);
    gradient_close(&g);
}

static float hinge_of(gradient *g, const float *score, const float *time,
                      double tie, int64_t n)
{
    const sp_hinge h = {.margin = 1, .tie = tie};
    sp_tensor *x = sp_nn_input(g->t, SP_SHAPE(n), score);

    return sp_loss_hinge(g->t, x, time, &h)->value[0];
}

static void test_hinge_values(void **state)
{
    static const float time[] = {1, 2, 4}, right[] = {0, 1, 2};
    static const float wrong[] = {2, 1, 0}, equal[] = {0, 0, 0};
    static const float close[] = {1, 1.01f, 4};
    gradient g;

    (void)state;
    gradient_open(&g, 1);
    sp_tape_begin(g.t, 0);
    assert_true(hinge_of(&g, right, time, 0, 3) == 0);
    assert_true(hinge_of(&g, equal, time, 0, 3) == 1);
    assert_true(fabsf(hinge_of(&g, wrong, time, 0, 3) - 7.0f / 3) < 1e-6f);
    /* the tied pair is no pair: (0,2) and (1,2) are left */
    assert_true(hinge_of(&g, wrong, close, 0.02, 3) == 2.5f);
    assert_true(hinge_of(&g, wrong, equal + 2, 0, 1) == 0);
    gradient_close(&g);
}

static float lambdarank_of(gradient *g, const float *score)
{
    static const float time[] = {1, 2, 4, 8};
    sp_tensor *x = sp_nn_input(g->t, SP_SHAPE(4), score);

    return sp_loss_lambdarank(g->t, x, time, 1)->value[0];
}

/* The right order costs less than the wrong one, a wrong top more than a
 * wrong tail. */
static void test_lambdarank_order(void **state)
{
    static const float right[] = {0, 1, 2, 3}, wrong[] = {3, 2, 1, 0};
    static const float top[] = {1, 0, 2, 3}, tail[] = {0, 1, 3, 2};
    gradient g;

    (void)state;
    gradient_open(&g, 1);
    sp_tape_begin(g.t, 0);
    assert_true(lambdarank_of(&g, right) < lambdarank_of(&g, tail));
    assert_true(lambdarank_of(&g, tail) < lambdarank_of(&g, top));
    assert_true(lambdarank_of(&g, top) < lambdarank_of(&g, wrong));
    gradient_close(&g);
}

/* Two items, one score: the gains are 1 and sqrt(2) - 1, the discounts 1 and
 * 1 / log2(3). */
static void test_lambdarank_value(void **state)
{
    static const float score[] = {0, 0}, time[] = {1, 2};
    double gain = sqrt(2) - 1, second = log(2) / log(3);
    double right = (1 - gain) * (1 - second) / (1 + gain * second) * log(2);
    gradient g;
    sp_tensor *x;

    (void)state;
    gradient_open(&g, 1);
    sp_tape_begin(g.t, 0);
    x = sp_nn_input(g.t, SP_SHAPE(2), score);
    assert_true(fabs((double)sp_loss_lambdarank(g.t, x, time, 1)->value[0] -
                     right) < 1e-6);
    gradient_close(&g);
}

/* ---- choices ---- */

enum { STATES = 4, ACTIONS = 5 };
static const int32_t action[STATES] = {1, 4, 0, 2};
static const uint8_t allowed[STATES * ACTIONS] = {1, 1, 1, 1, 1, 0, 1, 0, 0, 1,
                                                  1, 0, 0, 0, 0, 1, 1, 1, 0, 0};

typedef struct {
    sp_tensor *x;
    sp_ppo p;
} chosen;

static sp_tensor *run_ppo(sp_tape *t, void *arg)
{
    chosen *c = arg;

    return sp_loss_ppo(t, c->x, &c->p);
}

/* Old probabilities such that some ratios are clipped and some are not, with
 * both signs of the advantage. */
static void test_choice_slopes(void **state)
{
    static const float old[] = {-1.2f, -0.3f, -0.4f, -4};
    static const float advantage[] = {1.5f, -0.7f, -2, 0.8f};
    gradient g;
    chosen c = {.p = {.action = action,
                      .old_log_p = old,
                      .advantage = advantage,
                      .clip = 0.2,
                      .entropy = 0.1}};

    (void)state;
    gradient_open(&g, 1);
    g.step = 0x1p-7;
    c.x = gradient_input(&g, "logits", SP_SHAPE(STATES, ACTIONS), 1);
    gradient_check(&g, run_ppo, &c);
    c.p.mask = allowed;
    c.p.action = (const int32_t[]){1, 4, 0, 2};
    gradient_check(&g, run_ppo, &c);
    gradient_close(&g);
}

static void test_choice_values(void **state)
{
    static const float logits[] = {0, 0, 0, 0}, advantage[] = {1, 3};
    static const uint8_t mask[] = {1, 1, 0, 1};
    float log_p[2];
    gradient g;
    sp_ppo p = {.action = (const int32_t[]){0, 1},
                .old_log_p = log_p,
                .advantage = advantage,
                .clip = 0.2};
    sp_tensor *x, *y;

    (void)state;
    gradient_open(&g, 1);
    sp_tape_begin(g.t, 0);
    x = sp_nn_input(g.t, SP_SHAPE(2, 2), logits);
    sp_log_p(log_p, x, mask, p.action);
    assert_true(fabsf(log_p[0] + logf(2)) < 1e-6f && log_p[1] == 0);
    sp_log_p(log_p, x, NULL, p.action); /* then every ratio is 1 */
    y = sp_loss_ppo(g.t, x, &p);
    assert_true(fabsf(y->value[0] + 2) < 1e-6f);
    p.entropy = 1;
    y = sp_loss_ppo(g.t, x, &p);
    assert_true(fabsf(y->value[0] + 2 + logf(2)) < 1e-6f);
    log_p[0] = log_p[1] = -9; /* far more likely now: clipped at 1.2 */
    p.entropy = 0;
    y = sp_loss_ppo(g.t, x, &p);
    assert_true(fabsf(y->value[0] + 2.4f) < 1e-6f);
    /* an action that is forbidden */
    p.mask = mask;
    p.action = (const int32_t[]){0, 0};
    assert_null(sp_loss_ppo(g.t, x, &p));
    assert_int_equal(sp_tape_status(g.t), SPRY_USAGE);
    gradient_close(&g);
}

/* ---- advantages ---- */

/* By hand, gamma 0.5 and lambda 0.5: surprises 3 - 4 = -1, 2 + 2 - 2 = 2 and
 * 1 + 1 - 1 = 1, each added to a quarter of what follows. */
static void test_advantages_by_hand(void **state)
{
    const float reward[] = {1, 2, 3}, value[] = {1, 2, 4};
    const float right[] = {1.4375f, 1.75f, -1};
    float advantage[3], returns[3];

    (void)state;
    sp_gae(advantage, returns, reward, value, 3, 0.5, 0.5);
    for (int i = 0; i < 3; i++) {
        assert_true(fabsf(advantage[i] - right[i]) < 1e-6f);
        assert_true(fabsf(returns[i] - right[i] - value[i]) < 1e-6f);
    }
    /* with lambda 1 the return is the discounted reward, whatever the value */
    sp_gae(advantage, returns, reward, value, 3, 0.5, 1);
    assert_true(fabsf(returns[0] - 2.75f) < 1e-6f);
    sp_gae(advantage, returns, reward, value, 0, 0.5, 1); /* no step: nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_slopes),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_rank_slopes),
        cmocka_unit_test(test_hinge_values),
        cmocka_unit_test(test_lambdarank_order),
        cmocka_unit_test(test_lambdarank_value),
        cmocka_unit_test(test_choice_slopes),
        cmocka_unit_test(test_choice_values),
        cmocka_unit_test(test_advantages_by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
