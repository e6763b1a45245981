/* bound.c - right answers, and how far floats may lie from them.
 *
 * A sum of k terms and a bias is off by at most g times the sum of their
 * sizes, g = (k + 4) u / (1 - (k + 4) u), and by what its terms were off. No
 * curve makes an error larger, and where it is flat the error ends. Sums whose
 * terms are multiples of one unit and together less than 2^24 of them are
 * exact in any order. Over many layers the bound says little: then a network
 * may be off by some times what plain loops in float are. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "inference/internal.h"

/* Times what plain loops are off, and a little of the largest answer. */
static const double TIMES_PLAIN = 8, A_LITTLE = 1e-5;

static const double EXACT = 1 << 24;

typedef struct {
    const spry_network *n;
    double *value, *error, *unit; /* [neurons]; unit: the value's last bit */
    float *plain;                 /* the same values in float */
} passage;

/* What the last bit of x is worth; HUGE_VAL of 0. */
static double last_bit(double x)
{
    uint64_t bits;
    int exponent;
    double part = frexp(x, &exponent);

    if (x == 0 || !isfinite(x))
        return HUGE_VAL;
    bits = (uint64_t)ldexp(fabs(part), 53);
    return ldexp(1, exponent - 53 + __builtin_ctzll(bits));
}

/* Of what a curve is given, sum +- error, to what it returns. */
static double error_behind(spry_activation a, double sum, double error)
{
    switch (a.curve) {
    case SPRY_RELU: return sum + error < 0 ? 0 : error;
    case SPRY_CLAMP:
        return sum + error < 0 || sum - error > (double)a.limit ? 0 : error;
    case SPRY_TANH:
    case SPRY_SIGMOID: return error + 8 * (double)FLT_EPSILON;
    case SPRY_LINEAR: break;
    }
    return error;
}

/* Neuron v of layer l, from its sources. */
static void answer_neuron(const passage *p, int64_t v, int64_t l)
{
    const spry_network *n = p->n;
    spry_activation a = n->activation[l];
    double sum = 0, size = 0, off = 0, bias = (double)n->bias[v];
    double unit = last_bit(bias);
    double g =
        (double)(n->start[v + 1] - n->start[v] + 4) * (double)FLT_EPSILON / 2;
    float plain = 0;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        int32_t u = n->source[k];
        double w = (double)n->weight[k];

        sum += w * p->value[u];
        off += fabs(w) * p->error[u];
        size += fabs(w) * (fabs(p->value[u]) + p->error[u]);
        plain += n->weight[k] * p->plain[u];
        if (p->value[u] != 0)
            unit = fmin(unit, last_bit(w) * p->unit[u]);
    }
    if (off > 0 || size + fabs(bias) > EXACT * unit)
        off += g / (1 - g) * (size + fabs(bias));
    if (n->bias_on_nonzero && size > 0 && off > 0 && fabs(sum) <= off)
        off += fabs(bias); /* it may be there or not */
    if (!n->bias_on_nonzero || sum != 0)
        sum += bias;
    p->value[v] = sp_activate_exactly(a, sum);
    p->error[v] = error_behind(a, sum, off);
    p->unit[v] = last_bit(p->value[v]);
    p->plain[v] = sp_finish(a, plain, n->bias[v], n->bias_on_nonzero);
}

static void answer_one(const passage *p, double *right, double *bound,
                       double *off, const float *x)
{
    const spry_network *n = p->n;

    for (int64_t v = 0; v < n->inputs; v++) {
        p->value[v] = (double)x[v];
        p->plain[v] = x[v];
        p->error[v] = 0;
        p->unit[v] = last_bit(p->value[v]);
    }
    for (int64_t l = 0; l < n->layers; l++)
        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
            answer_neuron(p, v, l);
    for (int64_t i = 0; i < n->outputs; i++) {
        right[i] = p->value[n->output[i]];
        bound[i] = p->error[n->output[i]];
        *off = fmax(*off, fabs((double)p->plain[n->output[i]] - right[i]));
    }
}

static int open_passage(passage *p, const spry_network *n)
{
    *p = (passage){n, sp_alloc_raw(n->neurons, sizeof *p->value),
                   sp_alloc_raw(n->neurons, sizeof *p->error),
                   sp_alloc_raw(n->neurons, sizeof *p->unit),
                   sp_alloc_raw(n->neurons, sizeof *p->plain)};
    return p->value && p->error && p->unit && p->plain;
}

static void close_passage(passage *p)
{
    sp_free(p->value);
    sp_free(p->error);
    sp_free(p->unit);
    sp_free(p->plain);
}

spry_status sp_inference_answers(double *right, double *bound,
                                 const spry_network *n, const float *x,
                                 int64_t count)
{
    int short_of_memory = 0;
    double off = 0, size = 0, limit;

#pragma omp parallel reduction(|                  \
                               : short_of_memory) \
    reduction(max                                 \
              : off) if (count > 1)
    {
        passage p;
        int ok = open_passage(&p, n);

        short_of_memory = !ok;
#pragma omp for schedule(dynamic, 1)
        for (int64_t b = 0; b < count; b++)
            if (ok)
                answer_one(&p, right + b * n->outputs, bound + b * n->outputs,
                           &off, x + b * n->inputs);
        close_passage(&p);
    }
    if (short_of_memory)
        return sp_no_memory((size_t)n->neurons * 4 * sizeof(double));
    for (int64_t i = 0; i < count * n->outputs; i++)
        size = fmax(size, fabs(right[i]));
    limit = TIMES_PLAIN * off + A_LITTLE * size;
    for (int64_t i = 0; i < count * n->outputs; i++)
        bound[i] = fmin(bound[i], limit);
    return SPRY_OK;
}
