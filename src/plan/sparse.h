/* sparse.h - packed data and kernels: plans of sparse matrices and tensors. */
#ifndef SP_PLAN_SPARSE_H
#define SP_PLAN_SPARSE_H

#include "codegen/codegen.h"
#include "jit/jit.h"
#include "pack/pack.h"
#include "plan/plan.h"
#include "problem/sparse.h"

/* A cache, and how much longer what misses it takes; bytes 0: there is none. */
typedef struct {
    int64_t bytes;
    double seconds;
} sp_cache_cost;

typedef struct {
    spry_plan head;
    const sp_sparse *p;
    spry_schedule x;
    sp_spec spec;
    char name[SP_KERNEL_NAME];
    sp_packed *packed;
    sp_kernel *kernel;
    sp_spec rest_spec;      /* of the second part, when blocks leave a rest */
    sp_kernel *rest;        /* its kernel, else NULL */
    sp_jit_code *rest_code; /* and where that was compiled; NULL: built in */
    sp_jit_code *code;      /* compiled for this plan alone, */
    struct sp_kernels *kernels; /* or for many; both NULL: built in */
    int foreign;         /* for a wider machine than this one: not to be run */
    sp_scratch *scratch; /* room for copies of the dense operand */
    sp_scratch *turned;  /* room for columns of dense operands, as rows */
    sp_scratch *contiguous_B; /* room for copies without gaps of a B or C */
    sp_scratch *contiguous_C; /* whose rows lie apart */
    sp_cache_cost cost[SPRY_CACHES]; /* of its machine, the second on */
    sp_slots *slots; /* of entries in `packed`; NULL: never refilled */
    int threads;     /* that may pack */
} sp_sparse_plan;

extern const sp_plan_kind sp_sparse_plans;

/* The plan as what it is; NULL: it is none. */
const sp_sparse_plan *sp_sparse_plan_of(const spry_plan *plan);

void sp_sparse_plan_free(sp_sparse_plan *plan);
spry_status sp_sparse_run(const sp_sparse_plan *plan, sp_operands f);
spry_status sp_sparse_run_dense(const sp_sparse_plan *plan, double alpha,
                                const spry_dense *B, const spry_dense *D,
                                double beta, const spry_dense *C);
spry_status sp_sparse_export(const sp_sparse_plan *plan, const char *dir,
                             const char *name);

/* The plan's problem with the values it computes with now: those of the
 * problem's matrix, or of the last refill. Closed after use (refill.c). */
typedef struct {
    sp_sparse p;
    spry_matrix A;
    void *value;
} sp_present;
spry_status sp_present_open(sp_present *out, const sp_sparse_plan *plan);
void sp_present_close(sp_present *now);
spry_status sp_sparse_refill(sp_sparse_plan *plan, const void *values);

/* All of spry_plan_make but the kernel. */
spry_status sp_plan_prepare(sp_sparse_plan **out, const sp_sparse *p,
                            const spry_schedule *x, const spry_machine *m);

/* ---- many at once (kernels.c, nests.c) ---- */

/* Compiled kernels, held by whoever made them and by plans they are bound
 * to. Those of the specs that are neither built in nor there already are
 * added in one call of the compiler per core. */
typedef struct sp_kernels sp_kernels;
spry_status sp_kernels_open(sp_kernels **out);
spry_status sp_kernels_add(sp_kernels *k, const sp_spec *spec, int count,
                           const char *cpu, int cores);
void sp_kernels_free(sp_kernels *k);
/* Give a prepared plan its kernel; 0 when it is not among them. */
int sp_kernels_bind(sp_sparse_plan *plan, sp_kernels *k);

/* spry_plan_make, which looks among these kernels before it compiles. */
spry_status sp_plan_make_from(spry_plan **out, const sp_sparse *p,
                              const spry_schedule *x, const spry_machine *m,
                              sp_kernels *k);

/* Plans of many super schedules, x[i] on p[i]. A point that is illegal or
 * infeasible leaves out[i] NULL. On failure all are. */
spry_status sp_plan_make_nests(spry_plan **out, int count,
                               const sp_sparse *const *p,
                               const spry_schedule *x, const spry_machine *m);

/* The operand that columns of a part count in (0 B, 1 D, 2 C), whether a
 * tensor's kernel is handed D for B, and fibers to look ahead. */
int sp_plan_inner(const sp_sparse_plan *plan);
int sp_plan_swapped(const sp_sparse_plan *plan);
int64_t sp_plan_mid_prefetch(const sp_sparse_plan *plan, const sp_part *q);

/* The kernel of the rows that blocks leave. */
sp_spec sp_plan_rest_spec(const spry_schedule *x, const sp_sparse *p,
                          spry_isa isa, int32_t index);

/* C text of the plan's kernels, `storage` before each. */
void sp_plan_source(sp_buf *out, const sp_sparse_plan *plan,
                    const char *storage);

/* ---- verification (check.c, oracle.c) ----
 *
 * An oracle holds operands and right answers of one problem, so that many
 * plans can be checked against the same slow computation. */
typedef struct sp_oracle sp_oracle;
spry_status sp_oracle_make(sp_oracle **out, const sp_sparse *p, uint64_t seed);
spry_status sp_oracle_check(const sp_oracle *o, const sp_sparse_plan *plan);
/* So few terms that a check costs next to nothing. */
int sp_check_is_short(const sp_sparse *p);
void sp_oracle_free(sp_oracle *o);

/* An oracle with few rows and nothing about the others, for a glance: one run
 * on real numbers, a handful of rows compared, for a plan that was checked
 * before, on the word of a store. */
spry_status sp_oracle_brief(sp_oracle **out, const sp_sparse *p, uint64_t seed);
spry_status sp_oracle_glance(const sp_oracle *o, const sp_sparse_plan *plan);

/* One run on integers into NaN, every result compared: for a trial that is
 * to be timed, not used. *seconds is what the run took by the clock. */
spry_status sp_oracle_try(const sp_oracle *o, const sp_sparse_plan *plan,
                          double (*clock)(void), double *seconds);

/* One run on the oracle's operands that nobody looks at: to be timed. */
void sp_oracle_run(const sp_oracle *o, const spry_plan *plan);

#endif
