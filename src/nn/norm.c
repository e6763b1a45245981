/* norm.c - rows to mean 0 and variance 1 (Ba, Kiros and Hinton 2016). */
#include "nn/layers.h"

#include <math.h>

#include "nn/internal.h"

static const float EPSILON = 1e-5f;

sp_norm sp_norm_make(sp_nn *n, const char *name, int64_t width)
{
    sp_norm l = {0};

    l.gain = sp_nn_part(n, name, "gain", SP_SHAPE(width), sp_init_constant(1));
    l.bias = sp_nn_part(n, name, "bias", SP_SHAPE(width), sp_init_constant(0));
    return l;
}

typedef struct {
    sp_norm l;
    sp_tensor *x, *y;
    float *z;       /* [rows, cols] before gain and bias */
    float *inverse; /* [rows] 1 / deviation */
} note;

/* With g = dy gain: dx = (g - mean(g) - z mean(g z)) / deviation */
static void row_back(const note *n, int64_t i, int64_t cols)
{
    const float *dy = n->y->grad + i * cols, *z = n->z + i * cols;
    const float *gain = n->l.gain->value;
    float *dx = n->x->grad + i * cols, mean = 0, along = 0;

    for (int64_t j = 0; j < cols; j++) {
        mean += dy[j] * gain[j];
        along += dy[j] * gain[j] * z[j];
    }
    mean /= (float)cols;
    along /= (float)cols;
    for (int64_t j = 0; j < cols; j++)
        dx[j] += n->inverse[i] * (dy[j] * gain[j] - mean - z[j] * along);
}

static void back(sp_tape *t, const void *at)
{
    const note *n = at;
    int64_t rows = sp_rows(n->y), cols = sp_cols(n->y);
    float *gain = n->l.gain->grad, *bias = n->l.bias->grad;

    (void)t;
    for (int64_t i = 0; i < rows; i++) {
        const float *dy = n->y->grad + i * cols, *z = n->z + i * cols;

        for (int64_t j = 0; gain && j < cols; j++)
            gain[j] += dy[j] * z[j];
        for (int64_t j = 0; bias && j < cols; j++)
            bias[j] += dy[j];
        if (n->x->grad)
            row_back(n, i, cols);
    }
}

static void row_forward(const note *n, int64_t i, int64_t cols)
{
    const float *x = n->x->value + i * cols;
    float *y = n->y->value + i * cols, *z = n->z + i * cols;
    float mean = 0, variance = 0;

    for (int64_t j = 0; j < cols; j++)
        mean += x[j];
    mean /= (float)cols;
    for (int64_t j = 0; j < cols; j++)
        variance += (x[j] - mean) * (x[j] - mean);
    n->inverse[i] = 1 / sqrtf(variance / (float)cols + EPSILON);
    for (int64_t j = 0; j < cols; j++) {
        z[j] = (x[j] - mean) * n->inverse[i];
        y[j] = z[j] * n->l.gain->value[j] + n->l.bias->value[j];
    }
}

sp_tensor *sp_nn_norm(sp_tape *t, const sp_norm *l, sp_tensor *x)
{
    note n = {.l = *l, .x = x};

    if (!x || !l->gain || !l->bias || l->gain->size != sp_cols(x))
        return sp_tape_refuse(t, "norm: the width differs");
    n.y = SP_RESULT(t, x->shape, x, l->gain, l->bias);
    n.z = sp_tape_memory(t, x->size, sizeof *n.z);
    n.inverse = sp_tape_memory(t, sp_rows(x), sizeof *n.inverse);
    if (!sp_tape_good(t))
        return NULL;
    for (int64_t i = 0; i < sp_rows(x); i++)
        row_forward(&n, i, sp_cols(x));
    sp_tape_note(t, n.y, back, &n, sizeof n);
    return n.y;
}
