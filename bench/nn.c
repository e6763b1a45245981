/* nn.c - what the nn room does in a second: products beside this core's FMA
 * peak, a search's scoring loop, WACO's network on a matrix of a million
 * nonzeros.
 *
 *   bench-nn [threads]
 *
 * Every number is the median of repeated runs; OpenBLAS and own loops are
 * raced in turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "measure/measure.h"
#include "nn/internal.h"
#include "nn/layers.h"
#include "spry/machine.h"

static void must(spry_status s)
{
    if (s == SPRY_OK)
        return;
    fprintf(stderr, "bench-nn: %s\n", spry_message());
    exit((int)s);
}

/* Median seconds of one run. */
static double seconds_of(void (*run)(void *), void *arg)
{
    const sp_contestant c = {run, arg};
    const sp_race_options o = {.seconds = 2, .pairs = 31, .precision = 0.01};
    sp_racer r;

    must(sp_race(&r, &c, 1, &o));
    return r.seconds;
}

/* ---- products ---- */

static void run_blas(void *g)
{
    sp_nn_gemm(g, 1);
}

static void run_loops(void *g)
{
    sp_loops_gemm(g);
}

static void bench_product(int64_t m, int64_t n, int64_t k, double peak)
{
    const sp_race_options o = {.seconds = 2, .pairs = 31, .precision = 0.01};
    float *a = sp_alloc(m * k, sizeof *a), *b = sp_alloc(n * k, sizeof *b);
    float *c = sp_alloc(m * n, sizeof *c);
    sp_gemm g = {.m = m,
                 .n = n,
                 .k = k,
                 .a = a,
                 .lda = k,
                 .b = b,
                 .ldb = k,
                 .tb = 1,
                 .c = c,
                 .ldc = n};
    const sp_contestant both[] = {{run_loops, &g}, {run_blas, &g}};
    double work = (double)m * (double)n * (double)k;
    sp_racer r[2];

    if (!a || !b || !c)
        must(sp_fail_memory(0));
    must(sp_race(r, both, 2, &o));
    printf("  %5d x %4d x %4d   BLAS %6.1f GMAC/s (%3.0f %% of peak)   own "
           "loops %5.1f   BLAS is %.1f x [%.1f, %.1f]\n",
           (int)m, (int)n, (int)k, work / r[1].seconds / 1e9,
           100 * work / r[1].seconds / peak, work / r[0].seconds / 1e9,
           r[1].speedup, r[1].low, r[1].high);
    sp_free(a);
    sp_free(b);
    sp_free(c);
}

/* ---- scoring: relu(schedule half + problem half) -> 64 -> 1 ---- */

enum { HALF = 128, HIDDEN = 64, BLOCK = 128 }; /* a block stays in L2 */

typedef struct {
    sp_nn *n;
    sp_tape *t;
    sp_dense middle, last;
    sp_tensor *problem; /* [1, HALF] */
    sp_tensor half;     /* [schedules, HALF], known beforehand */
    double best;
} scoring;

/* One block: its rows are borrowed, not copied. */
static void score_block(scoring *s, int64_t first, int64_t rows)
{
    sp_tensor x = {SP_SHAPE(rows, HALF), rows * HALF,
                   s->half.value + first * HALF, NULL};
    sp_tensor *h, *y;

    sp_tape_begin(s->t, 0);
    h = sp_nn_relu(s->t, sp_nn_add(s->t, &x, s->problem));
    h = sp_nn_relu(s->t, sp_nn_dense(s->t, &s->middle, h));
    y = sp_nn_dense(s->t, &s->last, h);
    must(sp_tape_status(s->t));
    for (int64_t i = 0; i < rows; i++)
        s->best = fmin(s->best, (double)y->value[i]);
}

static void score_all(void *arg)
{
    scoring *s = arg;
    int64_t rows = s->half.shape.dim[0];

    for (int64_t i = 0; i < rows; i += BLOCK)
        score_block(s, i, rows - i < BLOCK ? rows - i : BLOCK);
}

static void bench_scoring(int64_t schedules)
{
    scoring s = {0};
    double seconds;

    must(sp_nn_new(&s.n, 1));
    must(sp_tape_new(&s.t, 1));
    s.middle = sp_dense_make(s.n, "middle", HALF, HIDDEN, 1);
    s.last = sp_dense_make(s.n, "last", HIDDEN, 1, 1);
    s.problem =
        sp_nn_weights(s.n, "problem", SP_SHAPE(1, HALF), sp_init_normal(1));
    s.half = *sp_nn_weights(s.n, "half", SP_SHAPE(schedules, HALF),
                            sp_init_normal(1));
    must(sp_nn_status(s.n));
    seconds = seconds_of(score_all, &s);
    printf("scoring   %.2f million schedules/s on one core, %d kMAC each, %d "
           "at hand\n",
           (double)schedules / seconds / 1e6, (HALF * HIDDEN + HIDDEN) / 1000,
           (int)schedules);
    sp_tape_free(s.t);
    sp_nn_free(s.n);
}

/* ---- WACO's convolutions ---- */

enum { LAYERS = 14, CHANNELS = 32 };

typedef struct {
    sp_nn *n;
    sp_tape *t;
    sp_conv conv[LAYERS];
    sp_sites *sites[LAYERS + 1];
    int learn;
} pyramid;

/* Chance within a band, as a matrix of a mesh might look. */
static spry_status band_sites(sp_sites **out, int64_t n)
{
    enum { PER_ROW = 10, BAND = 40 };
    int32_t *row = sp_alloc(n, sizeof *row), *col = sp_alloc(n, sizeof *col);
    sp_rng r = sp_rng_seed(1);
    spry_status s = SPRY_OK;

    if (!row || !col)
        s = sp_fail_memory(0);
    for (int64_t i = 0; s == SPRY_OK && i < n; i++) {
        int64_t step = BAND / PER_ROW;

        row[i] = (int32_t)(i / PER_ROW);
        col[i] = (int32_t)(row[i] + i % PER_ROW * step +
                           (int64_t)sp_rng_below(&r, (uint64_t)step));
    }
    if (s == SPRY_OK)
        s = sp_sites_new(out, n, row, col);
    sp_free(row);
    sp_free(col);
    return s;
}

static void shrink_all(void *arg)
{
    pyramid *p = arg;

    for (int i = 0; i < LAYERS; i++) {
        sp_sites_free(p->sites[i + 1]);
        must(sp_sites_shrink(&p->sites[i + 1], p->sites[i], i ? 2 : 1));
    }
}

static void run_pyramid(void *arg)
{
    pyramid *p = arg;
    sp_tensor *pooled[LAYERS], *x;

    sp_tape_begin(p->t, p->learn);
    x = sp_nn_input(p->t, SP_SHAPE(p->sites[0]->n, 1), NULL);
    for (int64_t i = 0; x && i < x->size; i++)
        x->value[i] = 1;
    for (int i = 0; i < LAYERS; i++) {
        x = sp_nn_conv(p->t, &p->conv[i], x, p->sites[i], p->sites[i + 1]);
        x = sp_nn_relu(p->t, x);
        pooled[i] = sp_nn_average(p->t, x);
    }
    x = sp_nn_join(p->t, pooled, LAYERS);
    if (p->learn) {
        x = sp_nn_reshape(p->t, x, SP_SHAPE(LAYERS * CHANNELS, 1));
        must(sp_tape_backward(p->t, sp_nn_average(p->t, x)));
    }
    must(sp_tape_status(p->t));
}

static void bench_pyramid(int64_t nonzeros, int threads)
{
    pyramid p = {0};
    double shrink, forward, both;

    must(sp_nn_new(&p.n, 1));
    must(sp_tape_new(&p.t, threads));
    must(band_sites(&p.sites[0], nonzeros));
    for (int i = 0; i < LAYERS; i++) {
        char name[16];

        snprintf(name, sizeof name, "conv%d", i);
        p.conv[i] = sp_conv_make(p.n, name, i ? 3 : 5, i ? 2 : 1,
                                 i ? CHANNELS : 1, CHANNELS);
    }
    must(sp_nn_status(p.n));
    shrink = seconds_of(shrink_all, &p);
    forward = seconds_of(run_pyramid, &p);
    p.learn = 1;
    both = seconds_of(run_pyramid, &p);
    printf("WACONet   %.1e nonzeros, %d threads: sites %.3f s, forward %.3f "
           "s, forward and back %.3f s\n",
           (double)nonzeros, threads, shrink, forward, both);
    for (int i = 0; i <= LAYERS; i++)
        sp_sites_free(p.sites[i]);
    sp_tape_free(p.t);
    sp_nn_free(p.n);
}

int main(int argc, char **argv)
{
    static const int64_t shapes[][3] = {{512, 64, 128},
                                        {512, 32, 32},
                                        {32, 256, 256},
                                        {1, 128, 256},
                                        {2048, 256, 256}};
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    spry_machine m;

    setvbuf(stdout, NULL, _IOLBF, 0);
    must(spry_machine_detect(&m));
    must(spry_machine_probe(&m));
    printf("%s, %s, noise grade %c\n", m.name, sp_nn_blas(),
           spry_machine_grade(&m));
    printf("products, one core, rows x outputs x inputs\n");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        bench_product(shapes[i][0], shapes[i][1], shapes[i][2], m.fma_f32 / 2);
    bench_scoring(1 << 16);
    bench_pyramid(100000, 1);
    bench_pyramid(1000000, 1);
    bench_pyramid(1000000, threads);
    return 0;
}
