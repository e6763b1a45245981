/* op_unary.c - operators of one element at a time. */
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
static double nearest(double x, double a, double b)
{
    (void)a, (void)b;
    return nearbyint(x); /* halves to even, as the processor rounds */
}
static double sign(double x, double a, double b)
{
    (void)a, (void)b;
    return x != x ? x : (x > 0) - (x < 0);
}
static double sine(double x, double a, double b)
{
    (void)a, (void)b;
    return sin(x);
}
static double cosine(double x, double a, double b)
{
    (void)a, (void)b;
    return cos(x);
}
static double is_false(double x, double a, double b)
{
    (void)a, (void)b;
    return x == 0;
}
static double elu(double x, double a, double b)
{
    (void)b;
    return x < 0 ? a * expm1(x) : x;
}
static double celu(double x, double a, double b)
{
    (void)b;
    return x < 0 ? a * expm1(x / a) : x;
}
static double selu(double x, double a, double b)
{
    (void)a, (void)b;
    /* Constants of Klambauer et al. 2017, which ONNX gives, too. */
    return 1.05070102214813232421875 *
           (x <= 0 ? 1.67326319217681884765625 * expm1(x) : x);
}
static double softplus(double x, double a, double b)
{
    (void)a, (void)b;
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}
static double softsign(double x, double a, double b)
{
    (void)a, (void)b;
    return x / (1 + fabs(x));
}
static double mish(double x, double a, double b)
{
    return x * tanh(softplus(x, a, b));
}
static double above(double x, double a, double b)
{
    (void)b;
    return x > a || x != x ? x : 0;
}

static const struct {
    const char *name;
    unary *f;
    double a, b; /* of attributes alpha and beta, when left out */
} unaries[] = {{"Relu", relu, 0, 0},
               {"LeakyRelu", leaky, 0.01, 0},
               {"Sigmoid", sigmoid, 0, 0},
               {"HardSigmoid", hard, 0.2, 0.5},
               {"HardSwish", hardswish, 0, 0},
               {"Tanh", hyperbolic, 0, 0},
               {"Erf", error, 0, 0},
               {"Gelu", gelu, 0, 0},
               {"Exp", exponential, 0, 0},
               {"Log", logarithm, 0, 0},
               {"Sqrt", root, 0, 0},
               {"Neg", negative, 0, 0},
               {"Abs", absolute, 0, 0},
               {"Reciprocal", inverse, 0, 0},
               {"Floor", down, 0, 0},
               {"Ceil", up, 0, 0},
               {"Round", nearest, 0, 0},
               {"Sign", sign, 0, 0},
               {"Sin", sine, 0, 0},
               {"Cos", cosine, 0, 0},
               {"Not", is_false, 0, 0},
               {"Elu", elu, 1, 0},
               {"Celu", celu, 1, 0},
               {"Selu", selu, 0, 0},
               {"Softplus", softplus, 0, 0},
               {"Softsign", softsign, 0, 0},
               {"Mish", mish, 0, 0},
               {"ThresholdedRelu", above, 1, 0}};

spry_status sp_unary_compute(sp_call *c)
{
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
        if (called(c, unaries[i].name)) {
            double a = sp_attr_real(c->node, "alpha", unaries[i].a);
            double b = sp_attr_real(c->node, "beta", unaries[i].b);

#pragma omp parallel for schedule(static) if (c->out[0].count > SP_SERIAL)
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
