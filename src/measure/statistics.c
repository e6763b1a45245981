/* statistics.c - samples -> a number and how sure it is. */
#include "measure/measure.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void sort(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
}

/* Part of the way from a, which may be infinite, to b. */
static double between(double a, double b, double part)
{
    return a == b || isinf(a) || part == 0 ? a : a + part * (b - a);
}

/* Linear between neighbours (Hyndman and Fan, type 7). */
static double sorted_quantile(const double *x, int n, double q)
{
    double at = q * (n - 1);
    int below = (int)at;

    if (below >= n - 1)
        return x[n - 1];
    return between(x[below], x[below + 1], at - below);
}

double sp_quantile(double *x, int n, double q)
{
    sort(x, n);
    return sorted_quantile(x, n, q);
}

double sp_median(double *x, int n)
{
    return sp_quantile(x, n, 0.5);
}

/* The largest k with P(Binomial(n, 1/2) < k) <= 2.5 %: the median lies
 * between the k-th smallest and the k-th largest of n samples, more often than
 * in 95 % of cases. So often it does where both ends move inwards, *inwards of
 * the way to the next (Hettmansperger and Sheather 1986). */
static int order_rank(int n, double *inwards)
{
    double term = ldexp(1, -n), below = 0, share;
    int k = 0;

    *inwards = 0;
    if (n > 1000) /* 2^-n would vanish; the normal is exact enough */
        return (int)(n / 2.0 - 0.98 * sqrt(n));
    while (below + term <= 0.025) {
        below += term;
        term *= (double)(n - k) / (k + 1);
        k++;
    }
    share = (0.025 - below) / term;
    *inwards = (n - k) * share / (k + (n - 2 * k) * share);
    return k;
}

sp_interval sp_median_interval(double *x, int n)
{
    /* Of normal samples, by how much of the range Student's interval of
     * the mean goes beyond either end. */
    static const double beyond[] = {0, 0, 6, 1, 0.3, 0.1};
    sp_interval out = {sp_median(x, n), -HUGE_VAL, HUGE_VAL};

    if (n >= 6) {
        double inwards;
        int k = order_rank(n, &inwards);

        out.low = between(x[k - 1], x[k], inwards);
        out.high = between(x[n - k], x[n - k - 1], inwards);
    } else if (n >= 2) {
        double range = x[n - 1] - x[0];

        out.low = x[0] - beyond[n] * range;
        out.high = x[n - 1] + beyond[n] * range;
    }
    return out;
}

/* The 97.5 % quantile of Student's t: exact for the first two degrees of
 * freedom, then the Cornish-Fisher expansion, good to 0.3 %. */
static double student(int freedom)
{
    const double z = 1.959964, v = freedom, z3 = z * z * z, z5 = z3 * z * z;

    if (freedom <= 2)
        return freedom == 1 ? 12.7062 : 4.3027;
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

sp_interval sp_geomean(const double *x, int n)
{
    double mean = 0, square = 0, half;

    if (n < 1)
        return (sp_interval){1, 0, HUGE_VAL};
    for (int i = 0; i < n; i++)
        mean += log(x[i]) / n;
    if (n == 1)
        return (sp_interval){x[0], 0, HUGE_VAL};
    for (int i = 0; i < n; i++)
        square += (log(x[i]) - mean) * (log(x[i]) - mean);
    half = student(n - 1) * sqrt(square / (n - 1) / n);
    return (sp_interval){exp(mean), exp(mean - half), exp(mean + half)};
}
