/* network_bound.h - how far a network's outputs in float may lie from those
 * of the reference.
 *
 * A sum of k terms and a bias is off by at most g times the sum of their
 * sizes, g = (k + 2) u / (1 - (k + 2) u), and by what its terms were off. No
 * curve makes an error larger, and where it is flat the error ends. */
#ifndef SPRY_TEST_NETWORK_BOUND_H
#define SPRY_TEST_NETWORK_BOUND_H

#include <float.h>
#include <math.h>

#include "base/base.h"
#include "check.h"
#include "spry/network.h"

/* Of what a curve is given, sum +- error, to what it returns. */
static inline double bound_behind(spry_activation a, double sum, double error)
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

/* error[v], from those of its sources and the values in double. */
static inline double bound_neuron(const double *value, const double *error,
                                  const spry_network *n, int64_t v, int64_t l)
{
    double sum = 0, size = 0, off = 0, bias = (double)n->bias[v];
    double units =
        (double)(n->start[v + 1] - n->start[v] + 2) * (double)FLT_EPSILON / 2;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        double w = (double)n->weight[k];

        sum += w * value[n->source[k]];
        off += fabs(w) * error[n->source[k]];
        size += fabs(w) * (fabs(value[n->source[k]]) + error[n->source[k]]);
    }
    if (size == 0 && n->bias_on_nonzero)
        return bound_behind(n->activation[l], 0, 0);
    off += units / (1 - units) * (size + fabs(bias));
    if (n->bias_on_nonzero && fabs(sum) <= off)
        off += fabs(bias); /* it may be there or not */
    return bound_behind(n->activation[l], sum + bias, off);
}

/* [batch][outputs], to be freed with sp_free. */
static inline double *network_bound(const spry_network *n, const float *x,
                                    int64_t batch)
{
    double *out = sp_alloc(batch * n->outputs, sizeof *out);
    double *value = sp_alloc(n->neurons, sizeof *value);
    double *error = sp_alloc(n->neurons, sizeof *error);
    int32_t *every = sp_alloc(n->neurons, sizeof *every);
    spry_network all = *n, *open;

    for (int64_t v = 0; v < n->neurons; v++)
        every[v] = (int32_t)v;
    all.outputs = n->neurons;
    all.output = every;
    check_ok(spry_network_make(&open, &all));
    for (int64_t b = 0; b < batch; b++) {
        check_ok(spry_network_reference(value, open, x + b * n->inputs, 1));
        for (int64_t l = 0; l < n->layers; l++)
            for (int64_t v = n->first[l]; v < n->first[l + 1]; v++)
                error[v] = bound_neuron(value, error, n, v, l);
        for (int64_t i = 0; i < n->outputs; i++)
            out[b * n->outputs + i] = error[n->output[i]];
    }
    spry_network_free(open);
    sp_free(value);
    sp_free(error);
    sp_free(every);
    return out;
}

#endif
