/* check.h - operands and right answers, to hold plans against. */
#ifndef SP_DENSE_CHECK_H
#define SP_DENSE_CHECK_H

#include "dense/internal.h"

typedef struct sp_dense_oracle sp_dense_oracle;

/* few: for a glance, or to run with. */
spry_status sp_dense_oracle_make(sp_dense_oracle **out,
                                 const sp_dense_problem *p, uint64_t seed,
                                 int few);
void sp_dense_oracle_free(sp_dense_oracle *o);

/* Integers bit for bit, then reals within their bound. */
spry_status sp_dense_oracle_check(const sp_dense_oracle *o,
                                  const sp_dense_plan *plan);
/* One run on reals, compared; *seconds by the clock, if there is one. */
spry_status sp_dense_oracle_try(const sp_dense_oracle *o,
                                const sp_dense_plan *plan,
                                double (*clock)(void), double *seconds);
/* One run on its real operands. */
void sp_dense_oracle_run(const sp_dense_oracle *o, const sp_dense_plan *plan);

/* ---- Freivalds' test, out r = in (W r), of integers (freivalds.c) ---- */

/* One B and plain sums only: what a single r can speak for. */
int sp_dense_has_sums(const spry_operator *op);
/* in (W r), row by row, for r[cols]. */
spry_status sp_dense_sums(double *in_r, const double *r,
                          const sp_dense_problem *given, const spry_tensors *t);
/* SPRY_WRONG where t's results times r are not that. */
spry_status sp_dense_compare_sums(const double *in_r, const double *r,
                                  const sp_dense_problem *p,
                                  const spry_tensors *t, const char *text);

/* All of it, as spry_plan_check. */
spry_status sp_dense_check(const spry_plan *plan, uint64_t seed);

#endif
