/* pointwise.c - functions of one number, and of two that meet.
 *
 * The slope of each function of one number is known from its result, so only
 * that is kept. */
#include "nn/layers.h"

#include <math.h>

#include "nn/internal.h"

/* ---- of one number ---- */

typedef struct {
    void (*forward)(float *restrict y, const float *restrict x, int64_t n);
    void (*back)(float *restrict dx, const float *restrict dy,
                 const float *restrict y, int64_t n);
} function;

static void relu(float *restrict y, const float *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
}

static void relu_back(float *restrict dx, const float *restrict dy,
                      const float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        dx[i] += y[i] > 0 ? dy[i] : 0;
}

static void sigmoid(float *restrict y, const float *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = 1 / (1 + expf(-x[i]));
}

static void sigmoid_back(float *restrict dx, const float *restrict dy,
                         const float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        dx[i] += dy[i] * y[i] * (1 - y[i]);
}

typedef struct {
    sp_tensor *x, *y;
    function f;
} note;

/* The i-th of `parts` pieces of n numbers begins here. */
static int64_t cut(int64_t n, int i, int parts)
{
    return n / parts * i + n % parts * i / parts;
}

static void back(sp_tape *t, const void *at)
{
    const note *n = at;
    int parts = sp_tape_threads(t, n->y->size);

#pragma omp parallel for num_threads(parts) schedule(static) if (parts > 1)
    for (int i = 0; i < parts; i++) {
        int64_t from = cut(n->y->size, i, parts);

        n->f.back(n->x->grad + from, n->y->grad + from, n->y->value + from,
                  cut(n->y->size, i + 1, parts) - from);
    }
}

static sp_tensor *apply(sp_tape *t, sp_tensor *x, function f)
{
    sp_tensor *y = x ? SP_RESULT(t, x->shape, x) : NULL;
    int parts = sp_tape_threads(t, y ? y->size : 0);

    if (!y)
        return sp_tape_refuse(t, "a function of nothing");
#pragma omp parallel for num_threads(parts) schedule(static) if (parts > 1)
    for (int i = 0; i < parts; i++) {
        int64_t from = cut(y->size, i, parts);

        f.forward(y->value + from, x->value + from,
                  cut(y->size, i + 1, parts) - from);
    }
    sp_tape_note(t, y, back, &(note){x, y, f}, sizeof(note));
    return y;
}

sp_tensor *sp_nn_relu(sp_tape *t, sp_tensor *x)
{
    return apply(t, x, (function){relu, relu_back});
}

sp_tensor *sp_nn_sigmoid(sp_tape *t, sp_tensor *x)
{
    return apply(t, x, (function){sigmoid, sigmoid_back});
}

/* ---- times a constant ---- */

typedef struct {
    sp_tensor *x, *y;
    float factor;
} scaled;

static void scale_back(sp_tape *t, const void *at)
{
    const scaled *n = at;

    (void)t;
    for (int64_t i = 0; i < n->y->size; i++)
        n->x->grad[i] += n->factor * n->y->grad[i];
}

sp_tensor *sp_nn_scale(sp_tape *t, sp_tensor *x, double factor)
{
    sp_tensor *y = x ? SP_RESULT(t, x->shape, x) : NULL;
    scaled n = {x, y, (float)factor};

    if (!y)
        return sp_tape_refuse(t, "scale: nothing to work on");
    for (int64_t i = 0; i < y->size; i++)
        y->value[i] = n.factor * x->value[i];
    sp_tape_note(t, y, scale_back, &n, sizeof n);
    return y;
}

/* ---- of two numbers ---- */

typedef struct {
    sp_tensor *a, *b, *y;
} meeting;

/* b as large as a, or one row of it. */
static sp_tensor *meet(sp_tape *t, sp_tensor *a, sp_tensor *b)
{
    if (!a || !b || b->size == 0 ||
        (b->size != a->size && b->size != sp_cols(a)))
        return sp_tape_refuse(t, "the two shapes do not meet");
    return SP_RESULT(t, a->shape, a, b);
}

static void add_back(sp_tape *t, const void *at)
{
    const meeting *n = at;

    (void)t;
    for (int64_t i = 0; n->a->grad && i < n->y->size; i++)
        n->a->grad[i] += n->y->grad[i];
    for (int64_t i = 0; n->b->grad && i < n->y->size; i += n->b->size)
        for (int64_t j = 0; j < n->b->size; j++)
            n->b->grad[j] += n->y->grad[i + j];
}

sp_tensor *sp_nn_add(sp_tape *t, sp_tensor *a, sp_tensor *b)
{
    sp_tensor *y = meet(t, a, b);

    if (!y)
        return NULL;
    for (int64_t i = 0; i < y->size; i += b->size)
        for (int64_t j = 0; j < b->size; j++)
            y->value[i + j] = a->value[i + j] + b->value[j];
    sp_tape_note(t, y, add_back, &(meeting){a, b, y}, sizeof(meeting));
    return y;
}
