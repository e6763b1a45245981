/* bayes.c - linear regression with normal weights, in closed form.
 *
 * Records of one subject share a part that is the subject's own (its plain
 * loop was slow that day): it is a normal number of its own, integrated out,
 * so that what remains are differences between schedules. */
#include <math.h>
#include <string.h>

#include "adapt/adapt.h"

/* Variance of a subject's own part. */
static const double OWN = 0.05;

spry_status sp_bayes_new(sp_bayes *out, int width)
{
    int64_t square = (int64_t)width * width;

    *out = (sp_bayes){.width = width, .prior = 100, .noise = 0.02};
    out->sum = sp_alloc(square, sizeof *out->sum);
    out->to = sp_alloc(width, sizeof *out->to);
    out->mean = sp_alloc(width, sizeof *out->mean);
    out->factor = sp_alloc(square, sizeof *out->factor);
    if (out->sum && out->to && out->mean && out->factor)
        return SPRY_OK;
    sp_bayes_free(out);
    return sp_fail_memory((size_t)square * sizeof(double));
}

void sp_bayes_free(sp_bayes *b)
{
    sp_free(b->sum);
    sp_free(b->to);
    sp_free(b->mean);
    sp_free(b->factor);
    memset(b, 0, sizeof *b);
}

/* Add share * x x' and share * x y. */
static void add_product(sp_bayes *b, const double *x, double y, double share)
{
    int w = b->width;

    for (int i = 0; i < w; i++) {
        double scaled = share * x[i];
        double *row = b->sum + (int64_t)i * w;

        if (scaled == 0)
            continue;
        for (int k = 0; k <= i; k++)
            row[k] += scaled * x[k];
        b->to[i] += scaled * y;
    }
    b->square += share * y * y;
}

void sp_bayes_add(sp_bayes *b, const float *x, const float *wrong,
                  const float *noise, int64_t count)
{
    int w = b->width;
    double *row = sp_alloc(2 * (int64_t)w, sizeof *row), *all;
    double weights = 0, level = 0;

    if (!row)
        return;
    all = row + w;
    for (int64_t i = 0; i < count; i++) {
        double loud = noise ? (double)noise[i] : 0;
        double weight = b->noise / (b->noise + loud * loud);

        for (int k = 0; k < w; k++) {
            row[k] = (double)x[i * w + k];
            all[k] += weight * row[k];
        }
        level += weight * (double)wrong[i];
        weights += weight;
        add_product(b, row, (double)wrong[i], weight);
    }
    /* Sherman and Morrison: what they have in common is taken out again. */
    if (weights > 0)
        add_product(b, all, level, -OWN / (b->noise + OWN * weights));
    b->records += (double)count;
    sp_free(row);
}

/* ---- the posterior ---- */

/* Lower Cholesky factor of sum / noise + prior; returns the logarithm of its
 * determinant, NAN when there is none. */
static double factorize(sp_bayes *b)
{
    int w = b->width;
    double log_det = 0;

    for (int i = 0; i < w; i++) {
        double *row = b->factor + (int64_t)i * w;

        for (int k = 0; k <= i; k++) {
            const double *other = b->factor + (int64_t)k * w;
            double value =
                b->sum[(int64_t)i * w + k] / b->noise + (i == k ? b->prior : 0);

            for (int j = 0; j < k; j++)
                value -= row[j] * other[j];
            if (i == k) {
                if (!(value > 0))
                    return nan("");
                row[i] = sqrt(value);
                log_det += log(value);
            } else
                row[k] = value / other[k];
        }
    }
    return log_det;
}

/* x = L^-1 x */
static void forward(const sp_bayes *b, double *x)
{
    for (int i = 0; i < b->width; i++) {
        const double *row = b->factor + (int64_t)i * b->width;

        for (int k = 0; k < i; k++)
            x[i] -= row[k] * x[k];
        x[i] /= row[i];
    }
}

/* x = L'^-1 x */
static void backward(const sp_bayes *b, double *x)
{
    for (int i = b->width - 1; i >= 0; i--) {
        x[i] /= b->factor[(int64_t)i * b->width + i];
        for (int k = 0; k < i; k++)
            x[k] -= b->factor[(int64_t)i * b->width + k] * x[i];
    }
}

/* Twice the logarithm of how likely the records are. */
static double evidence(sp_bayes *b)
{
    double log_det = factorize(b), gained = 0;

    if (!isfinite(log_det))
        return -HUGE_VAL;
    for (int i = 0; i < b->width; i++)
        b->mean[i] = b->to[i] / b->noise;
    forward(b, b->mean);
    for (int i = 0; i < b->width; i++)
        gained += b->mean[i] * b->mean[i];
    backward(b, b->mean);
    return b->width * log(b->prior) - log_det - b->records * log(b->noise) -
           b->square / b->noise + gained;
}

spry_status sp_bayes_solve(sp_bayes *b)
{
    return isfinite(evidence(b))
               ? SPRY_OK
               : sp_fail(SPRY_FAIL, "the records' numbers are not finite");
}

spry_status sp_bayes_fit(sp_bayes *b)
{
    static const double priors[] = {10, 30, 100, 300, 1000, 3000, 10000};
    double best = -HUGE_VAL, prior = b->prior;

    for (size_t i = 0; i < sizeof priors / sizeof *priors; i++) {
        double now;

        b->prior = priors[i];
        now = evidence(b);
        if (now > best) {
            best = now;
            prior = priors[i];
        }
    }
    b->prior = prior;
    return sp_bayes_solve(b);
}

double sp_bayes_mean(const sp_bayes *b, const float *x)
{
    double sum = 0;

    for (int k = 0; k < b->width; k++)
        sum += b->mean[k] * (double)x[k];
    return sum;
}

double sp_bayes_variance(const sp_bayes *b, const float *x)
{
    double *y = sp_alloc(b->width, sizeof *y), sum = 0;

    if (!y)
        return HUGE_VAL;
    for (int k = 0; k < b->width; k++)
        y[k] = (double)x[k];
    forward(b, y);
    for (int k = 0; k < b->width; k++)
        sum += y[k] * y[k];
    sp_free(y);
    return sum;
}
