/* blas.c - products by OpenBLAS where there is one, by our own loops where
 * not.
 *
 * Large products are cut here, so that there is one pool of threads, and one
 * order of sums for a thread count. */
#include "nn/blas.h"

#include "base/base.h"
#include "machine/machine.h"
#include "nn/internal.h"

const char *sp_nn_blas(void)
{
    return sp_blas_open()->about;
}

/* ---- a timed product ---- */

enum { EDGE = 256, ROUNDS = 4 };

typedef struct {
    const sp_blas *blas;
    float *a, *b, *c;
} product;

static double product_seconds(const product *p)
{
    double start = sp_seconds();

    p->blas->sgemm(SP_ROW_MAJOR, SP_AS_IT_IS, SP_AS_IT_IS, EDGE, EDGE, EDGE, 1,
                   p->a, EDGE, p->b, EDGE, 0, p->c, EDGE);
    return sp_seconds() - start;
}

/* The best of a few rounds of product and multiply-adds in turns, so that
 * who shares the machine slows both. */
static double share_of_peak(const sp_blas *b)
{
    const double flops = 2.0 * EDGE * EDGE * EDGE;
    float *all = sp_alloc(3 * EDGE * EDGE, sizeof *all);
    double rate = 0, peak = 0;

    if (!all)
        return 0;
    for (int i = 0; i < ROUNDS; i++) {
        product p = {b, all, all + EDGE * EDGE, all + 2 * EDGE * EDGE};
        double now = flops / product_seconds(&p), fma = sp_multiply_adds();

        rate = now > rate ? now : rate;
        peak = fma > peak ? fma : peak;
    }
    sp_free(all);
    return peak > 0 ? rate / peak : 0;
}

double sp_nn_blas_share(void)
{
    const sp_blas *b = sp_blas_open();

    return b->ours ? share_of_peak(b) : 0;
}

/* ---- one product ---- */

/* One column: c = op(A) b. BLAS wants the shape of A as stored. */
static void multiply_column(const sp_blas *blas, const sp_gemm *g)
{
    blas->sgemv(SP_ROW_MAJOR, g->ta ? SP_TRANSPOSED : SP_AS_IT_IS,
                (int)(g->ta ? g->k : g->m), (int)(g->ta ? g->m : g->k), 1, g->a,
                (int)g->lda, g->b, g->tb ? 1 : (int)g->ldb, g->add ? 1 : 0,
                g->c, (int)g->ldc);
}

/* One row: c' = op(B)' a'. */
static void multiply_row(const sp_blas *blas, const sp_gemm *g)
{
    blas->sgemv(SP_ROW_MAJOR, g->tb ? SP_AS_IT_IS : SP_TRANSPOSED,
                (int)(g->tb ? g->n : g->k), (int)(g->tb ? g->k : g->n), 1, g->b,
                (int)g->ldb, g->a, g->ta ? (int)g->lda : 1, g->add ? 1 : 0,
                g->c, 1);
}

static void multiply_matrices(const sp_blas *blas, const sp_gemm *g)
{
    blas->sgemm(SP_ROW_MAJOR, g->ta ? SP_TRANSPOSED : SP_AS_IT_IS,
                g->tb ? SP_TRANSPOSED : SP_AS_IT_IS, (int)g->m, (int)g->n,
                (int)g->k, 1, g->a, (int)g->lda, g->b, (int)g->ldb,
                g->add ? 1 : 0, g->c, (int)g->ldc);
}

static void multiply(const sp_gemm *g)
{
    const sp_blas *blas = sp_blas_open();

    if (g->m <= 0 || g->n <= 0)
        return;
    if (!blas->sgemm || g->k <= 0)
        sp_loops_gemm(g);
    else if (g->n == 1)
        multiply_column(blas, g);
    else if (g->m == 1)
        multiply_row(blas, g);
    else
        multiply_matrices(blas, g);
}

/* ---- cut into pieces ---- */

enum { GRAIN = 16, WORTH_A_THREAD = 1 << 19 }; /* rows; multiply-adds */

static int pieces_of(const sp_gemm *g, int threads)
{
    int64_t longer = g->m > g->n ? g->m : g->n;
    double worth = (double)g->m * (double)g->n * (double)g->k / WORTH_A_THREAD;

    if (threads > longer / GRAIN)
        threads = (int)(longer / GRAIN);
    if (threads > worth)
        threads = (int)worth;
    return threads < 1 ? 1 : threads;
}

static int64_t edge(int64_t n, int i, int pieces)
{
    return i == pieces ? n : n * i / pieces / GRAIN * GRAIN;
}

/* The i-th part of the rows of C, or of its columns if those are more. */
static sp_gemm piece(const sp_gemm *g, int i, int pieces)
{
    int64_t n = g->m > g->n ? g->m : g->n;
    int64_t from = edge(n, i, pieces), to = edge(n, i + 1, pieces);
    sp_gemm p = *g;

    if (g->m > g->n) {
        p.m = to - from;
        p.a += g->ta ? from : from * g->lda;
        p.c += from * g->ldc;
    } else {
        p.n = to - from;
        p.b += g->tb ? from * g->ldb : from;
        p.c += from;
    }
    return p;
}

void sp_nn_gemm(const sp_gemm *g, int threads)
{
    int pieces = pieces_of(g, threads);

    (void)sp_blas_open(); /* before there are threads */
    if (pieces == 1) {
        multiply(g);
        return;
    }
#pragma omp parallel for num_threads(pieces) schedule(static)
    for (int i = 0; i < pieces; i++) {
        sp_gemm p = piece(g, i, pieces);

        multiply(&p);
    }
}
