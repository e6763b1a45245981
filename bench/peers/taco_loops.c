/* taco_loops.c - fixed CSR as the TACO compiler writes it: rows dense, columns
 * compressed, rows handed out in chunks of 128 (SpMV) or 32.
 *
 * Compiled twice, each time under another TACO_NAME: with TACO's own flags
 * (-O3 -ffast-math -std=c99) and with -march=native besides. */
#include "base/base.h"
#include "peers.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): T is a type */
#define LOOPS(T, name)                                                         \
    static void spmv_##name(const bench_operands *o)                           \
    {                                                                          \
        int32_t rows = (int32_t)o->rows;                                       \
        const int32_t *restrict A2_pos = o->start, *restrict A2_crd = o->col;  \
        const T *restrict A_vals = o->val, *restrict x_vals = o->B;            \
        T *restrict y_vals = o->C;                                             \
                                                                               \
        _Pragma("omp parallel for schedule(dynamic, 128)") for (int32_t i = 0; \
                                                                i < rows; i++) \
        {                                                                      \
            T tky = 0;                                                         \
            for (int32_t kA = A2_pos[i]; kA < A2_pos[i + 1]; kA++) {           \
                int32_t k = A2_crd[kA];                                        \
                tky += A_vals[kA] * x_vals[k];                                 \
            }                                                                  \
            y_vals[i] = tky;                                                   \
        }                                                                      \
    }                                                                          \
                                                                               \
    static void spmm_##name(const bench_operands *o)                           \
    {                                                                          \
        int32_t rows = (int32_t)o->rows, n = (int32_t)o->c.n;                  \
        const int32_t *restrict A2_pos = o->start, *restrict A2_crd = o->col;  \
        const T *restrict A_vals = o->val, *restrict B_vals = o->B;            \
        T *restrict C_vals = o->C;                                             \
                                                                               \
        _Pragma("omp parallel for schedule(static)") for (int64_t p = 0;       \
                                                          p <                  \
                                                          (int64_t)rows * n;   \
                                                          p++) C_vals[p] = 0;  \
        _Pragma("omp parallel for schedule(dynamic, 32)") for (int32_t i = 0;  \
                                                               i < rows; i++)  \
        {                                                                      \
            for (int32_t kA = A2_pos[i]; kA < A2_pos[i + 1]; kA++) {           \
                int32_t k = A2_crd[kA];                                        \
                for (int32_t j = 0; j < n; j++) {                              \
                    int64_t jC = (int64_t)i * n + j;                           \
                    int64_t jB = (int64_t)k * n + j;                           \
                    C_vals[jC] = C_vals[jC] + A_vals[kA] * B_vals[jB];         \
                }                                                              \
            }                                                                  \
        }                                                                      \
    }                                                                          \
                                                                               \
    static void sddmm_##name(const bench_operands *o)                          \
    {                                                                          \
        int32_t rows = (int32_t)o->rows, n = (int32_t)o->c.n;                  \
        const int32_t *restrict A2_pos = o->start, *restrict A2_crd = o->col;  \
        const T *restrict A_vals = o->val, *restrict B_vals = o->B;            \
        const T *restrict D_vals = o->D;                                       \
        T *restrict C_vals = o->C;                                             \
                                                                               \
        _Pragma("omp parallel for schedule(dynamic, 32)") for (int32_t i = 0;  \
                                                               i < rows; i++)  \
        {                                                                      \
            for (int32_t jA = A2_pos[i]; jA < A2_pos[i + 1]; jA++) {           \
                int32_t j = A2_crd[jA];                                        \
                T tkC = 0;                                                     \
                for (int32_t k = 0; k < n; k++) {                              \
                    int64_t kB = (int64_t)i * n + k;                           \
                    int64_t kD = (int64_t)j * n + k;                           \
                    tkC += A_vals[jA] * B_vals[kB] * D_vals[kD];               \
                }                                                              \
                C_vals[jA] = tkC;                                              \
            }                                                                  \
        }                                                                      \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

LOOPS(float, f32)
LOOPS(double, f64)

typedef struct {
    const bench_operands *o;
    void (*loop)(const bench_operands *o);
} taco;

static const char *version(void)
{
    return TACO_FLAGS;
}

static void *open_taco(const bench_operands *o, char why[BENCH_WHY])
{
    static void (*const loops[][2])(const bench_operands *) = {
        {spmv_f32, spmv_f64}, {spmm_f32, spmm_f64}, {sddmm_f32, sddmm_f64}};
    taco *h = sp_alloc(1, sizeof *h);

    if (!h) {
        snprintf(why, BENCH_WHY, "not enough memory");
        return NULL;
    }
    *h = (taco){o, loops[o->c.op][o->c.type == SPRY_F64]};
    return h;
}

static void run_taco(void *handle)
{
    const taco *h = handle;

    h->loop(h->o);
}

const bench_peer TACO_NAME = {.name = TACO_TEXT,
                              .ops = BENCH_SPMV | BENCH_SPMM | BENCH_SDDMM,
                              .types = BENCH_F32 | BENCH_F64,
                              .parallel = 1,
                              .version = version,
                              .open = open_taco,
                              .run = run_taco,
                              .close = sp_free};
