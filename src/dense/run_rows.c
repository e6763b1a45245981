/* run_rows.c - one share of what is computed row by row. */
#include "dense/core.h"

void sp_plain_part(const sp_dense_core *p, const spry_tensors *t, int i,
                   void *scratch)
{
    p->loops.plain(p, t, p->rows * i / p->x.threads,
                   p->rows * (i + 1) / p->x.threads, scratch);
}

void sp_rows_part(const sp_dense_core *p, const spry_tensors *t, int i,
                  void *scratch)
{
    (void)scratch;
    p->loops.rows(p, t, p->rows * i / p->x.threads,
                  p->rows * (i + 1) / p->x.threads);
}
