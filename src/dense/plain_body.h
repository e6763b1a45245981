/* plain_body.h - the obvious loops, compiled once for each instruction set as
 * a user who cares would: the compiler finds the vectors.
 *
 * Weights lie so that the innermost loop runs over channels side by side:
 * [r][s][c / groups][k] of convolutions, [batch][k][n] of products. */
#include <math.h>

#include "dense/loops.h"

/* What becomes of a row of sums. */
static void finish(const sp_dense_core *p, const spry_tensors *t, int64_t place,
                   const float *sum)
{
    const spry_operator *op = &p->op;
    float *out = t->out + place;
    const float *add = op->add ? t->add + place : NULL;

    for (int64_t j = 0; j < p->cols; j++) {
        float x = sum[j] + (op->with_bias ? op->bias[j] : 0);

        if (op->add == SPRY_ADD_BEFORE)
            x += add[j];
        if (op->act == SPRY_ACT_RELU)
            x = x < 0 ? 0 : x;
        else if (op->act)
            x = (float)sp_act(op->act, (double)x, (double)op->alpha,
                              (double)op->beta);
        out[j] = op->add == SPRY_ADD_AFTER ? x + add[j] : x;
    }
}

/* ---- convolutions ---- */

static void add_tap(const sp_dense_core *p, float *restrict sum,
                    const float *in, const float *weights)
{
    int64_t c = p->op.c / p->op.groups, k = p->op.k / p->op.groups;

    if (c == 1 && k == 1) {
        for (int64_t j = 0; j < p->op.k; j++)
            sum[j] += in[j] * weights[j];
        return;
    }
    for (int64_t g = 0; g < p->op.groups; g++)
        for (int64_t i = 0; i < c; i++) {
            const float *w = weights + i * p->op.k + g * k;
            float a = in[g * c + i];

            for (int64_t j = 0; j < k; j++)
                sum[g * k + j] += a * w[j];
        }
}

static void convolve(const sp_dense_core *p, const spry_tensors *t, int64_t i,
                     float *sum)
{
    const spry_operator *op = &p->op;
    int64_t image = i / p->width / p->height, step = op->c / op->groups * op->k;
    int64_t y0 = i / p->width % p->height * op->stride_h - op->pad_top;
    int64_t x0 = i % p->width * op->stride_w - op->pad_left;

    for (int64_t j = 0; j < p->cols; j++)
        sum[j] = 0;
    for (int64_t r = 0; r < op->r; r++)
        for (int64_t s = 0; s < op->s; s++) {
            int64_t y = y0 + r * op->dilate_h, x = x0 + s * op->dilate_w;

            if (y >= 0 && y < op->h && x >= 0 && x < op->w)
                add_tap(p, sum,
                        t->in +
                            ((image * op->h + y) * op->w + x) * op->pitch_in,
                        p->packed + (r * op->s + s) * step);
        }
}

static void pool(const sp_dense_core *p, const spry_tensors *t, int64_t i)
{
    const spry_operator *op = &p->op;
    int64_t image = i / p->width / p->height, count = 0;
    int64_t y0 = i / p->width % p->height * op->stride_h - op->pad_top;
    int64_t x0 = i % p->width * op->stride_w - op->pad_left;
    float *restrict out = t->out + i * op->pitch_out;
    float by;

    for (int64_t j = 0; j < op->c; j++)
        out[j] = op->by == SPRY_BY_MAX ? -INFINITY : 0;
    for (int64_t r = 0; r < op->r; r++)
        for (int64_t s = 0; s < op->s; s++) {
            int64_t y = y0 + r * op->dilate_h, x = x0 + s * op->dilate_w;
            const float *in;

            if (y < 0 || y >= op->h || x < 0 || x >= op->w)
                continue;
            in = t->in + ((image * op->h + y) * op->w + x) * op->pitch_in;
            count++;
            if (op->by == SPRY_BY_MAX)
                for (int64_t j = 0; j < op->c; j++)
                    out[j] = in[j] > out[j] || in[j] != in[j] ? in[j] : out[j];
            else
                for (int64_t j = 0; j < op->c; j++)
                    out[j] += in[j];
        }
    if (op->by != SPRY_BY_MEAN)
        return;
    by = 1 / (float)(op->counts_pad ? op->r * op->s : count);
    for (int64_t j = 0; j < op->c; j++)
        out[j] *= by;
}

/* ---- products ---- */

static void multiply(const sp_dense_core *p, const spry_tensors *t, int64_t i,
                     float *restrict sum)
{
    const spry_operator *op = &p->op;
    int64_t batch = i / op->m;
    const float *in = t->in + batch * op->skip_in + i % op->m * op->pitch_in;
    const float *b = op->given ? t->b : p->packed;
    int64_t row = op->given ? op->pitch_b : op->n;

    if (!op->shared_b)
        b += batch * (op->given ? op->skip_b : op->k * op->n);
    if (op->given && op->transposed) {
        for (int64_t j = 0; j < op->n; j++) {
            float x = 0;

            for (int64_t k = 0; k < op->k; k++)
                x += in[k] * b[j * row + k];
            sum[j] = x;
        }
        return;
    }
    for (int64_t j = 0; j < op->n; j++)
        sum[j] = 0;
    for (int64_t k = 0; k < op->k; k++)
        for (int64_t j = 0; j < op->n; j++)
            sum[j] += in[k] * b[k * row + j];
}

/* ---- rows ---- */

static void softmax(const sp_dense_core *p, const spry_tensors *t, int64_t i)
{
    const spry_operator *op = &p->op;
    const float *in = t->in + i * op->pitch_in;
    const float *add = op->add == SPRY_ADD_ROW ? t->add
                       : op->add               ? t->add + i * op->pitch_out
                                               : NULL;
    float *out = t->out + i * op->pitch_out;
    float most = -INFINITY, sum = 0;

    for (int64_t j = 0; j < op->n; j++) {
        out[j] = in[j] * op->scale + (add ? add[j] : 0);
        most = out[j] > most ? out[j] : most;
    }
    for (int64_t j = 0; j < op->n; j++) {
        out[j] = expf(out[j] - most);
        sum += out[j];
    }
    for (int64_t j = 0; j < op->n; j++)
        out[j] /= sum;
}

static void norm(const sp_dense_core *p, const spry_tensors *t, int64_t i)
{
    const spry_operator *op = &p->op;
    const float *in = t->in + i * op->pitch_in;
    float *out = t->out + i * op->pitch_out;
    float sum = 0, squares = 0, mean, by;

    for (int64_t j = 0; j < op->n; j++) {
        out[j] = in[j] + (op->add ? t->add[i * op->pitch_out + j] : 0);
        sum += out[j];
    }
    mean = sum / (float)op->n;
    for (int64_t j = 0; j < op->n; j++)
        squares += (out[j] - mean) * (out[j] - mean);
    by = 1 / sqrtf(squares / (float)op->n + op->eps);
    for (int64_t j = 0; j < op->n; j++)
        out[j] = (out[j] - mean) * by * op->weights[j] + op->bias[j];
}

static void reduce(const sp_dense_core *p, const spry_tensors *t, int64_t i)
{
    const spry_operator *op = &p->op;
    const float *in = t->in + i * op->pitch_in;
    float x = op->by == SPRY_BY_MAX ? -INFINITY : 0;

    for (int64_t j = 0; j < op->n; j++)
        x = op->by != SPRY_BY_MAX         ? x + in[j]
            : in[j] > x || in[j] != in[j] ? in[j]
                                          : x;
    t->out[i * op->pitch_out] = op->by == SPRY_BY_MEAN ? x / (float)op->n : x;
}

static float step(const spry_step *s, float x, float y)
{
    switch (s->op) {
    case SPRY_STEP_ADD: return x + y;
    case SPRY_STEP_SUB: return x - y;
    case SPRY_STEP_MUL: return x * y;
    case SPRY_STEP_DIV: return x / y;
    case SPRY_STEP_MAX: return x > y || x != x ? x : y;
    case SPRY_STEP_MIN: return x < y || x != x ? x : y;
    case SPRY_STEP_ACT: break;
    }
    return (float)sp_act(s->act, (double)x, (double)s->alpha, (double)s->beta);
}

static void chain(const sp_dense_core *p, const spry_tensors *t, int64_t i)
{
    const spry_operator *op = &p->op;
    const float *in = t->in + i * op->pitch_in;
    float *out = t->out + i * op->pitch_out;

    for (int64_t j = 0; j < op->n; j++)
        out[j] = in[j];
    for (int k = 0; k < op->steps; k++) {
        sp_chain_operand y = sp_chain_operand_of(op, t, k, i);

        for (int64_t j = 0; j < op->n; j++)
            out[j] = step(&op->step[k], out[j], y.at[j * y.step]);
    }
}

static void plain(const sp_dense_core *p, const spry_tensors *t, int64_t from,
                  int64_t to, float *sum)
{
    for (int64_t i = from; i < to; i++)
        switch (p->op.kind) {
        case SPRY_CONV2D:
            convolve(p, t, i, sum);
            finish(p, t, sp_operator_row(&p->op, i), sum);
            break;
        case SPRY_MATMUL:
            multiply(p, t, i, sum);
            finish(p, t, sp_operator_row(&p->op, i), sum);
            break;
        case SPRY_POOL: pool(p, t, i); break;
        case SPRY_SOFTMAX: softmax(p, t, i); break;
        case SPRY_LAYERNORM: norm(p, t, i); break;
        case SPRY_REDUCE: reduce(p, t, i); break;
        case SPRY_ELEMENTWISE: chain(p, t, i); break;
        }
}

sp_plain_rows *const SET(sp_plain_rows) = plain;
