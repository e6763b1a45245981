/* nn_gradient.h - slopes on the tape against slopes by differences.
 *
 * Everything a case depends on is weights of one sp_nn; its result y may have
 * any shape and is weighed with fixed numbers c. The sum <c, y> is taken in
 * double, and differences are of fourth order, so steps can be wide enough
 * for f32. */
#ifndef SPRY_NN_GRADIENT_H
#define SPRY_NN_GRADIENT_H

#include <math.h>

#include "check.h"
#include "nn/internal.h"
#include "nn/layers.h"
#include "nn/losses.h"

/* The case's network, built once, and its forward pass. */
typedef struct {
    sp_nn *n;
    sp_tape *t;
    double step;      /* of the differences; keep it off kinks */
    double tolerance; /* of |difference - slope| / (1 + |slope|) */
} gradient;

typedef sp_tensor *forward_pass(sp_tape *t, void *arg);

static inline void gradient_open(gradient *g, int threads)
{
    *g = (gradient){.step = 0x1p-5, .tolerance = 1e-3};
    check_ok(sp_nn_new(&g->n, 11));
    check_ok(sp_tape_new(&g->t, threads));
}

static inline void gradient_close(gradient *g)
{
    sp_tape_free(g->t);
    sp_nn_free(g->n);
    assert_int_equal(sp_alloc_live(), 0);
}

/* A tensor to be differentiated by, uniform in +-scale. */
static inline sp_tensor *gradient_input(gradient *g, const char *name,
                                        sp_shape shape, double scale)
{
    sp_tensor *x = sp_nn_weights(g->n, name, shape, sp_init_uniform(scale));

    assert_non_null(x);
    return x;
}

static inline float gradient_weight(int64_t i)
{
    return (float)(1 + (i * 7 + 3) % 11) / 6 - 1;
}

/* <c, y>, and a loss with that slope. */
static inline double weigh(gradient *g, sp_tensor *y, sp_tensor **loss)
{
    double sum = 0;
    float *c;

    check_ok(sp_tape_status(g->t));
    c = sp_tape_memory(g->t, y->size, sizeof *c);
    for (int64_t i = 0; i < y->size; i++) {
        c[i] = y->size == 1 ? 1 : gradient_weight(i);
        sum += (double)c[i] * (double)y->value[i];
    }
    if (loss)
        *loss = sp_loss_known(g->t, y, sum, c);
    return sum;
}

static inline double moved(gradient *g, forward_pass *f, void *arg, float *x,
                           double by)
{
    float before = *x;
    double sum;

    *x = (float)((double)before + by);
    sp_tape_begin(g->t, 0);
    sum = weigh(g, f(g->t, arg), NULL);
    *x = before;
    return sum;
}

/* The slope of <c, y> at *x. */
static inline double difference(gradient *g, forward_pass *f, void *arg,
                                float *x)
{
    double h = g->step;
    double one = moved(g, f, arg, x, h) - moved(g, f, arg, x, -h);
    double two = moved(g, f, arg, x, 2 * h) - moved(g, f, arg, x, -2 * h);

    return (8 * one - two) / (12 * h);
}

/* Every weight; where that is slow some, spread over all of the tensor. */
static inline int64_t gradient_stride(const sp_tensor *x)
{
    return unless_slow(1, 1 + (int)(x->size / 40));
}

static inline void gradient_check(gradient *g, forward_pass *f, void *arg)
{
    sp_tensor *loss, *x;
    const char *name;

    check_ok(sp_nn_status(g->n));
    sp_nn_forget(g->n);
    sp_tape_begin(g->t, 1);
    weigh(g, f(g->t, arg), &loss);
    check_ok(sp_tape_backward(g->t, loss));
    for (int i = 0; (x = sp_nn_at(g->n, i, &name)); i++)
        for (int64_t j = 0; j < x->size; j += gradient_stride(x)) {
            double slope = (double)x->grad[j];
            double right = difference(g, f, arg, &x->value[j]);

            if (fabs(right - slope) > g->tolerance * (1 + fabs(right)))
                fail_msg("d/d%s[%d] is %g, should be %g", name, (int)j, slope,
                         right);
        }
}

#endif
