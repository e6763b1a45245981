/* reference.c - the plain forward pass: neurons by number, in double.
 *
 * Slow and obvious. What every other way to run a network is compared with. */
#include "spry/network.h"

#include "network/internal.h"

/* value[neurons] from its first n->inputs. */
static void forward(double *value, const spry_network *n)
{
    for (int64_t l = 0; l < n->layers; l++)
        for (int64_t v = n->first[l]; v < n->first[l + 1]; v++) {
            double sum = 0;

            for (int64_t k = n->start[v]; k < n->start[v + 1]; k++)
                sum += (double)n->weight[k] * value[n->source[k]];
            if (!n->bias_on_nonzero || sum != 0)
                sum += (double)n->bias[v];
            value[v] = sp_activate_exactly(n->activation[l], sum);
        }
}

/* One input to one output, through value[neurons]. */
static void run_one(double *y, double *value, const spry_network *n,
                    const float *x)
{
    for (int64_t v = 0; v < n->inputs; v++)
        value[v] = (double)x[v];
    forward(value, n);
    for (int64_t i = 0; i < n->outputs; i++)
        y[i] = value[n->output[i]];
}

spry_status spry_network_reference(double *y, const spry_network *n,
                                   const float *x, int64_t batch)
{
    SP_NEED(y, n, x);
    SP_REFUSE(batch < 0, "a batch cannot have %lld inputs", (long long)batch);

    int short_of_memory = 0;

#pragma omp parallel reduction(| : short_of_memory) if (batch > 1)
    {
        double *value = sp_alloc_raw(n->neurons, sizeof *value);

        short_of_memory = !value;
#pragma omp for schedule(dynamic, 1)
        for (int64_t b = 0; b < batch; b++)
            if (value)
                run_one(y + b * n->outputs, value, n, x + b * n->inputs);
        sp_free(value);
    }
    if (short_of_memory)
        return sp_fail_memory((size_t)n->neurons * sizeof(double));
    return SPRY_OK;
}
