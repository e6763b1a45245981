/* baseline.c - plain CSR loops, compiled -O3 -march=native -ffast-math.
 *
 * No tiles, no vectors, no prefetch: 32-bit indices, contiguous arrays, and
 * everything the compiler may assume. */
#include "baseline.h"

#include "operands.h"

typedef void range(const bench_operands *b, int64_t first, int64_t last);

/* NOLINTBEGIN(bugprone-macro-parentheses): T is a type */
#define LOOPS(T, name)                                                         \
    static void spmv_##name(const bench_operands *p, int64_t first,            \
                            int64_t last)                                      \
    {                                                                          \
        const int32_t *restrict start = p->start, *restrict col = p->col;      \
        const T *restrict val = p->val, *restrict x = p->B;                    \
        T *restrict y = p->C;                                                  \
                                                                               \
        for (int64_t i = first; i < last; i++) {                               \
            T sum = 0;                                                         \
            for (int32_t k = start[i]; k < start[i + 1]; k++)                  \
                sum += val[k] * x[col[k]];                                     \
            y[i] = sum;                                                        \
        }                                                                      \
    }                                                                          \
                                                                               \
    static void spmm_##name(const bench_operands *p, int64_t first,            \
                            int64_t last)                                      \
    {                                                                          \
        const int32_t *restrict start = p->start, *restrict col = p->col;      \
        const T *restrict val = p->val, *restrict B = p->B;                    \
        const int64_t n = p->c.n;                                              \
                                                                               \
        for (int64_t i = first; i < last; i++) {                               \
            T *restrict c = (T *)p->C + i * n;                                 \
            for (int64_t j = 0; j < n; j++)                                    \
                c[j] = 0;                                                      \
            for (int32_t k = start[i]; k < start[i + 1]; k++) {                \
                const T *restrict b = B + col[k] * n;                          \
                for (int64_t j = 0; j < n; j++)                                \
                    c[j] += val[k] * b[j];                                     \
            }                                                                  \
        }                                                                      \
    }                                                                          \
                                                                               \
    static void sddmm_##name(const bench_operands *p, int64_t first,           \
                             int64_t last)                                     \
    {                                                                          \
        const int32_t *restrict start = p->start, *restrict col = p->col;      \
        const T *restrict val = p->val, *restrict B = p->B;                    \
        const T *restrict D = p->D;                                            \
        T *restrict C = p->C;                                                  \
        const int64_t n = p->c.n;                                              \
                                                                               \
        for (int64_t i = first; i < last; i++)                                 \
            for (int32_t k = start[i]; k < start[i + 1]; k++) {                \
                const T *restrict b = B + i * n, *restrict d = D + col[k] * n; \
                T sum = 0;                                                     \
                for (int64_t j = 0; j < n; j++)                                \
                    sum += b[j] * d[j];                                        \
                C[k] = val[k] * sum;                                           \
            }                                                                  \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

LOOPS(float, f32)
LOOPS(double, f64)

static range *loop_of(const bench_operands *b)
{
    static range *const loops[][2] = {
        {spmv_f32, spmv_f64}, {spmm_f32, spmm_f64}, {sddmm_f32, sddmm_f64}};

    return loops[b->c.op][b->c.type == SPRY_F64];
}

void bench_serial(void *operands)
{
    const bench_operands *b = operands;

    loop_of(b)(b, 0, b->rows);
}

void bench_parallel(void *operands)
{
    const bench_operands *b = operands;
    range *loop = loop_of(b);

#pragma omp parallel for num_threads(b->c.threads) schedule(static)
    for (int t = 0; t < b->c.threads; t++)
        loop(b, b->cut[t], b->cut[t + 1]);
}
