/* mkl.c - Intel's inspector-executor sparse routines, told what will come. */
#include <mkl_service.h>
#include <mkl_spblas.h>

#include "base/base.h"
#include "peers.h"

enum { EXPECTED_CALLS = 1000000 };

typedef struct {
    const bench_operands *o;
    sparse_matrix_t A;
    struct matrix_descr general;
} mkl;

static const char *version(void)
{
    static char text[200];

    mkl_get_version_string(text, (int)sizeof text);
    return text;
}

static sparse_status_t wrap(mkl *h)
{
    const bench_operands *o = h->o;
    MKL_INT rows = (MKL_INT)o->rows, cols = (MKL_INT)o->cols;

    if (o->c.type == SPRY_F32)
        return mkl_sparse_s_create_csr(&h->A, SPARSE_INDEX_BASE_ZERO, rows,
                                       cols, o->start, o->start + 1, o->col,
                                       o->val);
    return mkl_sparse_d_create_csr(&h->A, SPARSE_INDEX_BASE_ZERO, rows, cols,
                                   o->start, o->start + 1, o->col, o->val);
}

/* A refused hint is no failure: the routines work without. */
static void optimise(mkl *h)
{
    const bench_operands *o = h->o;

    if (o->c.op == SPRY_SPMV)
        (void)mkl_sparse_set_mv_hint(h->A, SPARSE_OPERATION_NON_TRANSPOSE,
                                     h->general, EXPECTED_CALLS);
    else
        (void)mkl_sparse_set_mm_hint(h->A, SPARSE_OPERATION_NON_TRANSPOSE,
                                     h->general, SPARSE_LAYOUT_ROW_MAJOR,
                                     (MKL_INT)o->c.n, EXPECTED_CALLS);
    (void)mkl_sparse_set_memory_hint(h->A, SPARSE_MEMORY_AGGRESSIVE);
    (void)mkl_sparse_optimize(h->A);
}

static void *open_mkl(const bench_operands *o, char why[BENCH_WHY])
{
    mkl *h = sp_alloc(1, sizeof *h);

    (void)mkl_set_interface_layer(MKL_INTERFACE_LP64);
    (void)mkl_set_threading_layer(MKL_THREADING_GNU);
    mkl_set_num_threads(o->c.threads);
    if (h) {
        h->o = o;
        h->general.type = SPARSE_MATRIX_TYPE_GENERAL;
    }
    if (!h || wrap(h) != SPARSE_STATUS_SUCCESS) {
        snprintf(why, BENCH_WHY, "MKL does not take this matrix");
        sp_free(h);
        return NULL;
    }
    optimise(h);
    return h;
}

static void run_f32(const mkl *h)
{
    const bench_operands *o = h->o;
    MKL_INT n = (MKL_INT)o->c.n;

    if (o->c.op == SPRY_SPMV)
        (void)mkl_sparse_s_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, h->A,
                              h->general, o->B, 0, o->C);
    else
        (void)mkl_sparse_s_mm(SPARSE_OPERATION_NON_TRANSPOSE, 1, h->A,
                              h->general, SPARSE_LAYOUT_ROW_MAJOR, o->B, n, n,
                              0, o->C, n);
}

static void run_f64(const mkl *h)
{
    const bench_operands *o = h->o;
    MKL_INT n = (MKL_INT)o->c.n;

    if (o->c.op == SPRY_SPMV)
        (void)mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, h->A,
                              h->general, o->B, 0, o->C);
    else
        (void)mkl_sparse_d_mm(SPARSE_OPERATION_NON_TRANSPOSE, 1, h->A,
                              h->general, SPARSE_LAYOUT_ROW_MAJOR, o->B, n, n,
                              0, o->C, n);
}

static void run_mkl(void *handle)
{
    const mkl *h = handle;

    if (h->o->c.type == SPRY_F32)
        run_f32(h);
    else
        run_f64(h);
}

static void close_mkl(void *handle)
{
    mkl *h = handle;

    (void)mkl_sparse_destroy(h->A);
    sp_free(h);
}

const bench_peer bench_mkl = {.name = "mkl",
                              .ops = BENCH_SPMV | BENCH_SPMM,
                              .types = BENCH_F32 | BENCH_F64,
                              .parallel = 1,
                              .version = version,
                              .open = open_mkl,
                              .run = run_mkl,
                              .close = close_mkl};
