/* lanes_body.h - the probe's loops for one instruction set.
 *
 * lanes.c includes this once per set, with these defined before:
 *   SET(name)      the name with the set's suffix
 *   BYTES          of one vector register
 *   TARGET         the attribute that lets the compiler use the set
 *   FMA32, FMA64   (a, b, c) -> a b + c on whole registers
 * Twelve independent chains cover a latency of four cycles on three ports,
 * and leave four of sixteen registers for the operands. */

typedef float SET(f32) __attribute__((vector_size(BYTES)));
typedef double SET(f64) __attribute__((vector_size(BYTES)));

#define TWELVE(DO) \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define EIGHT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

TARGET static double SET(fma_f32)(int64_t n, double *sink)
{
    volatile float half = 0.5f; /* chains settle at 1: nothing denormal */
    SET(f32) x = (SET(f32)){0} + half, y = x;

#define START(k) SET(f32) a##k = x + (float)(k);
#define STEP(k)  a##k = FMA32(a##k, x, y);
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

TARGET static double SET(fma_f64)(int64_t n, double *sink)
{
    volatile double half = 0.5;
    SET(f64) x = (SET(f64)){0} + half, y = x;

#define START(k) SET(f64) a##k = x + (double)(k);
#define STEP(k)  a##k = FMA64(a##k, x, y);
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

TARGET static double SET(sum)(const double *x, int64_t n)
{
    const SET(f64) *v = (const SET(f64) *)x;
    SET(f64) total = {0};
    double out = 0;

#define START(k) SET(f64) a##k = {0};
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

TARGET static void SET(triad)(double *a, const double *b, const double *c,
                              double s, int64_t n)
{
    SET(f64) *out = (SET(f64) *)a;
    const SET(f64) *x = (const SET(f64) *)b, *y = (const SET(f64) *)c;

    for (int64_t i = 0; i < n / (int64_t)(BYTES / sizeof *a); i += 4) {
        out[i] = x[i] + s * y[i];
        out[i + 1] = x[i + 1] + s * y[i + 1];
        out[i + 2] = x[i + 2] + s * y[i + 2];
        out[i + 3] = x[i + 3] + s * y[i + 3];
    }
}

static const sp_lanes SET(lanes) = {SET(fma_f32), SET(fma_f64), SET(sum),
                                    SET(triad)};

#undef TWELVE
#undef EIGHT
#undef SET
#undef BYTES
#undef TARGET
#undef FMA32
#undef FMA64
