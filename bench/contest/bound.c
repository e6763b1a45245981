/* bound.c - the loops that set the limits: STREAM's triad, and multiply-adds
 * that wait for nothing. */
#include "bound.h"

#include <math.h>

#include "base/base.h"

#ifdef __AVX512F__
enum { VECTOR = 64 };
#else
enum { VECTOR = 32 };
#endif
typedef float f32v __attribute__((vector_size(VECTOR)));
typedef double f64v __attribute__((vector_size(VECTOR)));

enum { CHAINS = 12, ROUNDS = 1 << 18 };

/* ---- triad ---- */

spry_status bench_triad_open(bench_bound *out, const spry_machine *m,
                             int threads)
{
    double last = 1 << 24;

    for (int i = 0; i < SPRY_CACHES; i++)
        last = fmax(last, (double)m->cache[i].bytes);
    *out = (bench_bound){.threads = threads};
    out->words = (int64_t)(4 * last / 3 / sizeof(double));
    out->work = 3 * sizeof(double) * (double)out->words;
    out->a = sp_alloc(out->words, sizeof(double));
    out->b = sp_alloc(out->words, sizeof(double));
    out->c = sp_alloc(out->words, sizeof(double));
    if (out->a && out->b && out->c)
        return SPRY_OK;
    bench_bound_close(out);
    return sp_fail_memory((size_t)out->work);
}

static void triad(const bench_bound *b)
{
    double *restrict x = b->a;
    const double *restrict y = b->b, *restrict z = b->c;

#pragma omp parallel for num_threads(b->threads) schedule(static)
    for (int64_t i = 0; i < b->words; i++)
        x[i] = y[i] + 0.5 * z[i];
}

/* ---- multiply-adds ---- */

void bench_peak_open(bench_bound *out, spry_type type, int threads)
{
    double lanes = (double)VECTOR / type;

    *out = (bench_bound){.threads = threads, .type = type};
    out->work = 2.0 * lanes * CHAINS * ROUNDS * threads;
}

#define CHAINS_OF(name, vector)                                              \
    static double name(double start)                                         \
    {                                                                        \
        vector s[CHAINS], m = {0}, sum = {0};                                \
                                                                             \
        for (int i = 0; i < CHAINS; i++)                                     \
            s[i] = sum + (float)(start + i);                                 \
        m += (float)start;                                                   \
        for (int k = 0; k < ROUNDS; k++)                                     \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) s[i] = \
                s[i] * m + m;                                                \
        for (int i = 0; i < CHAINS; i++)                                     \
            sum += s[i];                                                     \
        return (double)(sum[0] + sum[1]);                                    \
    }
CHAINS_OF(chains_f32, f32v)
CHAINS_OF(chains_f64, f64v)

static double peak(const bench_bound *b)
{
    double sum = 0;

#pragma omp parallel num_threads(b->threads) reduction(+ : sum)
    sum += b->type == SPRY_F32 ? chains_f32(0.5) : chains_f64(0.5);
    return sum;
}

/* ---- both ---- */

void bench_bound_run(void *bound)
{
    bench_bound *b = bound;

    if (b->a)
        triad(b);
    else
        b->sink += peak(b);
}

void bench_bound_close(bench_bound *b)
{
    sp_free(b->a);
    sp_free(b->b);
    sp_free(b->c);
    b->a = b->b = b->c = NULL;
}
