/* verify.c - a result -> right or where it is not.
 *
 * A sum of k terms may be off by 2 k u times the sum of their magnitudes,
 * u the unit of the type: any order of summation, fused or not, stays within
 * it. */
#include "operands.h"

#include <math.h>

#include "base/base.h"
#include "problem/sparse.h"

static const double MOST_TERMS = 5e5;

static double slack(const sp_sparse *p, int64_t i, double magnitude)
{
    double u = p->type == SPRY_F32 ? 0x1p-24 : 0x1p-53;
    double terms = p->op == SPRY_SDDMM
                       ? (double)p->n
                       : (double)(p->A->start[i + 1] - p->A->start[i]);
    double tiny = p->type == SPRY_F32 ? 0x1p-126 : 0x1p-1022;

    return 2 * (terms + 3) * u * magnitude + tiny;
}

static spry_status verify_row(const bench_operands *o, int64_t i, const void *C)
{
    sp_operands f = {1, 0, o->B, o->D, NULL};
    const sp_sparse *p = sp_sparse_of(o->p);

    for (int64_t j = 0; j < sp_result_width(p, i); j++) {
        long double magnitude;
        double want = (double)sp_reference_one(p, i, j, NULL, &f, &magnitude);
        double got = sp_dense_get(p, C, sp_result_place(p, i, j));

        if (!(fabs(got - want) <= slack(p, i, (double)magnitude)) &&
            !(isnan(want) && isnan(got)) && got != want)
            return sp_fail(SPRY_WRONG,
                           "result %lld of row %lld is %.9g, should be %.9g",
                           (long long)j, (long long)i, got, want);
    }
    return SPRY_OK;
}

spry_status bench_verify(const bench_operands *o, const void *C)
{
    double terms = (double)(o->nnz + o->rows) * (double)o->c.n;
    double keep = terms > MOST_TERMS ? MOST_TERMS / terms : 1, due = 0;
    spry_status s = SPRY_OK;

    for (int64_t i = 0; i < o->rows && s == SPRY_OK; i++) {
        due += keep;
        if (due < 1 && i > 0 && i < o->rows - 1)
            continue;
        due -= due >= 1;
        s = verify_row(o, i, C);
    }
    return s;
}
