/* dense.h - operators of dense networks: convolutions, products, pooling,
 * softmax, layer norm, reductions, elementwise chains.
 *
 * spry/operator.h says what they compute and has their types. */
#ifndef SPRY_DENSE_H
#define SPRY_DENSE_H

#include <stddef.h>
#include <stdint.h>

#include "spry/operator.h"
#include "spry/plan.h"
#include "spry/problem.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

/* A small operator of this kind: one image, stride 1, no padding, no epilogue,
 * nothing borrowed; every size is 1. */
void spry_operator_init(spry_operator *out, spry_operator_kind kind);

/* "conv2d,h=56,w=56,c=64,k=64,r=3,pad=1,act=relu", "op:" before it allowed;
 * docs/schedules.md lists kinds and parameters. SPRY_USAGE says what is
 * wrong. Weights stay NULL. */
spry_status spry_operator_parse(spry_operator *out, const char *text);
/* What parse reads back, without "op:"; out[size], cut when too short. */
enum { SPRY_OPERATOR_TEXT = 256 };
void spry_operator_text(char *out, size_t size, const spry_operator *op);
/* Names and parameters with their defaults, for help; NULL past the last. */
const char *spry_operator_name(int kind);
const char *spry_operator_params(int kind);

/* Rows and columns of the result's images; of conv2d and pool. */
int64_t spry_operator_height(const spry_operator *op);
int64_t spry_operator_width(const spry_operator *op);

/* The operator as a problem to tune, run and check. It copies *op and borrows
 * the weights. spry_problem_key is its text and says nothing of weights. */
spry_status spry_problem_dense(spry_problem **out, const spry_operator *op);
/* The operator of a problem, weights filled in; NULL: it is another one. */
const spry_operator *spry_problem_operator(const spry_problem *p);

/* A plan that computes as the text says, NULL: as is expected to be fastest;
 * m NULL: the detected machine. spry_run and spry_run_scaled run it, too:
 * their B is `in`, their D is `b`, else `add`. Then alpha must be 1 and beta
 * 0. */
spry_status spry_dense_plan(spry_plan **out, const spry_problem *p,
                            const char *text, const spry_machine *m);
/* Seconds that a run should take; nothing is measured. */
spry_status spry_dense_predict(double *seconds, const spry_problem *p,
                               const char *text, const spry_machine *m);
spry_status spry_dense_run(const spry_plan *plan, const spry_tensors *t);

/* The slow right answer, summed in double. */
spry_status spry_dense_reference(const spry_problem *p, const spry_tensors *t);

#ifdef __cplusplus
}
#endif
#endif
