/* range.c - what a neuron's value can be, given what its sources can be.
 *
 * A float sum never falls when one of its terms grows, whatever the order:
 * rounding keeps order. So the least sum is that of the least terms, and its
 * rounding errors are those of that one sum: at most (terms + 2) units of
 * the sum of their sizes. */
#include <float.h>

#include "shrink/passes.h"

/* A sum of `terms` and how large all of them are together. */
typedef struct {
    double sum, size;
} total;

static void add(total *t, double weight, double value)
{
    double term = weight * value;

    t->sum += term;
    t->size += fabs(term);
}

/* The sizes, to bound the error: infinite ones bound nothing. */
static double slack(const total *t, int64_t terms)
{
    return isinf(t->size) ? 0
                          : t->size * (double)(terms + 2) * (double)FLT_EPSILON;
}

/* What the sum, with its bias, can be before the activation. */
static sp_range sum_range(const sp_range *range, const spry_network *n,
                          int64_t v)
{
    total low = {0, 0}, high = {0, 0};
    int64_t terms = n->start[v + 1] - n->start[v];
    double bias = (double)n->bias[v];
    sp_range sum, biased;

    for (int64_t k = n->start[v]; k < n->start[v + 1]; k++) {
        double w = (double)n->weight[k];
        const sp_range *u = &range[n->source[k]];

        if (w > 0 || w < 0) {
            add(&low, w, w > 0 ? u->low : u->high);
            add(&high, w, w > 0 ? u->high : u->low);
        }
    }
    if (low.size <= 0 && high.size <= 0) /* the sum is 0, exactly */
        return n->bias_on_nonzero ? (sp_range){0, 0} : (sp_range){bias, bias};
    sum = (sp_range){low.sum - slack(&low, terms),
                     high.sum + slack(&high, terms)};
    add(&low, 1, bias);
    add(&high, 1, bias);
    biased = (sp_range){low.sum - slack(&low, terms),
                        high.sum + slack(&high, terms)};
    if (n->bias_on_nonzero && sum.low <= 0 && sum.high >= 0)
        return (sp_range){fmin(0, biased.low), fmax(0, biased.high)};
    return biased;
}

sp_range sp_range_of(const sp_range *range, const spry_network *n, int64_t v,
                     int64_t l)
{
    spry_activation a = n->activation[l];
    sp_range r = sum_range(range, n, v);

    switch (a.curve) {
    case SPRY_LINEAR: return r;
    case SPRY_RELU: return (sp_range){fmax(r.low, 0), fmax(r.high, 0)};
    case SPRY_CLAMP:
        return (sp_range){fmin(fmax(r.low, 0), (double)a.limit),
                          fmin(fmax(r.high, 0), (double)a.limit)};
    case SPRY_TANH:
        return r.low < 0 || r.high > 0 ? (sp_range){-1, 1} : (sp_range){0, 0};
    case SPRY_SIGMOID: break;
    }
    return (sp_range){0, 1};
}
