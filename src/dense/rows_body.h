/* rows_body.h - pools, softmax, layer norm, reductions and elementwise chains,
 * row by row, in vectors. */
#include <math.h>

#include "dense/curves_body.h"
#include "dense/loops.h"

INLINE vec load_some(const float *x, int64_t count, float otherwise)
{
    float y[LANES];

    if (count >= LANES)
        return load(x);
    for (int i = 0; i < LANES; i++)
        y[i] = i < count ? x[i] : otherwise;
    return load(y);
}

INLINE float sum_of(vec x)
{
    float y = 0;

    for (int i = 0; i < LANES; i++)
        y += x[i];
    return y;
}

INLINE float most_of(vec x)
{
    float y = x[0];

    for (int i = 1; i < LANES; i++)
        y = x[i] > y || x[i] != x[i] ? x[i] : y;
    return y;
}

/* ---- pools ---- */

/* The taps of a window that lie inside. */
typedef struct {
    const float *first;
    int64_t rows, cols, row, col;
} window;

static window window_of(const sp_dense_core *p, const spry_tensors *t,
                        int64_t i)
{
    const spry_operator *op = &p->op;
    int64_t y = i / p->width % p->height * op->stride_h - op->pad_top;
    int64_t x = i % p->width * op->stride_w - op->pad_left;
    sp_taps r = sp_taps_inside(y, op->r, op->dilate_h, op->h);
    sp_taps s = sp_taps_inside(x, op->s, op->dilate_w, op->w);

    y += r.from * op->dilate_h + i / p->width / p->height * op->h;
    x += s.from * op->dilate_w;
    return (window){t->in + (y * op->w + x) * op->pitch_in, r.to - r.from,
                    s.to - s.from, op->dilate_h * op->w * op->pitch_in,
                    op->dilate_w * op->pitch_in};
}

INLINE vec pool_vector(const window *w, int64_t c, int64_t left, int max)
{
    vec x = same(max ? -INFINITY : 0);

    for (int64_t r = 0; r < w->rows; r++)
        for (int64_t s = 0; s < w->cols; s++) {
            const float *at = w->first + r * w->row + s * w->col + c;
            vec y = load_some(at, left, 0);

            x = max ? maximum(x, y) : x + y;
        }
    return x;
}

INLINE void pool(const sp_dense_core *p, const spry_tensors *t, int64_t i)
{
    const spry_operator *op = &p->op;
    window w = window_of(p, t, i);
    int64_t count = op->counts_pad ? op->r * op->s : w.rows * w.cols;
    float by = op->by == SPRY_BY_MEAN ? 1 / (float)count : 1;
    float *out = t->out + i * op->pitch_out;

    for (int64_t c = 0; c < op->c; c += LANES) {
        int64_t left = op->c - c;
        vec x = op->by == SPRY_BY_MAX ? pool_vector(&w, c, left, 1)
                                      : pool_vector(&w, c, left, 0) * by;

        store_channels(out + c, x, left);
    }
}

/* ---- softmax ---- */

INLINE void softmax(const spry_operator *op, const spry_tensors *t, int64_t i)
{
    const float *in = t->in + i * op->pitch_in;
    const float *add = op->add == SPRY_ADD_ROW ? t->add
                       : op->add               ? t->add + i * op->pitch_out
                                               : NULL;
    float *out = t->out + i * op->pitch_out;
    vec most = same(-INFINITY), sum = {0};
    float top, by;

    for (int64_t j = 0; j < op->n; j += LANES) {
        int64_t left = op->n - j;
        vec x = load_some(in + j, left, -INFINITY) * op->scale;

        if (add)
            x += load_some(add + j, left, 0);
        if (left < LANES) /* a scale may have turned what is not there */
            for (int64_t k = left; k < LANES; k++)
                x[k] = -INFINITY;
        most = larger(x, most);
        store_channels(out + j, x, left);
    }
    top = most_of(most);
    for (int64_t j = 0; j < op->n; j += LANES) {
        int64_t left = op->n - j;
        vec x = vec_exp(load_some(out + j, left, -INFINITY) - top);

        if (left < LANES)
            for (int64_t k = left; k < LANES; k++)
                x[k] = 0;
        sum += x;
        store_channels(out + j, x, left);
    }
    by = 1 / sum_of(sum);
    for (int64_t j = 0; j < op->n; j += LANES)
        store_channels(out + j, load_some(out + j, op->n - j, 0) * by,
                       op->n - j);
}

/* ---- layer norm ---- */

INLINE void norm(const spry_operator *op, const spry_tensors *t, int64_t i)
{
    const float *in = t->in + i * op->pitch_in;
    const float *add = op->add ? t->add + i * op->pitch_out : NULL;
    float *out = t->out + i * op->pitch_out;
    vec sum = {0}, squares = {0};
    float mean, by;

    for (int64_t j = 0; j < op->n; j += LANES) {
        vec x = load_some(in + j, op->n - j, 0);

        if (add)
            x += load_some(add + j, op->n - j, 0);
        sum += x;
        store_channels(out + j, x, op->n - j);
    }
    mean = sum_of(sum) / (float)op->n;
    for (int64_t j = 0; j < op->n; j += LANES) {
        vec x = load_some(out + j, op->n - j, mean) - mean;

        squares += x * x;
    }
    by = 1 / sqrtf(sum_of(squares) / (float)op->n + op->eps);
    for (int64_t j = 0; j < op->n; j += LANES) {
        int64_t left = op->n - j;
        vec x = (load_some(out + j, left, 0) - mean) * by;

        store_channels(out + j,
                       x * load_some(op->weights + j, left, 0) +
                           load_some(op->bias + j, left, 0),
                       left);
    }
}

/* ---- reductions ---- */

INLINE void reduce(const spry_operator *op, const spry_tensors *t, int64_t i)
{
    const float *in = t->in + i * op->pitch_in;
    int max = op->by == SPRY_BY_MAX;
    vec x = same(max ? -INFINITY : 0);
    float y;

    for (int64_t j = 0; j < op->n; j += LANES) {
        vec next = load_some(in + j, op->n - j, max ? -INFINITY : 0);

        x = max ? maximum(x, next) : x + next;
    }
    y = max ? most_of(x) : sum_of(x);
    t->out[i * op->pitch_out] = op->by == SPRY_BY_MEAN ? y / (float)op->n : y;
}

/* ---- chains ---- */

INLINE vec step(vec x, vec y, spry_step_op op)
{
    return op == SPRY_STEP_ADD   ? x + y
           : op == SPRY_STEP_SUB ? x - y
           : op == SPRY_STEP_MUL ? x * y
           : op == SPRY_STEP_DIV ? x / y
           : op == SPRY_STEP_MAX ? maximum(x, y)
                                 : minimum(x, y);
}

INLINE void step_row(float *out, const float *in, sp_chain_operand y, int64_t n,
                     spry_step_op op)
{
    vec one = same(*y.at);

    for (int64_t j = 0; j < n; j += LANES) {
        vec x = load_some(in + j, n - j, 0);
        vec z = y.step ? load_some(y.at + j, n - j, 1) : one;

        store_channels(out + j, step(x, z, op), n - j);
    }
}

static void chain(const spry_operator *op, const spry_tensors *t, int64_t i,
                  int64_t from, int64_t to)
{
    const float *in = t->in + i * op->pitch_in + from;
    float *out = t->out + i * op->pitch_out + from;

    for (int k = 0; k < op->steps; k++, in = out) {
        const spry_step *s = &op->step[k];
        sp_chain_operand y = sp_chain_operand_of(op, t, k, i);

        y.at += from * y.step;
        switch (s->op) {
#define CASE(name) \
    case name: step_row(out, in, y, to - from, name); break;
            CASE(SPRY_STEP_ADD)
            CASE(SPRY_STEP_SUB)
            CASE(SPRY_STEP_MUL)
            CASE(SPRY_STEP_DIV)
            CASE(SPRY_STEP_MAX)
            CASE(SPRY_STEP_MIN)
#undef CASE
        case SPRY_STEP_ACT:
            if (in != out)
                memmove(out, in, (size_t)(to - from) * sizeof *out);
            bend(out, to - from,
                 &(sp_finish){
                     .act = s->act, .alpha = s->alpha, .beta = s->beta});
        }
    }
}

/* ---- all ---- */

static void rows(const sp_dense_core *p, const spry_tensors *t, int64_t from,
                 int64_t to)
{
    const spry_operator *op = &p->op;

    for (int64_t i = from; i < to; i++)
        switch (op->kind) {
        case SPRY_POOL: pool(p, t, i); break;
        case SPRY_SOFTMAX: softmax(op, t, i); break;
        case SPRY_LAYERNORM: norm(op, t, i); break;
        case SPRY_REDUCE: reduce(op, t, i); break;
        case SPRY_ELEMENTWISE:
            for (int64_t j = 0; j < op->n; j += 4096)
                chain(op, t, i, j, op->n < j + 4096 ? op->n : j + 4096);
            break;
        case SPRY_CONV2D:
        case SPRY_MATMUL: break;
        }
}

sp_row_loops *const SET(sp_row_loops) = rows;
