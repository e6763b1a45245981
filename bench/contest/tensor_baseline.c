/* tensor_baseline.c - plain mttkrp loops, compiled -O3 -march=native
 * -ffast-math.
 *
 * No tiles, no vectors, no prefetch: 32-bit indices, contiguous arrays. Over
 * fibers, B's row is multiplied once per fiber, through a row of sums. */
#include "tensor_baseline.h"

typedef void range(const bench_tensor *b, int64_t first, int64_t last,
                   int thread);

#define LOOPS(T, name)                                                     \
    static void entries_##name(const bench_tensor *p, int64_t first,       \
                               int64_t last, int thread)                   \
    {                                                                      \
        const int32_t *restrict start = p->start;                          \
        const int32_t *restrict k = p->k, *restrict l = p->l;              \
        const T *restrict val = p->val;                                    \
        const int64_t n = p->n;                                            \
                                                                           \
        (void)thread;                                                      \
        for (int64_t i = first; i < last; i++) {                           \
            T *restrict c = (T *)p->C + i * n;                             \
            for (int64_t j = 0; j < n; j++)                                \
                c[j] = 0;                                                  \
            for (int32_t e = start[i]; e < start[i + 1]; e++) {            \
                const T *restrict b = (const T *)p->B + k[e] * n;          \
                const T *restrict d = (const T *)p->D + l[e] * n;          \
                for (int64_t j = 0; j < n; j++)                            \
                    c[j] += val[e] * b[j] * d[j];                          \
            }                                                              \
        }                                                                  \
    }                                                                      \
                                                                           \
    static void fibers_##name(const bench_tensor *p, int64_t first,        \
                              int64_t last, int thread)                    \
    {                                                                      \
        const int32_t *restrict start = p->fiber_start;                    \
        const int32_t *restrict l = p->l;                                  \
        const T *restrict val = p->val;                                    \
        const int64_t n = p->n;                                            \
        T *restrict sum = (T *)p->sum + thread * n;                        \
                                                                           \
        for (int64_t i = first; i < last; i++) {                           \
            T *restrict c = (T *)p->C + i * n;                             \
            for (int64_t j = 0; j < n; j++)                                \
                c[j] = 0;                                                  \
            for (int32_t f = p->fiber[i]; f < p->fiber[i + 1]; f++) {      \
                const T *restrict b = (const T *)p->B + p->fiber_k[f] * n; \
                for (int64_t j = 0; j < n; j++)                            \
                    sum[j] = 0;                                            \
                for (int32_t e = start[f]; e < start[f + 1]; e++) {        \
                    const T *restrict d = (const T *)p->D + l[e] * n;      \
                    for (int64_t j = 0; j < n; j++)                        \
                        sum[j] += val[e] * d[j];                           \
                }                                                          \
                for (int64_t j = 0; j < n; j++)                            \
                    c[j] += sum[j] * b[j];                                 \
            }                                                              \
        }                                                                  \
    }

LOOPS(float, f32)
LOOPS(double, f64)

static void run_parallel(const bench_tensor *b, range *loop)
{
#pragma omp parallel for num_threads(b->threads) schedule(static)
    for (int t = 0; t < b->threads; t++)
        loop(b, b->cut[t], b->cut[t + 1], t);
}

static range *entries_of(const bench_tensor *b)
{
    return b->type == SPRY_F32 ? entries_f32 : entries_f64;
}

static range *fibers_of(const bench_tensor *b)
{
    return b->type == SPRY_F32 ? fibers_f32 : fibers_f64;
}

void bench_entries_serial(void *baseline)
{
    const bench_tensor *b = baseline;

    entries_of(b)(b, 0, b->rows, 0);
}

void bench_entries_parallel(void *baseline)
{
    run_parallel(baseline, entries_of(baseline));
}

void bench_fibers_serial(void *baseline)
{
    const bench_tensor *b = baseline;

    fibers_of(b)(b, 0, b->rows, 0);
}

void bench_fibers_parallel(void *baseline)
{
    run_parallel(baseline, fibers_of(baseline));
}
