/* act.c - activations, in double. */
#include <math.h>

#include "dense/core.h"

double sp_act(spry_act act, double x, double alpha, double beta)
{
    switch (act) {
    case SPRY_ACT_NONE: return x;
    case SPRY_ACT_RELU: return x < 0 ? 0 : x;
    case SPRY_ACT_CLIP: return x < alpha ? alpha : x > beta ? beta : x;
    case SPRY_ACT_LEAKY: return x < 0 ? alpha * x : x;
    case SPRY_ACT_HSIGMOID:
        x = alpha * x + beta;
        return x < 0 ? 0 : x > 1 ? 1 : x;
    case SPRY_ACT_HSWISH: return x * (x < -3 ? 0 : x > 3 ? 1 : x / 6 + 0.5);
    case SPRY_ACT_SIGMOID: return 1 / (1 + exp(-x));
    case SPRY_ACT_SILU: return x / (1 + exp(-x));
    case SPRY_ACT_TANH: return tanh(x);
    case SPRY_ACT_GELU: return 0.5 * x * (1 + erf(x * sqrt(0.5)));
    case SPRY_ACT_EXP: return exp(x);
    case SPRY_ACT_SQRT: return sqrt(x);
    }
    return x;
}
