/* aocl.c - AMD's AOCL-Sparse (4.0 and later), hinted and optimised. Its
 * threads are OpenMP's, as many as the race sets. */
#include <aoclsparse.h>

#include "base/base.h"
#include "peers.h"

enum { EXPECTED_CALLS = 1000000 };

typedef struct {
    const bench_operands *o;
    aoclsparse_matrix A;
    aoclsparse_mat_descr general; /* the default of a new one, base zero */
} aocl;

static const char *version(void)
{
    return aoclsparse_get_version();
}

static aoclsparse_status wrap(aocl *h)
{
    const bench_operands *o = h->o;
    aoclsparse_int rows = (aoclsparse_int)o->rows;
    aoclsparse_int cols = (aoclsparse_int)o->cols;
    aoclsparse_int nnz = (aoclsparse_int)o->nnz;

    if (o->c.type == SPRY_F32)
        return aoclsparse_create_scsr(&h->A, aoclsparse_index_base_zero, rows,
                                      cols, nnz, o->start, o->col, o->val);
    return aoclsparse_create_dcsr(&h->A, aoclsparse_index_base_zero, rows, cols,
                                  nnz, o->start, o->col, o->val);
}

/* A refused hint is no failure: the routines work without. */
static void optimise(aocl *h)
{
    if (h->o->c.op == SPRY_SPMV)
        (void)aoclsparse_set_mv_hint(h->A, aoclsparse_operation_none,
                                     h->general, EXPECTED_CALLS);
    else
        (void)aoclsparse_set_mm_hint(h->A, aoclsparse_operation_none,
                                     h->general, EXPECTED_CALLS);
    (void)aoclsparse_optimize(h->A);
}

static void close_aocl(void *handle)
{
    aocl *h = handle;

    if (h->A)
        (void)aoclsparse_destroy(&h->A);
    if (h->general)
        (void)aoclsparse_destroy_mat_descr(h->general);
    sp_free(h);
}

static void *open_aocl(const bench_operands *o, char why[BENCH_WHY])
{
    aocl *h = sp_alloc(1, sizeof *h);

    if (!h) {
        snprintf(why, BENCH_WHY, "not enough memory");
        return NULL;
    }
    h->o = o;
    if (aoclsparse_create_mat_descr(&h->general) != aoclsparse_status_success ||
        wrap(h) != aoclsparse_status_success) {
        snprintf(why, BENCH_WHY, "AOCL-Sparse does not take this matrix");
        close_aocl(h);
        return NULL;
    }
    optimise(h);
    return h;
}

static void spmv(const aocl *h)
{
    const bench_operands *o = h->o;
    const float one = 1, zero = 0;
    const double d_one = 1, d_zero = 0;

    if (o->c.type == SPRY_F32)
        (void)aoclsparse_smv(aoclsparse_operation_none, &one, h->A, h->general,
                             o->B, &zero, o->C);
    else
        (void)aoclsparse_dmv(aoclsparse_operation_none, &d_one, h->A,
                             h->general, o->B, &d_zero, o->C);
}

static void spmm(const aocl *h)
{
    const bench_operands *o = h->o;
    aoclsparse_int n = (aoclsparse_int)o->c.n;

    if (o->c.type == SPRY_F32)
        (void)aoclsparse_scsrmm(aoclsparse_operation_none, 1, h->A, h->general,
                                aoclsparse_order_row, o->B, n, n, 0, o->C, n);
    else
        (void)aoclsparse_dcsrmm(aoclsparse_operation_none, 1, h->A, h->general,
                                aoclsparse_order_row, o->B, n, n, 0, o->C, n);
}

static void run_aocl(void *handle)
{
    const aocl *h = handle;

    if (h->o->c.op == SPRY_SPMV)
        spmv(h);
    else
        spmm(h);
}

const bench_peer bench_aocl = {.name = "aocl",
                               .ops = BENCH_SPMV | BENCH_SPMM,
                               .types = BENCH_F32 | BENCH_F64,
                               .parallel = 1,
                               .version = version,
                               .open = open_aocl,
                               .run = run_aocl,
                               .close = close_aocl};
