/* lanes_body.h - the probe's loops for one instruction set.
 *
 * Compiled once per set (cmake/isas.cmake), which defines
 *   SET(name)   the name with the set's behind it
 *   BYTES       of one vector register
 * and lets the compiler fuse what is written as a product and a sum.
 * Twelve independent chains cover a latency of four cycles on three ports,
 * and leave four of sixteen registers for the operands. */
#include "machine/internal.h"

typedef float f32 __attribute__((vector_size(BYTES)));
typedef double f64 __attribute__((vector_size(BYTES)));

#define TWELVE(DO) \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define EIGHT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

static double fma_f32(int64_t n, double *sink)
{
    volatile float half = 0.5f; /* chains settle at 1: nothing denormal */
    f32 x = (f32){0} + half, y = x;

#define START(k) f32 a##k = x + (float)(k);
#define STEP(k)  a##k = a##k * x + y;
#define JOIN(k)  x += a##k;
    TWELVE(START)
    for (int64_t i = 0; i < n; i++) {
        TWELVE(STEP)
    }
    TWELVE(JOIN)
#undef START
#undef STEP
#undef JOIN
    *sink += (double)x[0];
    return (double)n * 12 * 2 * (BYTES / sizeof(float));
}

static double fma_f64(int64_t n, double *sink)
{
    volatile double half = 0.5;
    f64 x = (f64){0} + half, y = x;

#define START(k) f64 a##k = x + (double)(k);
#define STEP(k)  a##k = a##k * x + y;
#define JOIN(k)  x += a##k;
    TWELVE(START)
    for (int64_t i = 0; i < n; i++) {
        TWELVE(STEP)
    }
    TWELVE(JOIN)
#undef START
#undef STEP
#undef JOIN
    *sink += x[0];
    return (double)n * 12 * 2 * (BYTES / sizeof(double));
}

static double sum(const double *x, int64_t n)
{
    const f64 *v = (const f64 *)x;
    f64 total = {0};
    double out = 0;

#define START(k) f64 a##k = {0};
#define STEP(k)  a##k += v[i + (k)];
#define JOIN(k)  total += a##k;
    EIGHT(START)
    for (int64_t i = 0; i < n / (int64_t)(BYTES / sizeof *x); i += 8) {
        EIGHT(STEP)
    }
    EIGHT(JOIN)
#undef START
#undef STEP
#undef JOIN
    for (size_t k = 0; k < BYTES / sizeof *x; k++)
        out += total[k];
    return out;
}

static void triad(double *a, const double *b, const double *c, double s,
                  int64_t n)
{
    f64 *out = (f64 *)a;
    const f64 *x = (const f64 *)b, *y = (const f64 *)c;

    for (int64_t i = 0; i < n / (int64_t)(BYTES / sizeof *a); i += 4) {
        out[i] = x[i] + s * y[i];
        out[i + 1] = x[i + 1] + s * y[i + 1];
        out[i + 2] = x[i + 2] + s * y[i + 2];
        out[i + 3] = x[i + 3] + s * y[i + 3];
    }
}

extern const sp_lanes SET(sp_lanes);
const sp_lanes SET(sp_lanes) = {fma_f32, fma_f64, sum, triad};
