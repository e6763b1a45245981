/* rsb.c - librsb: recursive sparse blocks, arranged by its own tuner.
 *
 * The tuner may take minutes; it gets one round of half a second, and at most
 * 32 dense columns to try its arrangements with. */
#include <rsb.h>

#include "base/base.h"
#include "peers.h"

static const double TUNING_SECONDS = 0.5;
enum { TUNING_COLUMNS = 32 };

typedef struct {
    const bench_operands *o;
    struct rsb_mtx_t *A;
    union {
        float f32;
        double f64;
    } one, zero;
} rsb;

static const char *version(void)
{
    return &RSB_HEADER_VERSION_STRING[sizeof "librsb version"];
}

/* Initialised once; the threads may change. */
static rsb_err_t prepare(int threads)
{
    static int begun;
    rsb_int_t count = threads;
    rsb_err_t e = RSB_ERR_NO_ERROR;

    if (!begun)
        e = rsb_lib_init(RSB_NULL_INIT_OPTIONS);
    begun = e == RSB_ERR_NO_ERROR;
    if (begun)
        e = rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &count);
    return e;
}

static struct rsb_mtx_t *copy_matrix(const bench_operands *o, rsb_err_t *e)
{
    return rsb_mtx_alloc_from_csr_const(
        o->val, o->start, o->col, (rsb_nnz_idx_t)o->nnz,
        o->c.type == SPRY_F32 ? RSB_NUMERICAL_TYPE_FLOAT
                              : RSB_NUMERICAL_TYPE_DOUBLE,
        (rsb_coo_idx_t)o->rows, (rsb_coo_idx_t)o->cols, 0, 0, RSB_FLAG_NOFLAGS,
        e);
}

static void set_scalars(rsb *h)
{
    if (h->o->c.type == SPRY_F32) {
        h->one.f32 = 1;
        h->zero.f32 = 0;
    } else {
        h->one.f64 = 1;
        h->zero.f64 = 0;
    }
}

/* On failure the matrix stays as it was, which is fine. */
static void tune(rsb *h)
{
    int64_t n = h->o->c.n < TUNING_COLUMNS ? h->o->c.n : TUNING_COLUMNS;
    rsb_flags_t order = n == 1 ? RSB_FLAG_WANT_COLUMN_MAJOR_ORDER
                               : RSB_FLAG_WANT_ROW_MAJOR_ORDER;

    (void)rsb_tune_spmm(&h->A, NULL, NULL, 1, TUNING_SECONDS,
                        RSB_TRANSPOSITION_N, &h->one, NULL, (rsb_coo_idx_t)n,
                        order, NULL, 0, &h->zero, NULL, 0);
}

static void *open_rsb(const bench_operands *o, char why[BENCH_WHY])
{
    rsb *h = sp_alloc(1, sizeof *h);
    rsb_err_t e = prepare(o->c.threads);

    if (h && e == RSB_ERR_NO_ERROR)
        h->A = copy_matrix(o, &e);
    if (!h || !h->A) {
        snprintf(why, BENCH_WHY, "librsb does not take this matrix");
        sp_free(h);
        return NULL;
    }
    h->o = o;
    set_scalars(h);
    tune(h);
    return h;
}

static void run_rsb(void *handle)
{
    const rsb *h = handle;
    const bench_operands *o = h->o;
    rsb_coo_idx_t n = (rsb_coo_idx_t)o->c.n;

    if (o->c.op == SPRY_SPMV)
        (void)rsb_spmv(RSB_TRANSPOSITION_N, &h->one, h->A, o->B, 1, &h->zero,
                       o->C, 1);
    else
        (void)rsb_spmm(RSB_TRANSPOSITION_N, &h->one, h->A, n,
                       RSB_FLAG_WANT_ROW_MAJOR_ORDER, o->B, n, &h->zero, o->C,
                       n);
}

static void close_rsb(void *handle)
{
    rsb *h = handle;

    (void)rsb_mtx_free(h->A);
    sp_free(h);
}

const bench_peer bench_rsb = {.name = "librsb",
                              .ops = BENCH_SPMV | BENCH_SPMM,
                              .types = BENCH_F32 | BENCH_F64,
                              .parallel = 1,
                              .version = version,
                              .open = open_rsb,
                              .run = run_rsb,
                              .close = close_rsb};
