/* rows.c - pools, softmax, norms, reductions and chains in vectors. */
#include "base/base.h"
#include "dense/internal.h"

static const char *illegal(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m)
{
    (void)x;
    (void)m;
    return p->op.kind == SPRY_CONV2D || p->op.kind == SPRY_MATMUL
               ? "it computes no sums of products"
               : NULL;
}

static spry_status prepare(sp_dense_plan *plan, const spry_machine *m)
{
    (void)plan;
    (void)m;
    return SPRY_OK;
}

const sp_dense_algorithm sp_dense_rows = {illegal, prepare, sp_rows_part, 1};
