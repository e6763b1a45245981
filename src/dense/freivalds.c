/* freivalds.c - results that nobody computed twice, by a random sum of them. */
#include "base/base.h"
#include "dense/check.h"

/* The operator with one channel to a group, whose weights are W r. */
static spry_status combine(spry_operator *out, float **memory, const double *r,
                           const sp_dense_problem *q)
{
    const spry_operator *op = &q->op;
    int conv = op->kind == SPRY_CONV2D;
    int64_t groups = conv ? op->groups : 1, each = q->cols / groups;
    int64_t terms = q->terms;
    float *w = sp_alloc(groups * terms + 1, sizeof *w);

    *memory = w;
    if (!w)
        return sp_fail_memory((size_t)(groups * terms) * sizeof *w);
    for (int64_t j = 0; j < q->cols; j++)
        for (int64_t i = 0; i < terms; i++) {
            float x = conv             ? op->weights[j * terms + i]
                      : op->transposed ? op->weights[j * op->pitch_b + i]
                                       : op->weights[i * op->pitch_b + j];

            w[j / each * terms + i] += (float)r[j] * x;
        }
    *out = *op;
    out->weights = w;
    out->act = SPRY_ACT_NONE;
    out->add = SPRY_ADD_NONE;
    out->with_bias = 0;
    out->pitch_out = out->skip_out = out->pitch_b = out->skip_b = 0;
    out->transposed = 0;
    if (conv)
        out->k = groups;
    else
        out->n = 1;
    return SPRY_OK;
}

spry_status sp_dense_sums(double *in_r, const double *r,
                          const sp_dense_problem *given, const spry_tensors *t)
{
    spry_problem *small = NULL;
    spry_operator op;
    float *memory = NULL;
    double *y = NULL;
    const sp_dense_problem *p;
    spry_status s = combine(&op, &memory, r, given);

    if (s == SPRY_OK)
        s = spry_problem_dense(&small, &op);
    p = sp_dense_of(small);
    if (s == SPRY_OK) {
        y = sp_alloc_raw(p->rows * p->cols, sizeof *y);
        s = y ? SPRY_OK : sp_fail_memory((size_t)(p->rows * p->cols));
    }
    if (s == SPRY_OK)
        sp_dense_answers(y, NULL, p, t, 0, p->rows);
    for (int64_t i = 0; s == SPRY_OK && i < p->rows; i++) {
        in_r[i] = 0;
        for (int64_t j = 0; j < p->cols; j++)
            in_r[i] += y[i * p->cols + j];
    }
    spry_problem_free(small);
    sp_free(memory);
    sp_free(y);
    return s;
}

int sp_dense_has_sums(const spry_operator *op)
{
    return (op->kind == SPRY_CONV2D || (op->kind == SPRY_MATMUL && !op->given &&
                                        (op->batch == 1 || op->shared_b)));
}

spry_status sp_dense_compare_sums(const double *in_r, const double *r,
                                  const sp_dense_problem *p,
                                  const spry_tensors *t, const char *text)
{
    const spry_operator *op = &p->op;

    for (int64_t i = 0; i < p->rows; i++) {
        int64_t place = sp_dense_place(p, i);
        double sum = 0;

        for (int64_t j = 0; j < p->cols; j++)
            sum += r[j] * ((double)t->out[place + j] -
                           (op->with_bias ? (double)op->bias[j] : 0) -
                           (op->add ? (double)t->add[place + j] : 0));
        if (sum != in_r[i])
            return sp_fail(SPRY_WRONG,
                           "%s: row %lld fails the sum test: %.17g, not %.17g",
                           text, (long long)i, sum, in_r[i]);
    }
    return SPRY_OK;
}
