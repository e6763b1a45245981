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

static void share(const sp_dense_plan *plan, const spry_tensors *t, int i,
                  void *scratch)
{
    int64_t rows = plan->p->rows, shares = plan->x.threads;

    (void)scratch;
    sp_dense_loops_of(plan->machine.isa)
        .rows(plan->p, t, rows * i / shares, rows * (i + 1) / shares);
}

const sp_dense_algorithm sp_dense_rows = {illegal, prepare, share, 1};
