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

/* Linear between neighbours (Hyndman and Fan, type 7). */
static double sorted_quantile(const double *x, int n, double q)
{
    double at = q * (n - 1);
    int below = (int)at;

    if (below >= n - 1 || x[below] == x[below + 1])
        return x[below >= n - 1 ? n - 1 : below];
    return x[below] + (at - below) * (x[below + 1] - x[below]);
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
 * between the k-th smallest and the k-th largest of n samples. */
static int order_rank(int n)
{
    double term = ldexp(1, -n), below = 0;
    int k = 0;

    if (n > 1000) /* 2^-n would vanish; the normal is exact enough */
        return (int)(n / 2.0 - 0.98 * sqrt(n));
    while (below + term <= 0.025) {
        below += term;
        term *= (double)(n - k) / (k + 1);
        k++;
    }
    return k;
}

sp_interval sp_median_interval(double *x, int n)
{
    /* Of normal samples, by how much of the range Student's interval of
     * the mean goes beyond either end. */
    static const double beyond[] = {0, 0, 6, 1, 0.3, 0.1};
    sp_interval out = {sp_median(x, n), -HUGE_VAL, HUGE_VAL};

    if (n >= 6) {
        int k = order_rank(n);

        out.low = x[k - 1];
        out.high = x[n - k];
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
