/* eigen.c - the largest eigenvalues of a symmetric matrix that is only
 * known by what it does to vectors.
 *
 * ARPACK's Lanczos iteration does it where its library is found; it is opened
 * when first needed, for it brings a BLAS along. Else a block of vectors is
 * multiplied and made orthogonal again until it stops turning: slower, but
 * it finds repeated eigenvalues just as well. SPRY_ARPACK names another
 * library, or "none". */
#include "nn/eigen.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "nn/nn.h"

/* ---- ARPACK, from Fortran: everything by address, lengths last ---- */

typedef void dsaupd(int *ido, const char *bmat, const int *n, const char *which,
                    const int *nev, const double *tol, double *resid,
                    const int *ncv, double *v, const int *ldv, int *iparam,
                    int *ipntr, double *workd, double *workl, const int *lworkl,
                    int *info, size_t bmat_len, size_t which_len);
typedef void dseupd(const int *rvec, const char *howmny, const int *select,
                    double *d, double *z, const int *ldz, const double *sigma,
                    const char *bmat, const int *n, const char *which,
                    const int *nev, const double *tol, double *resid,
                    const int *ncv, double *v, const int *ldv, int *iparam,
                    int *ipntr, double *workd, double *workl, const int *lworkl,
                    int *info, size_t howmny_len, size_t bmat_len,
                    size_t which_len);

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Its variables are static, so one caller at a time. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static dsaupd *iterate; /* NULL: not there */
static dseupd *extract;

static void open_arpack(void)
{
    const char *file = sp_library_file("SPRY_ARPACK", "libarpack.so.2");
    void *library;

    if (!file)
        return;
    sp_nn_blas(); /* so that OpenBLAS, if ARPACK shares it, keeps to itself */
    library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return;
    if (sp_library_function(&extract, library, "dseupd_") &&
        sp_library_function(&iterate, library, "dsaupd_"))
        return;
    iterate = NULL;
    dlclose(library);
}

const char *sp_eigen_by(void)
{
    pthread_once(&once, open_arpack);
    return iterate ? "ARPACK" : "own iteration";
}

enum { MOST_STEPS = 3000, MOST_VECTORS = 256 };
static const double TOLERANCE = 1e-10;

typedef struct {
    int n, k, basis, work_size, info;
    int param[11], at[11];
    double *residual, *v, *work, *more; /* [n], [basis n], [3 n], [size] */
} lanczos;

static void turn_around(lanczos *l, const sp_symmetric *a)
{
    int ido = 0;

    do {
        iterate(&ido, "I", &l->n, "LA", &l->k, &TOLERANCE, l->residual,
                &l->basis, l->v, &l->n, l->param, l->at, l->work, l->more,
                &l->work_size, &l->info, 1, 2);
        if (ido == 1 || ido == -1)
            a->multiply(l->work + l->at[1] - 1, l->work + l->at[0] - 1,
                        a->payload);
    } while (ido == 1 || ido == -1);
}

/* Ascending, as ARPACK has them. */
static void take_out(lanczos *l, double *value, double *vector)
{
    int all = 1, select[2 * MOST_VECTORS + 20] = {0};
    double sigma = 0;

    extract(&all, "A", select, value, vector, &l->n, &sigma, "I", &l->n, "LA",
            &l->k, &TOLERANCE, l->residual, &l->basis, l->v, &l->n, l->param,
            l->at, l->work, l->more, &l->work_size, &l->info, 1, 1, 2);
}

static void swap_rows(double *a, double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double x = a[i];

        a[i] = b[i];
        b[i] = x;
    }
}

/* 1 when it was found, 0 when ARPACK gave up. */
static int by_arpack(lanczos *l, double *value, double *vector,
                     const sp_symmetric *a)
{
    sp_rng chance = sp_rng_seed(a->seed);

    for (int i = 0; i < l->n; i++)
        l->residual[i] = sp_rng_normal(&chance);
    l->info = 1; /* the residual is where to begin */
    l->param[0] = 1;
    l->param[2] = MOST_STEPS;
    l->param[6] = 1;
    pthread_mutex_lock(&turn);
    turn_around(l, a);
    if (l->info == 0)
        take_out(l, value, vector);
    pthread_mutex_unlock(&turn);
    for (int i = 0; i < l->k / 2; i++) {
        swap_rows(value + i, value + l->k - 1 - i, 1);
        swap_rows(vector + (int64_t)i * l->n,
                  vector + (int64_t)(l->k - 1 - i) * l->n, l->n);
    }
    return l->info == 0;
}

/* Small matrices, and those of which nearly all is asked, are left out. */
static int suits_arpack(int64_t k, const sp_symmetric *a)
{
    pthread_once(&once, open_arpack);
    return iterate && a->n <= INT32_MAX && k <= MOST_VECTORS &&
           a->n > 2 * k + 2;
}

static spry_status try_arpack(int *done, double *value, double *vector,
                              int64_t k, const sp_symmetric *a)
{
    int64_t basis = 2 * k + 20 < a->n ? 2 * k + 20 : a->n;
    lanczos l = {.n = (int)a->n, .k = (int)k, .basis = (int)basis};
    spry_status s = SPRY_OK;

    l.work_size = (int)(basis * (basis + 8));
    l.residual = sp_alloc(a->n, sizeof *l.residual);
    l.v = sp_alloc(a->n * basis, sizeof *l.v);
    l.work = sp_alloc(3 * a->n, sizeof *l.work);
    l.more = sp_alloc(l.work_size, sizeof *l.more);
    if (l.residual && l.v && l.work && l.more)
        *done = by_arpack(&l, value, vector, a);
    else
        s = sp_fail_memory((size_t)(a->n * basis) * sizeof *l.v);
    sp_free(l.residual);
    sp_free(l.v);
    sp_free(l.work);
    sp_free(l.more);
    return s;
}

/* ---- either way ---- */

spry_status sp_eigen_largest(double *value, double *vector, int64_t k,
                             const sp_symmetric *a)
{
    spry_status s = SPRY_OK;
    int done = 0;

    if (k < 1 || k > a->n)
        return sp_fail(SPRY_USAGE, "%lld eigenvectors of %lld", (long long)k,
                       (long long)a->n);
    if (suits_arpack(k, a))
        s = try_arpack(&done, value, vector, k, a);
    if (s == SPRY_OK && !done)
        return sp_eigen_own(value, vector, k, a);
    for (int64_t i = 0; s == SPRY_OK && i < k; i++)
        sp_eigen_fix_sign(vector + i * a->n, a->n);
    return s;
}
