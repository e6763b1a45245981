/* blas.c - products by OpenBLAS where there is one, by our own loops where
 * not.
 *
 * OpenBLAS is opened when the first product is asked for, not linked: merely
 * loading it starts threads that spin for a while, and that must not happen
 * to a program that only measures kernels. Its own threads are switched off,
 * unless the program around us uses it too and has its own idea; we cut large
 * products ourselves, so that there is one pool of threads, and one order of
 * sums for a thread count. SPRY_BLAS names another library with CBLAS in it,
 * or "none". */
#include "nn/nn.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "nn/internal.h"

/* CBLAS in its numbers. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };
typedef void cblas_sgemm(int order, int ta, int tb, int m, int n, int k,
                         float alpha, const float *a, int lda, const float *b,
                         int ldb, float beta, float *c, int ldc);
typedef void cblas_sgemv(int order, int ta, int m, int n, float alpha,
                         const float *a, int lda, const float *x, int incx,
                         float beta, float *y, int incy);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cblas_sgemm *sgemm; /* NULL: own loops */
static cblas_sgemv *sgemv;
static char description[160] = "own loops";

/* ISO C has no cast from object to function pointers; POSIX says they hold
 * the same bits. */
static int symbol(void *function, void *library, const char *name)
{
    void *p = dlsym(library, name);

    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static void describe(void *library, const char *file)
{
    char *(*config)(void);

    if (symbol(&config, library, "openblas_get_config"))
        snprintf(description, sizeof description, "%s", config());
    else
        snprintf(description, sizeof description, "%s", file);
}

static void open_blas(void)
{
    const char *file = getenv("SPRY_BLAS");
    void (*set_threads)(int);
    void *library;
    int theirs;

    file = file && *file ? file : "libopenblas.so.0";
    library = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    theirs = library != NULL;
    if (!library && strcmp(file, "none") != 0)
        library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return;
    if (!symbol(&sgemv, library, "cblas_sgemv") ||
        !symbol(&sgemm, library, "cblas_sgemm")) {
        dlclose(library);
        return;
    }
    if (!theirs && symbol(&set_threads, library, "openblas_set_num_threads"))
        set_threads(1);
    describe(library, file);
}

const char *sp_nn_blas(void)
{
    pthread_once(&once, open_blas);
    return description;
}

/* ---- one product ---- */

/* One column: c = op(A) b. BLAS wants the shape of A as stored. */
static void multiply_column(const sp_gemm *g)
{
    sgemv(ROW_MAJOR, g->ta ? TRANSPOSED : AS_IT_IS, (int)(g->ta ? g->k : g->m),
          (int)(g->ta ? g->m : g->k), 1, g->a, (int)g->lda, g->b,
          g->tb ? 1 : (int)g->ldb, g->add ? 1 : 0, g->c, (int)g->ldc);
}

/* One row: c' = op(B)' a'. */
static void multiply_row(const sp_gemm *g)
{
    sgemv(ROW_MAJOR, g->tb ? AS_IT_IS : TRANSPOSED, (int)(g->tb ? g->n : g->k),
          (int)(g->tb ? g->k : g->n), 1, g->b, (int)g->ldb, g->a,
          g->ta ? (int)g->lda : 1, g->add ? 1 : 0, g->c, 1);
}

static void multiply_matrices(const sp_gemm *g)
{
    sgemm(ROW_MAJOR, g->ta ? TRANSPOSED : AS_IT_IS,
          g->tb ? TRANSPOSED : AS_IT_IS, (int)g->m, (int)g->n, (int)g->k, 1,
          g->a, (int)g->lda, g->b, (int)g->ldb, g->add ? 1 : 0, g->c,
          (int)g->ldc);
}

static void multiply(const sp_gemm *g)
{
    if (g->m <= 0 || g->n <= 0)
        return;
    if (!sgemm || g->k <= 0)
        sp_loops_gemm(g);
    else if (g->n == 1)
        multiply_column(g);
    else if (g->m == 1)
        multiply_row(g);
    else
        multiply_matrices(g);
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

    pthread_once(&once, open_blas);
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
