/* dense.h - operators of dense networks as problems: convolutions, products,
 * pooling, softmax, layer norm, reductions, elementwise chains.
 *
 * spry/operator.h defines what they compute and their types. */
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

/* The smallest operator of this kind, to start from: every size is 1, stride 1,
 * no padding, no bias or activation, no weights. */
void spry_operator_init(spry_operator *out, spry_operator_kind kind);

/* Parse "conv2d,h=56,w=56,c=64,k=64,r=3,pad=1,act=relu", with or without "op:"
 * before it; docs/schedules.md lists kinds and parameters. SPRY_USAGE, and the
 * message says what is wrong. Weights stay NULL. */
spry_status spry_operator_parse(spry_operator *out, const char *text);
/* The text that parse takes, without "op:", into out[size]; truncated when it
 * does not fit. */
enum { SPRY_OPERATOR_TEXT = 256 };
void spry_operator_text(char *out, size_t size, const spry_operator *op);
/* Names and parameters with their defaults, for help; NULL past the last. */
const char *spry_operator_name(int kind);
const char *spry_operator_params(int kind);

/* Rows and columns of the resulting images, for conv2d and pool. */
int64_t spry_operator_height(const spry_operator *op);
int64_t spry_operator_width(const spry_operator *op);

/* The operator as a problem to tune, run and check. It copies *op and borrows
 * the weights. spry_problem_key is the operator's text, without weights. */
spry_status spry_problem_dense(spry_problem **out, const spry_operator *op);
/* The operator of such a problem, with its weights; NULL for other problems. */
const spry_operator *spry_problem_operator(const spry_problem *p);

/* The plan that `text` describes; NULL: the one predicted to be fastest. m
 * NULL: the detected machine. spry_run and spry_run_scaled can run it, too:
 * their B is `in` and their D is `b` or `add`, whichever the operator has;
 * alpha must be 1 and beta 0. */
spry_status spry_dense_plan(spry_plan **out, const spry_problem *p,
                            const char *text, const spry_machine *m);
/* Predicted seconds of a run; nothing is measured. */
spry_status spry_dense_predict(double *seconds, const spry_problem *p,
                               const char *text, const spry_machine *m);
spry_status spry_dense_run(const spry_plan *plan, const spry_tensors *t);

/* The correct result, computed slowly by summing in double. */
spry_status spry_dense_reference(const spry_problem *p, const spry_tensors *t);

#ifdef __cplusplus
}
#endif
#endif
