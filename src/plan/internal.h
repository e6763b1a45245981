/* internal.h - what the oracle's two files and the runner share. */
#ifndef SP_PLAN_INTERNAL_H
#define SP_PLAN_INTERNAL_H

#include "plan/sparse.h"

struct sp_oracle {
    const sp_sparse *p;
    uint64_t seed;
    void *B, *D;    /* small integers, for both questions */
    void *C;        /* results of the plan being checked */
    int64_t margin; /* elements before and behind C that stay untouched */
    int64_t rows;   /* compared one by one */
    int64_t *row;   /* [rows] */
    int64_t *first; /* [rows + 1] their first answer */
    double *exact;  /* answers to the integer question */
    double *real;   /* answers to the real one, */
    double *slack;  /* and how far off they may be */
    double *r, *Ar; /* Freivalds: [n], [rows of A]; NULL: not needed */
    void *all;      /* sddmm: all integer answers; NULL: not needed */
};

/* The real question: C = SP_ALPHA A B + SP_BETA C. */
#define SP_ALPHA 0.75
#define SP_BETA  (-1.5)

/* C as the real question finds it. */
spry_status sp_oracle_fill(const sp_oracle *o);

/* Small integers, zero only for zero: padding stays what it is. */
double sp_to_integer(double v);

/* Row i of dense X, which has `rows` of them, times r. */
double sp_oracle_times_r(const sp_oracle *o, const void *X, int64_t rows,
                         int64_t i);

/* The kernel on row-major operands, whatever it makes of them; *bad when it
 * reports a result that is not finite. Fails when memory is short (run.c). */
spry_status sp_run_kernel(const sp_sparse_plan *plan, sp_operands f, int *bad);

/* A whole run on row-major operands without gaps. */
spry_status sp_run_rows(const sp_sparse_plan *plan, sp_operands f);

/* Can the kernel itself take rows of B and C that lie further apart? Then it
 * does; *bad as above, and what C holds is then of no use. */
int sp_run_takes_strides(const sp_sparse_plan *plan, double beta);
spry_status sp_run_strided(const sp_sparse_plan *plan, sp_operands f,
                           int64_t ldb, int64_t ldc, int *bad);

/* What a walk over the units works on: all dense columns, or those of one
 * pass, in copies that hold nothing else. */
typedef struct {
    sp_operands f;
    int64_t n;        /* dense columns */
    int64_t ldb, ldc; /* elements from a row of B, of C, to the next */
    int64_t pass;     /* columns at a time */
    int kept;         /* C is read again at once: no stores past the cache */
} sp_product_view;
/* All units, dealt out as the schedule says, C scaled before where there are
 * rows that none visits. */
spry_status sp_run_view(const sp_sparse_plan *plan,
                        const sp_product_view *given, int *bad);
/* Units [first, last) of the only part. */
int sp_run_units(const sp_sparse_plan *plan, const sp_product_view *v,
                 int64_t first, int64_t last);

/* A dense operand: element (i, j) is i * down + j * right further. */
typedef struct {
    void *data;
    int64_t rows, cols, down, right;
} sp_operand;

/* Products whose B or C has its columns one after the other, a few at a time
 * (columns.c). Which plans take them, and room for what is turned. */
int sp_run_takes_columns(const sp_sparse_plan *plan, double beta);
spry_status sp_columns_open(sp_scratch **out, const sp_sparse *p,
                            const spry_schedule *x);
spry_status sp_run_columns(const sp_sparse_plan *plan, double alpha,
                           const sp_operand *B, double beta,
                           const sp_operand *C, int *bad);

/* Do B's rows conflict in the cache, so that a copy without gaps pays?
 * (dense.c) */
int sp_strides_conflict(const sp_sparse_plan *plan, const sp_operand *B);

/* Operands anywhere, in any layout (dense.c). */
spry_status sp_run_dense(const sp_sparse_plan *plan, double alpha,
                         const spry_dense *B, const spry_dense *D, double beta,
                         const spry_dense *C);

/* Every thread its share, many times, without waiting for the others. */
void sp_run_crowded(const sp_sparse_plan *plan, sp_operands f, int times);
/* Are there such shares? Chunks are dealt out anew, nests deal themselves. */
int sp_run_has_shares(const sp_sparse_plan *plan);

#endif
