/* dense.c - every output from every input: y = x W' + b. */
#include "nn/layers.h"

#include <math.h>
#include <string.h>

#include "nn/internal.h"

sp_dense sp_dense_make(sp_nn *n, const char *name, int64_t in, int64_t out,
                       int bias)
{
    sp_init start = sp_init_uniform(1 / sqrt((double)(in > 0 ? in : 1)));
    sp_dense d = {0};

    d.weight = sp_nn_part(n, name, "weight", SP_SHAPE(out, in), start);
    if (bias)
        d.bias = sp_nn_part(n, name, "bias", SP_SHAPE(out), start);
    return d;
}

typedef struct {
    sp_dense d;
    sp_tensor *x, *y;
} note;

/* bias->grad += sum of the rows of dy */
static void sum_rows(float *out, const sp_tensor *y, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            out[j] += y->grad[i * cols + j];
}

static void back(sp_tape *t, const void *at)
{
    const note *n = at;
    const sp_tensor *x = n->x, *y = n->y, *w = n->d.weight;
    int64_t rows = sp_rows(x), in = sp_cols(x), out = sp_cols(y);
    int threads = sp_tape_threads(t, INT64_MAX);

    if (x->grad) /* dx += dy W */
        sp_nn_gemm(&(sp_gemm){.m = rows,
                              .n = in,
                              .k = out,
                              .add = 1,
                              .a = y->grad,
                              .lda = out,
                              .b = w->value,
                              .ldb = in,
                              .c = x->grad,
                              .ldc = in},
                   threads);
    if (w->grad) /* dW += dy' x */
        sp_nn_gemm(&(sp_gemm){.m = out,
                              .n = in,
                              .k = rows,
                              .add = 1,
                              .ta = 1,
                              .a = y->grad,
                              .lda = out,
                              .b = x->value,
                              .ldb = in,
                              .c = w->grad,
                              .ldc = in},
                   threads);
    if (n->d.bias && n->d.bias->grad)
        sum_rows(n->d.bias->grad, y, rows, out);
}

static void start_with_bias(sp_tensor *y, const sp_tensor *bias)
{
    int64_t rows = sp_rows(y), cols = sp_cols(y);

    for (int64_t i = 0; i < rows; i++)
        memcpy(y->value + i * cols, bias->value, (size_t)cols * sizeof(float));
}

sp_tensor *sp_nn_dense(sp_tape *t, const sp_dense *d, sp_tensor *x)
{
    const sp_tensor *w = d->weight;
    int64_t in = w ? sp_cols(w) : 0, out = w ? sp_rows(w) : 0;
    sp_tensor *y;

    if (!x || !w || sp_cols(x) != in)
        return sp_tape_refuse(t, "dense: %lld inputs expected", (long long)in);
    y = SP_RESULT(t, sp_shape_with_last(x->shape, out), x, d->weight, d->bias);
    if (!y)
        return NULL;
    if (d->bias)
        start_with_bias(y, d->bias);
    sp_nn_gemm(&(sp_gemm){.m = sp_rows(x),
                          .n = out,
                          .k = in,
                          .a = x->value,
                          .lda = in,
                          .b = w->value,
                          .ldb = in,
                          .tb = 1,
                          .c = y->value,
                          .ldc = out,
                          .add = d->bias != NULL},
               sp_tape_threads(t, INT64_MAX));
    sp_tape_note(t, y, back, &(note){*d, x, y}, sizeof(note));
    return y;
}
