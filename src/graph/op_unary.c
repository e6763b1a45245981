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

/* ---- of one number, as it is ---- */

static double relu(double x)
{
    return x > 0 || x != x ? x : 0;
}
static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double hardswish(double x)
{
    double y = x / 6 + 0.5;

    return x * (y < 0 ? 0 : y > 1 ? 1 : y);
}
static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x * sqrt(0.5)));
}
static double negative(double x)
{
    return -x;
}
static double inverse(double x)
{
    return 1 / x;
}
static double sign(double x)
{
    return x != x ? x : (x > 0) - (x < 0);
}
static double is_false(double x)
{
    return x == 0;
}
/* Its constants are those of Klambauer et al. 2017, which ONNX gives, too. */
static double selu(double x)
{
    return 1.05070102214813232421875 *
           (x <= 0 ? 1.67326319217681884765625 * expm1(x) : x);
}
static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}
static double softsign(double x)
{
    return x / (1 + fabs(x));
}
static double mish(double x)
{
    return x * tanh(softplus(x));
}

static const struct {
    const char *name;
    double (*f)(double x);
} plain[] = {{"Relu", relu},
             {"Sigmoid", sigmoid},
             {"HardSwish", hardswish},
             {"Gelu", gelu},
             {"Tanh", tanh},
             {"Erf", erf},
             {"Exp", exp},
             {"Log", log},
             {"Sqrt", sqrt},
             {"Neg", negative},
             {"Abs", fabs},
             {"Reciprocal", inverse},
             {"Floor", floor},
             {"Ceil", ceil},
             {"Round", nearbyint}, /* halves to even */
             {"Sign", sign},
             {"Sin", sin},
             {"Cos", cos},
             {"Not", is_false},
             {"Selu", selu},
             {"Softplus", softplus},
             {"Softsign", softsign},
             {"Mish", mish}};

/* ---- by attributes, a for alpha, b for beta ---- */

static double leaky(double x, double a, double b)
{
    (void)b;
    return x < 0 ? a * x : x;
}
static double hard(double x, double a, double b)
{
    double y = a * x + b;

    return y < 0 ? 0 : y > 1 ? 1 : y;
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
static double above(double x, double a, double b)
{
    (void)b;
    return x > a || x != x ? x : 0;
}

static const struct {
    const char *name;
    double (*f)(double x, double a, double b);
    double a, b; /* when left out */
} shaped[] = {{"LeakyRelu", leaky, 0.01, 0},
              {"HardSigmoid", hard, 0.2, 0.5},
              {"Elu", elu, 1, 0},
              {"Celu", celu, 1, 0},
              {"ThresholdedRelu", above, 1, 0}};

static void compute_plain(sp_call *c, double (*f)(double x))
{
#pragma omp parallel for schedule(static) if (c->out[0].count > SP_SERIAL)
    for (int64_t k = 0; k < c->out[0].count; k++)
        c->out[0].data[k] = f(c->in[0]->data[k]);
}

static void compute_shaped(sp_call *c, int i)
{
    double a = sp_attr_real(c->node, "alpha", shaped[i].a);
    double b = sp_attr_real(c->node, "beta", shaped[i].b);

#pragma omp parallel for schedule(static) if (c->out[0].count > SP_SERIAL)
    for (int64_t k = 0; k < c->out[0].count; k++)
        c->out[0].data[k] = shaped[i].f(c->in[0]->data[k], a, b);
}

spry_status sp_unary_compute(sp_call *c)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (called(c, plain[i].name)) {
            compute_plain(c, plain[i].f);
            return SPRY_OK;
        }
    for (size_t i = 0; i < sizeof shaped / sizeof *shaped; i++)
        if (called(c, shaped[i].name)) {
            compute_shaped(c, (int)i);
            return SPRY_OK;
        }
    return sp_refuse(c->node, "no way to compute it");
}

/* ---- limits ---- */

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
