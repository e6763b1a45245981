/* softmax.c - rows of numbers to rows of probabilities. */
#include "nn/layers.h"

#include <math.h>

#include "nn/internal.h"

typedef struct {
    sp_tensor *x, *y;
} note;

/* dx = y (dy - <dy, y>) */
static void back(sp_tape *t, const void *at)
{
    const note *n = at;
    int64_t rows = sp_rows(n->y), cols = sp_cols(n->y);

    (void)t;
    for (int64_t i = 0; i < rows; i++) {
        const float *y = n->y->value + i * cols, *dy = n->y->grad + i * cols;
        float *dx = n->x->grad + i * cols, mean = 0;

        for (int64_t j = 0; j < cols; j++)
            mean += dy[j] * y[j];
        for (int64_t j = 0; j < cols; j++)
            dx[j] += y[j] * (dy[j] - mean);
    }
}

/* Less the largest, so that exp cannot overflow. */
static void row_softmax(float *y, const float *x, int64_t n)
{
    float top = -INFINITY, sum = 0;

    for (int64_t j = 0; j < n; j++)
        top = x[j] > top ? x[j] : top;
    for (int64_t j = 0; j < n; j++)
        sum += y[j] = expf(x[j] - top);
    for (int64_t j = 0; j < n; j++)
        y[j] /= sum;
}

sp_tensor *sp_nn_softmax(sp_tape *t, sp_tensor *x)
{
    sp_tensor *y = x ? SP_RESULT(t, x->shape, x) : NULL;

    if (!y)
        return sp_tape_refuse(t, "softmax: nothing to work on");
    for (int64_t i = 0; i < sp_rows(y); i++)
        row_softmax(y->value + i * sp_cols(y), x->value + i * sp_cols(y),
                    sp_cols(y));
    sp_tape_note(t, y, back, &(note){x, y}, sizeof(note));
    return y;
}
