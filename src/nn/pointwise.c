/* pointwise.c - functions of one number, and of two that meet.
 *
 * The slope of each function of one number is known from its result, so only
 * that is kept. */
#include "nn/layers.h"

#include <math.h>

#include "nn/internal.h"

/* ---- of one number ---- */

typedef struct {
    sp_tensor *x, *y;
} pair;

#define FUNCTION(name, result, slope)                                          \
    static void name##_back(sp_tape *t, const void *at)                        \
    {                                                                          \
        const pair *p = at;                                                    \
        const float *restrict dy = p->y->grad, *restrict value = p->y->value;  \
        float *restrict dx = p->x->grad;                                       \
        int64_t n = p->y->size;                                                \
        int threads = sp_tape_threads(t, n);                                   \
                                                                               \
        _Pragma("omp parallel for simd num_threads(threads)") for (int64_t i = \
                                                                       0;      \
                                                                   i < n; i++) \
        {                                                                      \
            float y = value[i];                                                \
            dx[i] += dy[i] * (slope);                                          \
        }                                                                      \
    }                                                                          \
                                                                               \
    sp_tensor *sp_nn_##name(sp_tape *t, sp_tensor *x)                          \
    {                                                                          \
        sp_tensor *y = x ? SP_RESULT(t, x->shape, x) : NULL;                   \
        const float *restrict value = x ? x->value : NULL;                     \
        int64_t n = y ? y->size : 0;                                           \
        int threads = sp_tape_threads(t, n);                                   \
                                                                               \
        if (!y)                                                                \
            return sp_tape_refuse(t, #name ": nothing to work on");            \
        _Pragma("omp parallel for simd num_threads(threads)") for (int64_t i = \
                                                                       0;      \
                                                                   i < n; i++) \
        {                                                                      \
            float v = value[i];                                                \
            y->value[i] = (result);                                            \
        }                                                                      \
        sp_tape_note(t, y, name##_back, &(pair){x, y}, sizeof(pair));          \
        return y;                                                              \
    }

FUNCTION(relu, v > 0 ? v : 0, y > 0 ? 1.0f : 0.0f)
FUNCTION(tanh, tanhf(v), 1 - y * y)
FUNCTION(sigmoid, 1 / (1 + expf(-v)), y *(1 - y))

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

static void multiply_back(sp_tape *t, const void *at)
{
    const meeting *n = at;
    int64_t size = n->y->size, step = n->b->size;

    (void)t;
    for (int64_t i = 0; n->a->grad && i < size; i += step)
        for (int64_t j = 0; j < step; j++)
            n->a->grad[i + j] += n->y->grad[i + j] * n->b->value[j];
    for (int64_t i = 0; n->b->grad && i < size; i += step)
        for (int64_t j = 0; j < step; j++)
            n->b->grad[j] += n->y->grad[i + j] * n->a->value[i + j];
}

sp_tensor *sp_nn_multiply(sp_tape *t, sp_tensor *a, sp_tensor *b)
{
    sp_tensor *y = meet(t, a, b);

    if (!y)
        return NULL;
    for (int64_t i = 0; i < y->size; i += b->size)
        for (int64_t j = 0; j < b->size; j++)
            y->value[i + j] = a->value[i + j] * b->value[j];
    sp_tape_note(t, y, multiply_back, &(meeting){a, b, y}, sizeof(meeting));
    return y;
}
