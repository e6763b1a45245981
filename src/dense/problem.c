/* problem.c - an operator becomes a problem with a key. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "dense/dense.h"

const sp_dense_problem *sp_dense_of(const spry_problem *p)
{
    return p && p->kind == &sp_dense_kind ? (const sp_dense_problem *)p : NULL;
}

const spry_operator *spry_problem_operator(const spry_problem *p)
{
    const sp_dense_problem *d = sp_dense_of(p);

    return d ? &d->op : NULL;
}

/* Text, while it says all and fits; else a hash of what it leaves out. */
static void make_key(sp_dense_problem *p)
{
    char text[512], hex[33];
    sp_hash h = sp_hash_begin();
    size_t len;
    int cut = 0;

    spry_operator_text(text, sizeof text, &p->op);
    len = strlen(text);
    for (int i = 0; i < p->op.steps; i++)
        cut |= p->op.step[i].alpha != 0 || p->op.step[i].beta != 0;
    if (!cut && len < sizeof p->head.key) {
        memcpy(p->head.key, text, len + 1);
        return;
    }
    sp_hash_add(&h, text, len);
    for (int i = 0; i < p->op.steps; i++) {
        sp_hash_add(&h, &p->op.step[i].alpha, sizeof(float));
        sp_hash_add(&h, &p->op.step[i].beta, sizeof(float));
    }
    sp_hash_hex(hex, h);
    snprintf(p->head.key, sizeof p->head.key, "%.80s-%s", text, hex);
}

/* Of the size that trained ones have: sums stay near 1. The smallest are
 * pruned. */
static spry_status make_weights(sp_dense_problem *p)
{
    int64_t weights = p->op.weights ? 0 : sp_dense_weights(&p->op);
    int64_t bias = p->op.bias ? 0 : sp_dense_bias(&p->op);
    sp_rng r = sp_rng_seed(7);
    float scale = 2 / (1 + (float)p->terms / 8);

    p->own[0] = weights ? sp_alloc_raw(weights, sizeof(float)) : NULL;
    p->own[1] = bias ? sp_alloc_raw(bias, sizeof(float)) : NULL;
    if ((weights && !p->own[0]) || (bias && !p->own[1]))
        return sp_fail_memory((size_t)(weights + bias) * sizeof(float));
    for (int64_t i = 0; i < weights; i++) {
        double x = sp_rng_unit(&r) - 0.5;

        p->own[0][i] =
            2 * fabs(x) < (double)p->op.sparsity ? 0 : scale * (float)x;
    }
    for (int64_t i = 0; i < bias; i++)
        p->own[1][i] = (float)(sp_rng_unit(&r) - 0.5);
    if (weights)
        p->op.weights = p->own[0];
    if (bias)
        p->op.bias = p->own[1];
    return SPRY_OK;
}

/* Some at a time, so that compilers do it in vectors. */
static int64_t count_zeros(const float *x, int64_t count)
{
    enum { SOME = 256 };
    int64_t zeros = 0;

    for (; count >= SOME; count -= SOME, x += SOME) {
        int32_t sum = 0;

        for (int i = 0; i < SOME; i++)
            sum += x[i] == 0;
        zeros += sum;
    }
    for (int64_t i = 0; i < count; i++)
        zeros += x[i] == 0;
    return zeros;
}

/* Alike operators with about as many zeros are one problem. */
static float share_of_zeros(const sp_dense_problem *p)
{
    const spry_operator *op = &p->op;
    double share;

    if (op->given || op->groups > 1 ||
        (op->kind != SPRY_CONV2D && op->kind != SPRY_MATMUL))
        return 0;
    share = (double)p->zeros / (double)sp_dense_weights(op);
    if (share < SP_SPARSE_FROM)
        return 0;
    return (float)(share < 0.9 ? round(20 * share) / 20
                               : round(100 * share) / 100);
}

static int64_t terms_of(const spry_operator *op)
{
    switch (op->kind) {
    case SPRY_CONV2D: return op->r * op->s * (op->c / op->groups);
    case SPRY_POOL: return op->r * op->s;
    case SPRY_MATMUL: return op->k;
    case SPRY_ELEMENTWISE: return op->steps;
    case SPRY_SOFTMAX:
    case SPRY_LAYERNORM:
    case SPRY_REDUCE: break;
    }
    return op->n;
}

static void set_shape(sp_dense_problem *p)
{
    const spry_operator *op = &p->op;

    p->height = spry_operator_height(op);
    p->width = spry_operator_width(op);
    p->terms = terms_of(op);
    if (op->kind == SPRY_CONV2D || op->kind == SPRY_POOL) {
        p->rows = op->n * p->height * p->width;
        p->cols = op->k;
    } else {
        p->rows = op->batch * op->m;
        p->cols = op->kind == SPRY_REDUCE ? 1 : op->n;
    }
}

static void free_dense(spry_problem *problem)
{
    sp_dense_problem *p = (sp_dense_problem *)problem;

    sp_free(p->own[0]);
    sp_free(p->own[1]);
    sp_free(p);
}

/* zeros -1: they are to be counted, in weights that are made unless given. */
static spry_status make_problem(spry_problem **out, const spry_operator *op,
                                int64_t zeros)
{
    sp_dense_problem *p;
    spry_status s;

    if (!out)
        return sp_fail(SPRY_USAGE, "a problem needs a place");
    *out = NULL;
    if (!op || op->size != sizeof *op)
        return sp_fail(SPRY_USAGE, "a problem needs an operator, begun with "
                                   "spry_operator_init");
    p = sp_alloc(1, sizeof *p);
    if (!p)
        return sp_fail_memory(sizeof *p);
    p->head.kind = &sp_dense_kind;
    p->op = *op;
    s = sp_operator_settle(&p->op);
    if (s == SPRY_OK) {
        set_shape(p);
        if (zeros < 0)
            s = make_weights(p);
    }
    if (s == SPRY_OK) {
        p->zeros = zeros >= 0 ? zeros
                   : p->op.weights
                       ? count_zeros(p->op.weights, sp_dense_weights(&p->op))
                       : 0;
        p->op.sparsity = share_of_zeros(p);
        make_key(p);
    }
    if (s == SPRY_OK)
        *out = &p->head;
    else
        free_dense(&p->head);
    return s;
}

spry_status spry_problem_dense(spry_problem **out, const spry_operator *op)
{
    return make_problem(out, op, -1);
}

spry_status sp_dense_problem_bare(spry_problem **out, const spry_operator *op,
                                  int64_t zeros)
{
    if (zeros < 0)
        return sp_fail(SPRY_USAGE, "%lld zeros", (long long)zeros);
    return make_problem(out, op, zeros);
}

void sp_dense_give_weights(spry_problem *p, const float *weights)
{
    ((sp_dense_problem *)p)->op.weights = weights;
}

/* ---- the kind ---- */

static double flops(const spry_problem *problem)
{
    const sp_dense_problem *p = (const sp_dense_problem *)problem;
    double each = p->op.kind == SPRY_CONV2D || p->op.kind == SPRY_MATMUL ? 2
                  : p->op.kind == SPRY_LAYERNORM || p->op.kind == SPRY_SOFTMAX
                      ? 5
                      : 1;
    double terms = p->op.kind == SPRY_LAYERNORM || p->op.kind == SPRY_SOFTMAX
                       ? 1
                       : (double)p->terms;

    return each * (double)p->rows * (double)p->cols * terms;
}

static double bytes(const spry_problem *problem)
{
    const sp_dense_problem *p = (const sp_dense_problem *)problem;
    double count =
        (double)sp_dense_in(&p->op) + (double)sp_dense_b(&p->op) +
        (double)sp_dense_add(&p->op) + (double)sp_dense_weights(&p->op) +
        (double)sp_dense_bias(&p->op) + (double)p->rows * (double)p->cols;

    for (int i = 0; i < p->op.steps; i++)
        count += (double)sp_dense_more(&p->op, i);
    return 4 * count;
}

static double given_bytes(const spry_problem *problem)
{
    const sp_dense_problem *p = (const sp_dense_problem *)problem;

    return 4 *
           ((double)sp_dense_weights(&p->op) + (double)sp_dense_bias(&p->op));
}

static int64_t input_size(const spry_problem *problem, int which)
{
    const sp_dense_problem *p = (const sp_dense_problem *)problem;

    if (which == 0)
        return sp_dense_in(&p->op);
    return sp_dense_b(&p->op) ? sp_dense_b(&p->op) : sp_dense_add(&p->op);
}

static int64_t output_size(const spry_problem *problem)
{
    return sp_dense_out(&((const sp_dense_problem *)problem)->op);
}

static int nothing(const spry_problem *problem)
{
    (void)problem;
    return 0;
}

static void about(char *out, size_t size, const spry_problem *problem)
{
    spry_operator_text(out, size, &((const sp_dense_problem *)problem)->op);
}

static void origin(spry_origin *out, const spry_problem *problem)
{
    const sp_dense_problem *p = (const sp_dense_problem *)problem;

    out->op = spry_operator_name((int)p->op.kind);
    out->type = "f32";
    out->n = p->cols;
    out->rows = p->rows;
    out->cols = p->terms;
    out->nnz = sp_dense_weights(&p->op);
}

static void fields(sp_json *j, const spry_problem *problem, const char *source)
{
    sp_json_text(j, "operator", source);
    sp_json_number(j, "operations", spry_problem_flops(problem));
}

static spry_status reference(const spry_problem *problem, const sp_operands *f)
{
    const sp_dense_problem *p = (const sp_dense_problem *)problem;
    spry_tensors t = {.in = f->B, .out = f->C};

    if (f->alpha != 1 || f->beta != 0)
        return sp_fail(SPRY_USAGE, "dense operators have alpha 1 and beta 0");
    if (p->op.given)
        t.b = f->D;
    else
        t.add = f->D;
    return spry_dense_reference(problem, &t);
}

const sp_problem_kind sp_dense_kind = {
    "dense operator", about,       origin,    fields,
    nothing,          given_bytes, flops,     bytes,
    input_size,       output_size, reference, free_dense};
