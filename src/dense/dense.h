/* dense.h - the family of dense operators, for the rooms below.
 *
 * A plan's work is cut into shares that know nothing of each other: whoever
 * has threads hands every share to one of them, in any order, without a
 * barrier inside. */
#ifndef SP_DENSE_H
#define SP_DENSE_H

#include "base/slab.h"
#include "family/family.h"
#include "plan/plan.h"
#include "problem/problem.h"
#include "spry/dense.h"

#define SP_OPERATOR_SIZE (1 << 24) /* most that a size of an operator can be */

/* From this share of zeros on, weights may pay as sparse ones. */
#define SP_SPARSE_FROM 0.3

typedef struct {
    spry_problem head;
    spry_operator op;      /* all pitches and skips are set */
    int64_t height, width; /* of the result's images; else 1 */
    int64_t rows;          /* pixels of the result, or rows of numbers */
    int64_t cols;          /* numbers of the result in each of them */
    int64_t terms;         /* in one sum, at most */
    int64_t zeros;         /* among its weights */
    float *own[2];         /* weights and bias that nobody gave */
} sp_dense_problem;

extern const sp_problem_kind sp_dense_kind;
extern const sp_family sp_family_dense;

/* p as what it is; NULL: it is none. */
const sp_dense_problem *sp_dense_of(const spry_problem *p);

/* Floats of the operands, from the first to the last that is used. */
int64_t sp_dense_in(const spry_operator *op);
int64_t sp_dense_b(const spry_operator *op);
int64_t sp_dense_add(const spry_operator *op);
int64_t sp_dense_more(const spry_operator *op, int step);
int64_t sp_dense_out(const spry_operator *op);
/* Floats of the weights and of the bias; 0: there are none. */
int64_t sp_dense_weights(const spry_operator *op);
int64_t sp_dense_bias(const spry_operator *op);

/* Sizes make sense; pitches and skips that are 0 become what they mean
 * (describe.c). */
spry_status sp_operator_settle(spry_operator *op);
/* groups = c = k, or a multiple of it? */
int sp_operator_depthwise(const spry_operator *op);

/* The results of rows [from, to) (of elementwise chains and all others rows
 * of `cols` numbers), in double: out[to - from][cols]. magnitude, if not
 * NULL: the sums of absolute values that the error bound of each takes
 * (reference.c). */
void sp_dense_answers(double *out, double *magnitude, const sp_dense_problem *p,
                      const spry_tensors *t, int64_t from, int64_t to);
/* SPRY_USAGE when an operand that the operator has is NULL. */
spry_status sp_dense_complete(const sp_dense_problem *p, const spry_tensors *t);
/* Where row i of the result begins in spry_tensors' out. */
int64_t sp_dense_place(const sp_dense_problem *p, int64_t i);

/* ---- plans ---- */

/* A way to compute another operator, perhaps on another machine, as one for p
 * on m, on so many threads if it has several. SPRY_USAGE: it is none. */
spry_status sp_dense_adapt(char out[SPRY_SCHEDULE_TEXT], const spry_problem *p,
                           const char *text, const spry_machine *m,
                           int threads);

typedef struct sp_dense_plan sp_dense_plan;

/* Where packed weights are that outlive the plan: to be put into a slab, or,
 * packed not NULL, there already, as sp_dense_packed of an equal plan had
 * them. All 0: they are the plan's own. */
typedef struct {
    sp_slab *slab;
    const void *packed;
    int64_t bytes;
} sp_dense_home;

/* As spry_dense_plan. home NULL: the plan's own. SPRY_FAIL: packed weights do
 * not fit the plan. */
spry_status sp_dense_plan_in(spry_plan **out, const spry_problem *p,
                             const char *text, const spry_machine *m,
                             const sp_dense_home *home);
/* What a plan made of its weights, on 64 bytes; NULL: nothing. */
const void *sp_dense_packed(const sp_dense_plan *plan, int64_t *bytes);

/* As spry_problem_dense, without weights: so many of them are 0. A plan needs
 * them given first, unless they are packed already. */
spry_status sp_dense_problem_bare(spry_problem **out, const spry_operator *op,
                                  int64_t zeros);
void sp_dense_give_weights(spry_problem *p, const float *weights);

/* The plan as what it is; NULL: it is none. */
const sp_dense_plan *sp_dense_plan_of(const spry_plan *plan);

/* How many shares its text asks for, and the bytes of scratch memory, on 64,
 * that each needs while it runs. */
int sp_dense_shares(const sp_dense_plan *plan);
int64_t sp_dense_scratch(const sp_dense_plan *plan);
/* Share i of them. */
void sp_dense_share(const sp_dense_plan *plan, const spry_tensors *t, int i,
                    void *scratch);

#endif
