/* lstm.c - a sequence read step by step, with a memory (Hochreiter and
 * Schmidhuber 1997).
 *
 *   i, f, o = sigmoid(...)   g = tanh(...)   each of x_t W' + h_(t-1) V' + b
 *   c_t = f c_(t-1) + i g    h_t = o tanh(c_t)
 *
 * What x contributes is one product for all steps. Steps beyond the end of a
 * sequence have h = c = 0, so reading backwards begins from nothing. */
#include "nn/layers.h"

#include <math.h>
#include <string.h>

#include "nn/internal.h"

enum { IN, FORGET, CELL, OUT, GATES };

static void remember_first(sp_tensor *bias, int64_t hidden, int loaded)
{
    for (int64_t j = 0; bias && !loaded && j < hidden; j++)
        bias->value[FORGET * hidden + j] = 1;
}

sp_lstm sp_lstm_make(sp_nn *n, const char *name, int64_t width, int64_t hidden)
{
    int64_t wide = GATES * hidden;
    sp_init start =
        sp_init_uniform(1 / sqrt((double)(hidden > 0 ? hidden : 1)));
    sp_lstm l = {0};

    l.in = sp_nn_part(n, name, "in", SP_SHAPE(wide, width), start);
    l.back = sp_nn_part(n, name, "back", SP_SHAPE(wide, hidden), start);
    l.bias = sp_nn_part(n, name, "bias", SP_SHAPE(wide), sp_init_constant(0));
    remember_first(l.bias, hidden, n->loaded);
    return l;
}

typedef struct {
    sp_lstm l;
    sp_tensor *x, *y;
    const int32_t *length; /* [batch] */
    float *gate;           /* [steps, batch, 4 hidden] after their function */
    float *cell;           /* [steps, batch, hidden] */
    int64_t steps, batch, width, hidden;
    int reverse;
    int threads;
} note;

/* The k-th step to be read, and the one read before it (-1: none). */
static int64_t step_at(const note *n, int64_t k)
{
    return n->reverse ? n->steps - 1 - k : k;
}

static int64_t step_before(const note *n, int64_t k)
{
    return k == 0 ? -1 : step_at(n, k - 1);
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

/* ---- forward ---- */

/* Sums to gates, cell and output of one sequence at one step. */
static void read_step(float *gate, float *c, float *h, const float *c_before,
                      int64_t hidden)
{
    for (int64_t j = 0; j < hidden; j++) {
        float *i = gate + IN * hidden + j, *f = gate + FORGET * hidden + j;
        float *g = gate + CELL * hidden + j, *o = gate + OUT * hidden + j;

        *i = sigmoid(*i);
        *f = sigmoid(*f);
        *g = tanhf(*g);
        *o = sigmoid(*o);
        c[j] = *i * *g + (c_before ? *f * c_before[j] : 0);
        h[j] = *o * tanhf(c[j]);
    }
}

static void forward_step(const note *n, int64_t at, int64_t before)
{
    int64_t rows = n->batch, width = n->hidden, wide = GATES * width;
    float *gate = n->gate + at * rows * wide, *h = n->y->value, *c = n->cell;

    if (before >= 0)
        sp_nn_gemm(&(sp_gemm){.m = rows,
                              .n = wide,
                              .k = width,
                              .add = 1,
                              .a = h + before * rows * width,
                              .lda = width,
                              .b = n->l.back->value,
                              .ldb = width,
                              .tb = 1,
                              .c = gate,
                              .ldc = wide},
                   n->threads);
    for (int64_t b = 0; b < rows; b++) {
        int64_t here = (at * rows + b) * width;

        if (at < n->length[b]) {
            read_step(gate + b * wide, c + here, h + here,
                      before < 0 ? NULL : c + (before * rows + b) * width,
                      width);
        } else {
            memset(c + here, 0, (size_t)width * sizeof *c);
            memset(h + here, 0, (size_t)width * sizeof *h);
        }
    }
}

static void forward(const note *n)
{
    int64_t rows = n->steps * n->batch, wide = GATES * n->hidden;

    for (int64_t i = 0; i < rows; i++)
        memcpy(n->gate + i * wide, n->l.bias->value,
               (size_t)wide * sizeof(float));
    sp_nn_gemm(&(sp_gemm){.m = rows,
                          .n = wide,
                          .k = n->width,
                          .add = 1,
                          .a = n->x->value,
                          .lda = n->width,
                          .b = n->l.in->value,
                          .ldb = n->width,
                          .tb = 1,
                          .c = n->gate,
                          .ldc = wide},
               n->threads);
    for (int64_t k = 0; k < n->steps; k++)
        forward_step(n, step_at(n, k), step_before(n, k));
}

/* ---- backward ---- */

/* dh and dc of one sequence at one step become the slopes of its sums, which
 * take the place of the gates, and dc of the step before. */
static void unread_step(float *gate, const float *c, const float *dh, float *dc,
                        const float *c_before, int64_t hidden)
{
    for (int64_t j = 0; j < hidden; j++) {
        float i = gate[IN * hidden + j], f = gate[FORGET * hidden + j];
        float g = gate[CELL * hidden + j], o = gate[OUT * hidden + j];
        float tanh_c = tanhf(c[j]), was = c_before ? c_before[j] : 0;
        float d = dc[j] + dh[j] * o * (1 - tanh_c * tanh_c);

        gate[IN * hidden + j] = d * g * i * (1 - i);
        gate[FORGET * hidden + j] = d * was * f * (1 - f);
        gate[CELL * hidden + j] = d * i * (1 - g * g);
        gate[OUT * hidden + j] = dh[j] * tanh_c * o * (1 - o);
        dc[j] = d * f;
    }
}

/* dh, dc [batch, hidden]: what later steps want of this one; they become
 * what this step wants of the one before. */
static void backward_step(const note *n, int64_t at, int64_t before, float *dh,
                          float *dc)
{
    int64_t rows = n->batch, width = n->hidden, wide = GATES * width;
    float *gate = n->gate + at * rows * wide;

    for (int64_t b = 0; b < rows; b++) {
        int64_t here = (at * rows + b) * width;

        for (int64_t j = 0; j < width; j++)
            dh[b * width + j] += n->y->grad[here + j];
        if (at < n->length[b])
            unread_step(
                gate + b * wide, n->cell + here, dh + b * width, dc + b * width,
                before < 0 ? NULL : n->cell + (before * rows + b) * width,
                width);
        else
            memset(gate + b * wide, 0, (size_t)wide * sizeof *gate);
    }
    sp_nn_gemm(&(sp_gemm){.m = rows,
                          .n = width,
                          .k = wide,
                          .a = gate,
                          .lda = wide,
                          .b = n->l.back->value,
                          .ldb = width,
                          .c = dh,
                          .ldc = width},
               n->threads);
}

/* Once all slopes are known, the rest is three products. Output and slope
 * that meet in dV are one step apart. */
static void backward_weights(const note *n)
{
    int64_t rows = n->steps * n->batch, wide = GATES * n->hidden;
    int64_t apart = n->batch * n->hidden, apart_wide = n->batch * wide;
    const float *slope = n->gate;

    if (n->x->grad)
        sp_nn_gemm(&(sp_gemm){.m = rows,
                              .n = n->width,
                              .k = wide,
                              .add = 1,
                              .a = slope,
                              .lda = wide,
                              .b = n->l.in->value,
                              .ldb = n->width,
                              .c = n->x->grad,
                              .ldc = n->width},
                   n->threads);
    if (n->l.in->grad)
        sp_nn_gemm(&(sp_gemm){.m = wide,
                              .n = n->width,
                              .k = rows,
                              .add = 1,
                              .a = slope,
                              .lda = wide,
                              .ta = 1,
                              .b = n->x->value,
                              .ldb = n->width,
                              .c = n->l.in->grad,
                              .ldc = n->width},
                   n->threads);
    if (n->l.back->grad && n->steps > 1)
        sp_nn_gemm(&(sp_gemm){.m = wide,
                              .n = n->hidden,
                              .k = rows - n->batch,
                              .a = slope + (n->reverse ? 0 : apart_wide),
                              .lda = wide,
                              .ta = 1,
                              .add = 1,
                              .b = n->y->value + (n->reverse ? apart : 0),
                              .ldb = n->hidden,
                              .c = n->l.back->grad,
                              .ldc = n->hidden},
                   n->threads);
    for (int64_t i = 0; n->l.bias->grad && i < rows; i++)
        for (int64_t j = 0; j < wide; j++)
            n->l.bias->grad[j] += slope[i * wide + j];
}

static void back(sp_tape *t, const void *at)
{
    const note *n = at;
    int64_t size = n->batch * n->hidden;
    float *dh = sp_tape_memory(t, size, sizeof *dh);
    float *dc = sp_tape_memory(t, size, sizeof *dc);

    if (!dh || !dc)
        return;
    memset(dh, 0, (size_t)size * sizeof *dh);
    memset(dc, 0, (size_t)size * sizeof *dc);
    for (int64_t k = n->steps - 1; k >= 0; k--)
        backward_step(n, step_at(n, k), step_before(n, k), dh, dc);
    backward_weights(n);
}

/* ---- the layer ---- */

/* A copy of the lengths, or as many full ones. */
static const int32_t *lengths(sp_tape *t, const int32_t *length, int64_t batch,
                              int64_t steps)
{
    int32_t *kept = sp_tape_memory(t, batch, sizeof *kept);

    for (int64_t b = 0; kept && b < batch; b++)
        kept[b] = length ? length[b] : (int32_t)steps;
    return kept;
}

static int fits(const sp_lstm *l, const sp_tensor *x)
{
    return x && l->in && l->back && l->bias && x->shape.rank == 3 &&
           sp_cols(l->in) == sp_cols(x);
}

sp_tensor *sp_nn_lstm(sp_tape *t, const sp_lstm *l, sp_tensor *x,
                      const int32_t *length, int reverse)
{
    note n = {.l = *l, .x = x, .reverse = reverse};

    if (!fits(l, x))
        return sp_tape_refuse(t, "lstm: [steps, batch, width] expected");
    n.steps = x->shape.dim[0];
    n.batch = x->shape.dim[1];
    n.width = sp_cols(x);
    n.hidden = sp_cols(l->back);
    n.threads = sp_tape_threads(t, INT64_MAX);
    n.y = SP_RESULT(t, SP_SHAPE(n.steps, n.batch, n.hidden), x, l->in, l->back,
                    l->bias);
    n.length = lengths(t, length, n.batch, n.steps);
    n.gate =
        sp_tape_memory(t, n.steps * n.batch * GATES * n.hidden, sizeof *n.gate);
    n.cell = sp_tape_memory(t, n.steps * n.batch * n.hidden, sizeof *n.cell);
    if (!sp_tape_good(t))
        return NULL;
    forward(&n);
    sp_tape_note(t, n.y, back, &n, sizeof n);
    return n.y;
}

sp_tensor *sp_nn_bilstm(sp_tape *t, const sp_lstm l[2], sp_tensor *x,
                        const int32_t *length)
{
    sp_tensor *both[2] = {sp_nn_lstm(t, &l[0], x, length, 0),
                          sp_nn_lstm(t, &l[1], x, length, 1)};
    sp_tensor *y = sp_nn_join(t, both, 2);

    return y ? sp_nn_reshape(t, y, sp_shape_with_last(x->shape, sp_cols(y)))
             : NULL;
}
