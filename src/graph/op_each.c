/* op_each.c - operators that look at one element at a time. */
#include <math.h>
#include <string.h>

#include "dense/core.h"
#include "graph/opcodes.h"

static int called(const sp_call *c, const char *name)
{
    return strcmp(c->node->op->name, name) == 0;
}

spry_status sp_same_infer(sp_call *c)
{
    c->out[0].shape = c->in[0]->shape;
    c->out[0].whole = c->in[0]->whole;
    if (called(c, "Gelu") &&
        strcmp(sp_attr_word(c->node, "approximate", "none"), "none") != 0)
        return sp_refuse(c->node, "the approximation by tanh is not known");
    return SPRY_OK;
}

/* ---- of one ---- */

typedef double unary(double x, double a, double b);

static double relu(double x, double a, double b)
{
    (void)a, (void)b;
    return x > 0 || x != x ? x : 0;
}
static double leaky(double x, double a, double b)
{
    (void)b;
    return x < 0 ? a * x : x;
}
static double sigmoid(double x, double a, double b)
{
    (void)a, (void)b;
    return 1 / (1 + exp(-x));
}
static double hard(double x, double a, double b)
{
    double y = a * x + b;

    return y < 0 ? 0 : y > 1 ? 1 : y;
}
static double hardswish(double x, double a, double b)
{
    (void)a, (void)b;
    return x * hard(x, 1.0 / 6, 0.5);
}
static double hyperbolic(double x, double a, double b)
{
    (void)a, (void)b;
    return tanh(x);
}
static double error(double x, double a, double b)
{
    (void)a, (void)b;
    return erf(x);
}
static double gelu(double x, double a, double b)
{
    (void)a, (void)b;
    return 0.5 * x * (1 + erf(x * sqrt(0.5)));
}
static double exponential(double x, double a, double b)
{
    (void)a, (void)b;
    return exp(x);
}
static double logarithm(double x, double a, double b)
{
    (void)a, (void)b;
    return log(x);
}
static double root(double x, double a, double b)
{
    (void)a, (void)b;
    return sqrt(x);
}
static double negative(double x, double a, double b)
{
    (void)a, (void)b;
    return -x;
}
static double absolute(double x, double a, double b)
{
    (void)a, (void)b;
    return fabs(x);
}
static double inverse(double x, double a, double b)
{
    (void)a, (void)b;
    return 1 / x;
}
static double down(double x, double a, double b)
{
    (void)a, (void)b;
    return floor(x);
}
static double up(double x, double a, double b)
{
    (void)a, (void)b;
    return ceil(x);
}

static const struct {
    const char *name;
    unary *f;
    double a, b; /* of attributes alpha and beta, when left out */
} unaries[] = {{"Relu", relu, 0, 0},           {"LeakyRelu", leaky, 0.01, 0},
               {"Sigmoid", sigmoid, 0, 0},     {"HardSigmoid", hard, 0.2, 0.5},
               {"HardSwish", hardswish, 0, 0}, {"Tanh", hyperbolic, 0, 0},
               {"Erf", error, 0, 0},           {"Gelu", gelu, 0, 0},
               {"Exp", exponential, 0, 0},     {"Log", logarithm, 0, 0},
               {"Sqrt", root, 0, 0},           {"Neg", negative, 0, 0},
               {"Abs", absolute, 0, 0},        {"Reciprocal", inverse, 0, 0},
               {"Floor", down, 0, 0},          {"Ceil", up, 0, 0}};

spry_status sp_unary_compute(sp_call *c)
{
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
        if (called(c, unaries[i].name)) {
            double a = sp_attr_real(c->node, "alpha", unaries[i].a);
            double b = sp_attr_real(c->node, "beta", unaries[i].b);

#pragma omp parallel for schedule(static)
            for (int64_t k = 0; k < c->out[0].count; k++)
                c->out[0].data[k] = unaries[i].f(c->in[0]->data[k], a, b);
            return SPRY_OK;
        }
    return sp_refuse(c->node, "no way to compute it");
}

/* Bounds were attributes up to opset 10, then inputs. */
static spry_status bound(double *out, const sp_call *c, int input,
                         const char *name, double otherwise)
{
    const sp_array *a = input < c->node->inputs ? c->in[input] : NULL;

    *out = sp_attr_real(c->node, name, otherwise);
    if (!a)
        return SPRY_OK;
    if (a->count != 1)
        return sp_refuse(c->node, "%s is not one number", name);
    *out = a->data[0];
    return SPRY_OK;
}

spry_status sp_clip_compute(sp_call *c)
{
    double low, high;
    spry_status s = bound(&low, c, 1, "min", -HUGE_VAL);

    if (s == SPRY_OK)
        s = bound(&high, c, 2, "max", HUGE_VAL);
    for (int64_t i = 0; s == SPRY_OK && i < c->out[0].count; i++) {
        double x = c->in[0]->data[i];

        x = x < low ? low : x;
        c->out[0].data[i] = x > high ? high : x;
    }
    return s;
}

/* ---- of two ---- */

spry_status sp_binary_infer(sp_call *c)
{
    const sp_array *a = c->in[0], *b = c->in[1];

    if (!sp_broadcast(&c->out[0].shape, &a->shape, &b->shape))
        return sp_refuse(c->node, "the shapes of the inputs do not fit");
    if (a->whole != b->whole && !called(c, "Pow"))
        return sp_refuse(c->node, "whole numbers and reals");
    c->out[0].whole = called(c, "Equal") || a->whole;
    return SPRY_OK;
}

static double binary(char op, double x, double y, int whole)
{
    switch (op) {
    case 'A': return x + y;
    case 'S': return x - y;
    case 'u': return x * y;
    case 'D': return whole ? (y == 0 ? 0 : trunc(x / y)) : x / y;
    case 'P': return pow(x, y);
    case 'a': return sp_most(x, y);
    case 'i': return sp_least(x, y);
    default: return x == y;
    }
}

spry_status sp_binary_compute(sp_call *c)
{
    const char *name = c->node->op->name;
    char op = name[0] == 'M' ? name[1] : name[0];
    int64_t sa[SP_GRAPH_DIMS], sb[SP_GRAPH_DIMS];
    const sp_extent *out = &c->out[0].shape;

    sp_broadcast_steps(sa, &c->in[0]->shape, out);
    sp_broadcast_steps(sb, &c->in[1]->shape, out);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < c->out[0].count; i++) {
        int64_t rest = i, a = 0, b = 0;

        for (int d = out->dims - 1; d >= 0; d--) {
            a += rest % out->dim[d] * sa[d];
            b += rest % out->dim[d] * sb[d];
            rest /= out->dim[d];
        }
        c->out[0].data[i] =
            binary(op, c->in[0]->data[a], c->in[1]->data[b], c->in[0]->whole);
    }
    return SPRY_OK;
}

/* ---- of three ---- */

spry_status sp_where_infer(sp_call *c)
{
    sp_extent two;

    if (!sp_broadcast(&two, &c->in[1]->shape, &c->in[2]->shape) ||
        !sp_broadcast(&c->out[0].shape, &two, &c->in[0]->shape))
        return sp_refuse(c->node, "the shapes of the inputs do not fit");
    if (c->in[1]->whole != c->in[2]->whole)
        return sp_refuse(c->node, "whole numbers and reals");
    c->out[0].whole = c->in[1]->whole;
    return SPRY_OK;
}

spry_status sp_where_compute(sp_call *c)
{
    int64_t step[3][SP_GRAPH_DIMS];
    const sp_extent *out = &c->out[0].shape;

    for (int k = 0; k < 3; k++)
        sp_broadcast_steps(step[k], &c->in[k]->shape, out);
    for (int64_t i = 0; i < c->out[0].count; i++) {
        int64_t rest = i, at[3] = {0};

        for (int d = out->dims - 1; d >= 0; d--) {
            for (int k = 0; k < 3; k++)
                at[k] += rest % out->dim[d] * step[k][d];
            rest /= out->dim[d];
        }
        c->out[0].data[i] = c->in[0]->data[at[0]] != 0 ? c->in[1]->data[at[1]]
                                                       : c->in[2]->data[at[2]];
    }
    return SPRY_OK;
}
