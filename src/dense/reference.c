/* reference.c - the slow right answer, in double, an obvious loop for every
 * kind of operator. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "dense/core.h"
#include "dense/dense.h"

int64_t sp_dense_place(const sp_dense_problem *p, int64_t i)
{
    return sp_operator_row(&p->op, i);
}

/* Where row i of the input begins, for kinds without images. */
static int64_t in_place(const sp_dense_problem *p, int64_t i)
{
    if (p->op.kind == SPRY_MATMUL)
        return i / p->op.m * p->op.skip_in + i % p->op.m * p->op.pitch_in;
    return i * p->op.pitch_in;
}

/* What a sum becomes; *size is that of its terms. */
static double finish(const sp_dense_problem *p, const spry_tensors *t,
                     int64_t place, int64_t j, double x, double *size)
{
    const spry_operator *op = &p->op;
    double added = op->add ? (double)t->add[place + j] : 0;
    double bias = op->with_bias ? (double)op->bias[j] : 0;

    *size += fabs(bias) + fabs(added);
    x += bias + (op->add == SPRY_ADD_BEFORE ? added : 0);
    x = sp_act(op->act, x, (double)op->alpha, (double)op->beta);
    return x + (op->add == SPRY_ADD_AFTER ? added : 0);
}

/* ---- convolutions and pools ---- */

/* A pixel of the result, and the input pixel under one of its taps. */
typedef struct {
    int64_t image, p, q;
} pixel;

static pixel pixel_of(const sp_dense_problem *p, int64_t i)
{
    return (pixel){i / p->width / p->height, i / p->width % p->height,
                   i % p->width};
}

static const float *under(const sp_dense_problem *p, const float *in, pixel x,
                          int64_t r, int64_t s)
{
    const spry_operator *op = &p->op;
    int64_t y = x.p * op->stride_h + r * op->dilate_h - op->pad_top;
    int64_t z = x.q * op->stride_w + s * op->dilate_w - op->pad_left;

    if (y < 0 || y >= op->h || z < 0 || z >= op->w)
        return NULL;
    return in + ((x.image * op->h + y) * op->w + z) * op->pitch_in;
}

/* Sums that are added to in turns: one alone would wait for every addition. */
enum { BESIDE = 8 };

typedef struct {
    double sum[BESIDE], size[BESIDE]; /* of terms, and of their magnitudes */
} sums;

static inline void add_term(sums *to, int l, double term)
{
    to->sum[l] += term;
    to->size[l] += fabs(term);
}

/* Channels k, k + 1 ... of one group, so many. */
static inline void convolve(sums *out, const sp_dense_problem *p,
                            const float *in, pixel x, int64_t k, int count)
{
    const spry_operator *op = &p->op;
    int64_t c = op->c / op->groups, group = k / (op->k / op->groups);
    int64_t each = c * op->r * op->s;

    *out = (sums){{0}, {0}};
    for (int64_t r = 0; r < op->r; r++)
        for (int64_t s = 0; s < op->s; s++) {
            const float *weight = op->weights + k * each + r * op->s + s;
            const float *a = under(p, in, x, r, s);

            if (!a)
                continue;
            a += group * c;
            for (int64_t i = 0; i < c; i++, weight += op->r * op->s)
                for (int l = 0; l < count; l++)
                    add_term(out, l, (double)a[i] * (double)weight[l * each]);
        }
}

static double pool(const sp_dense_problem *p, const float *in, pixel x,
                   int64_t c, double *size)
{
    const spry_operator *op = &p->op;
    double sum = 0, all = 0, most = -HUGE_VAL;
    int64_t count = 0;

    for (int64_t r = 0; r < op->r; r++)
        for (int64_t s = 0; s < op->s; s++) {
            const float *a = under(p, in, x, r, s);

            if (!a)
                continue;
            sum += (double)a[c];
            all += fabs((double)a[c]);
            most = sp_most(most, (double)a[c]);
            count++;
        }
    if (op->counts_pad)
        count = op->r * op->s;
    *size = op->by == SPRY_BY_MAX ? 0 : all;
    if (op->by == SPRY_BY_MAX)
        return most;
    return op->by == SPRY_BY_MEAN ? sum / (double)count : sum;
}

static void answer_pool(double *out, double *magnitude,
                        const sp_dense_problem *p, const spry_tensors *t,
                        int64_t i)
{
    pixel x = pixel_of(p, i);

    for (int64_t j = 0; j < p->cols; j++) {
        double size;

        out[j] = pool(p, t->in, x, j, &size);
        if (magnitude)
            magnitude[j] = size;
    }
}

/* What sums of row i, of column j and so many behind it, become. */
static void finish_sums(double *out, double *magnitude,
                        const sp_dense_problem *p, const spry_tensors *t,
                        int64_t i, int64_t j, int count, sums *of)
{
    for (int l = 0; l < count; l++) {
        out[j + l] =
            finish(p, t, sp_dense_place(p, i), j + l, of->sum[l], &of->size[l]);
        if (magnitude)
            magnitude[j + l] = of->size[l];
    }
}

/* How many of `left` are next. */
static int next_sums(int64_t left)
{
    return left < BESIDE ? (int)left : BESIDE;
}

static void answer_pixel(double *out, double *magnitude,
                         const sp_dense_problem *p, const spry_tensors *t,
                         int64_t i)
{
    int64_t group = p->op.k / p->op.groups;
    pixel x = pixel_of(p, i);
    int count;

    for (int64_t j = 0; j < p->cols; j += count) {
        sums of;

        count = next_sums(group - j % group);
        if (count == BESIDE) /* the compiler knows how many */
            convolve(&of, p, t->in, x, j, BESIDE);
        else
            convolve(&of, p, t->in, x, j, count);
        finish_sums(out, magnitude, p, t, i, j, count, &of);
    }
}

/* ---- products ---- */

/* Columns of b that begin at its first row, so many, `right` apart. */
static inline void multiply(sums *out, const spry_operator *op, const float *a,
                            const float *b, int64_t right, int count)
{
    int64_t down = op->transposed ? 1 : op->pitch_b;

    *out = (sums){{0}, {0}};
    for (int64_t k = 0; k < op->k; k++, b += down)
        for (int l = 0; l < count; l++)
            add_term(out, l, (double)a[k] * (double)b[l * right]);
}

static void answer_product(double *out, double *magnitude,
                           const sp_dense_problem *p, const spry_tensors *t,
                           int64_t i)
{
    const spry_operator *op = &p->op;
    const float *a = t->in + in_place(p, i);
    const float *b = op->given ? t->b : op->weights;
    int64_t right = op->transposed ? op->pitch_b : 1;
    int count;

    if (!op->shared_b)
        b += i / op->m * op->skip_b;
    for (int64_t j = 0; j < p->cols; j += count) {
        sums of;

        count = next_sums(p->cols - j);
        if (count < BESIDE) /* else the compiler knows how many */
            multiply(&of, op, a, b + j * right, right, count);
        else if (right == 1)
            multiply(&of, op, a, b + j, 1, BESIDE);
        else
            multiply(&of, op, a, b + j * right, right, BESIDE);
        finish_sums(out, magnitude, p, t, i, j, count, &of);
    }
}

/* ---- rows ---- */

static double before_softmax(const sp_dense_problem *p, const spry_tensors *t,
                             int64_t i, int64_t j)
{
    double x = (double)t->in[in_place(p, i) + j] * (double)p->op.scale;

    if (p->op.add == SPRY_ADD_ROW)
        x += (double)t->add[j];
    else if (p->op.add)
        x += (double)t->add[sp_dense_place(p, i) + j];
    return x;
}

static void answer_softmax(double *out, double *magnitude,
                           const sp_dense_problem *p, const spry_tensors *t,
                           int64_t i)
{
    double most = -HUGE_VAL, sum = 0;

    for (int64_t j = 0; j < p->cols; j++)
        most = fmax(most, before_softmax(p, t, i, j));
    for (int64_t j = 0; j < p->cols; j++) {
        out[j] = exp(before_softmax(p, t, i, j) - most);
        sum += out[j];
    }
    for (int64_t j = 0; j < p->cols; j++) {
        out[j] /= sum;
        if (magnitude) /* the exponent's rounding is that of its size */
            magnitude[j] =
                out[j] * (1 + fabs(before_softmax(p, t, i, j)) + fabs(most));
    }
}

static double before_norm(const sp_dense_problem *p, const spry_tensors *t,
                          int64_t i, int64_t j)
{
    double x = (double)t->in[in_place(p, i) + j];

    return p->op.add ? x + (double)t->add[sp_dense_place(p, i) + j] : x;
}

static void answer_norm(double *out, double *magnitude,
                        const sp_dense_problem *p, const spry_tensors *t,
                        int64_t i)
{
    double sum = 0, squares = 0, all = 0, mean, by;

    for (int64_t j = 0; j < p->cols; j++) {
        sum += before_norm(p, t, i, j);
        all += fabs(before_norm(p, t, i, j));
    }
    mean = sum / (double)p->cols;
    for (int64_t j = 0; j < p->cols; j++)
        squares += pow(before_norm(p, t, i, j) - mean, 2);
    by = 1 / sqrt(squares / (double)p->cols + (double)p->op.eps);
    for (int64_t j = 0; j < p->cols; j++) {
        double x = (before_norm(p, t, i, j) - mean) * by;

        out[j] = x * (double)p->op.weights[j] + (double)p->op.bias[j];
        if (magnitude)
            magnitude[j] = fabs((double)p->op.weights[j]) *
                               (fabs(x) + by * all / (double)p->cols) +
                           fabs((double)p->op.bias[j]);
    }
}

static void answer_reduce(double *out, double *magnitude,
                          const sp_dense_problem *p, const spry_tensors *t,
                          int64_t i)
{
    const float *a = t->in + in_place(p, i);
    double sum = 0, all = 0, most = -HUGE_VAL;

    for (int64_t j = 0; j < p->op.n; j++) {
        sum += (double)a[j];
        all += fabs((double)a[j]);
        most = sp_most(most, (double)a[j]);
    }
    *out = p->op.by == SPRY_BY_MAX    ? most
           : p->op.by == SPRY_BY_MEAN ? sum / (double)p->op.n
                                      : sum;
    if (magnitude)
        *magnitude = p->op.by == SPRY_BY_MAX ? 0 : all;
}

static double operand(const sp_dense_problem *p, const spry_tensors *t,
                      int step, int64_t i, int64_t j)
{
    const float *y = t->more[step];

    switch (p->op.step[step].with) {
    case SPRY_WITH_VALUE: break;
    case SPRY_WITH_SAME: return (double)y[in_place(p, i) + j];
    case SPRY_WITH_ROW: return (double)y[j];
    case SPRY_WITH_COLUMN: return (double)y[i];
    case SPRY_WITH_IMAGE: return (double)y[i / p->op.m * p->op.n + j];
    }
    return (double)p->op.step[step].value;
}

static double apply(const spry_step *s, double x, double y)
{
    switch (s->op) {
    case SPRY_STEP_ADD: return x + y;
    case SPRY_STEP_SUB: return x - y;
    case SPRY_STEP_MUL: return x * y;
    case SPRY_STEP_DIV: return x / y;
    case SPRY_STEP_MAX: return sp_most(x, y);
    case SPRY_STEP_MIN: return sp_least(x, y);
    case SPRY_STEP_ACT: break;
    }
    return sp_act(s->act, x, (double)s->alpha, (double)s->beta);
}

/* Of a line of a curve. What clip has in the same place is where it ends,
 * which may be -Inf. */
static double slope(const spry_step *s)
{
    return s->act == SPRY_ACT_LEAKY || s->act == SPRY_ACT_HSIGMOID
               ? fabs((double)s->alpha)
               : 1;
}

/* The bound follows what a step does to what was wrong before it. */
static double grow(const spry_step *s, double size, double x, double y,
                   double before)
{
    switch (s->op) {
    case SPRY_STEP_MUL: return size * fabs(y) + fabs(x);
    case SPRY_STEP_DIV: return size / fabs(y) + fabs(x);
    case SPRY_STEP_ACT:
        if (s->act == SPRY_ACT_EXP)
            return fabs(x) * (1 + size);
        if (s->act == SPRY_ACT_SQRT)
            return fabs(x) + size / (2 * fabs(x) + 1e-30);
        return fmax(size, fabs(before)) * fmax(2, slope(s));
    case SPRY_STEP_ADD:
    case SPRY_STEP_SUB:
    case SPRY_STEP_MAX:
    case SPRY_STEP_MIN: break;
    }
    return size + fabs(y) + fabs(x);
}

static void answer_chain(double *out, double *magnitude,
                         const sp_dense_problem *p, const spry_tensors *t,
                         int64_t i)
{
    const float *a = t->in + in_place(p, i);

    for (int64_t j = 0; j < p->cols; j++) {
        double x = (double)a[j], size = fabs(x);

        for (int k = 0; k < p->op.steps; k++) {
            const spry_step *s = &p->op.step[k];
            double y = s->op == SPRY_STEP_ACT ? 0 : operand(p, t, k, i, j);
            double before = x;

            x = apply(s, x, y);
            size = grow(s, size, x, y, before);
        }
        out[j] = x;
        if (magnitude)
            magnitude[j] = size;
    }
}

/* ---- all of them ---- */

typedef void answer_row(double *out, double *magnitude,
                        const sp_dense_problem *p, const spry_tensors *t,
                        int64_t i);

static answer_row *const answers[SPRY_OPERATOR_KINDS] = {
    answer_pixel, answer_product, answer_pool, answer_softmax,
    answer_norm,  answer_reduce,  answer_chain};

void sp_dense_answers(double *out, double *magnitude, const sp_dense_problem *p,
                      const spry_tensors *t, int64_t from, int64_t to)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = from; i < to; i++)
        answers[p->op.kind](out + (i - from) * p->cols,
                            magnitude ? magnitude + (i - from) * p->cols : NULL,
                            p, t, i);
}

static int lacks(const spry_operator *op, const spry_tensors *t)
{
    int bad = !t->in || !t->out || (op->given && !t->b) || (op->add && !t->add);

    for (int i = 0; i < op->steps; i++)
        bad |= sp_dense_more(op, i) > 0 && !t->more[i];
    return bad;
}

spry_status sp_dense_complete(const sp_dense_problem *p, const spry_tensors *t)
{
    return !t || lacks(&p->op, t)
               ? sp_fail(SPRY_USAGE, "%s: an operand is missing",
                         spry_operator_name((int)p->op.kind))
               : SPRY_OK;
}

spry_status spry_dense_reference(const spry_problem *problem,
                                 const spry_tensors *t)
{
    enum { AT_ONCE = 256 };
    const sp_dense_problem *p = sp_dense_of(problem);
    double *y;
    spry_status s;

    if (!p)
        return sp_fail(SPRY_USAGE, "it is no dense operator");
    s = sp_dense_complete(p, t);
    if (s != SPRY_OK)
        return s;
    y = sp_alloc_raw(AT_ONCE * p->cols, sizeof *y);
    if (!y)
        return sp_fail_memory((size_t)(AT_ONCE * p->cols) * sizeof *y);
    for (int64_t from = 0; from < p->rows; from += AT_ONCE) {
        int64_t to = p->rows - from < AT_ONCE ? p->rows : from + AT_ONCE;

        sp_dense_answers(y, NULL, p, t, from, to);
        for (int64_t i = from; i < to; i++)
            for (int64_t j = 0; j < p->cols; j++)
                t->out[sp_dense_place(p, i) + j] =
                    (float)y[(i - from) * p->cols + j];
    }
    sp_free(y);
    return SPRY_OK;
}
