/* inference.h - sparse networks as problems: tuned, run and checked as sparse
 * matrices are.
 *
 * Running a batch of inputs through a network is a problem. spry_tune finds the
 * fastest way to compute it, and spry_run(plan, x, y) does so, with x
 * [batch][inputs] and y [batch][outputs] in float. A way to compute it is one
 * line of text: the passes that first make the network smaller (shrink.h), then
 * the form in which it runs. spry_plan_from takes such a line:
 *
 *     plain threads=2                neuron by neuron
 *     edges order=blocked threads=2  an edge at a time, in a given order
 *     gather threads=2               one input at a time, sums in registers
 *     rows tile=8 threads=2          inputs side by side in vectors
 *     passes=all gather threads=1    gather, after all passes
 *
 * Networks that do not fit into memory run layer by layer: spry_layers_run. */
#ifndef SPRY_INFERENCE_H
#define SPRY_INFERENCE_H

#include "spry/matrix.h"
#include "spry/network.h"
#include "spry/plan.h"
#include "spry/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== simple ==== */

/* Borrows n, which must outlive the problem. */
spry_status spry_problem_network(spry_problem **out, const spry_network *n,
                                 int64_t batch);

/* ==== advanced ==== */

/* Which passes a tune may use: names as in "merge,dead", or "none"; NULL, the
 * default: all. */
spry_status spry_problem_set_passes(spry_problem *p, const char *passes);
/* Measure with these inputs, [batch][inputs], instead of generated images of
 * pen strokes. As many as are needed are copied. */
spry_status spry_problem_set_inputs(spry_problem *p, const float *x);

/* NULL and 0 when p is not a problem of a network. */
const spry_network *spry_problem_net(const spry_problem *p);
int64_t spry_problem_batch(const spry_problem *p);

/* How many inputs the tuner measures with: the batch, or fewer where that would
 * take long. Seconds are always stated for the whole batch. */
int64_t spry_problem_raced(const spry_problem *p);

/* Run any number of inputs; the plan was chosen for batches of one size. */
spry_status spry_run_inputs(const spry_plan *plan, const float *x, float *y,
                            int64_t count);
/* For each of the rows first .. first + count - 1 of m, padded with zeros:
 * any[i] becomes 1 if an output is not 0, else 0. This is what the Graph
 * Challenge asks for; the outputs themselves are not stored. */
spry_status spry_run_categories(const spry_plan *plan, uint8_t *any,
                                const spry_matrix *m, int64_t first,
                                int64_t count);
/* The most edges that are executed for an input; fewer are when its values stop
 * changing early. 0 when it is not a plan of a network. */
int64_t spry_plan_edges(const spry_plan *plan);

/* ==== experimental ==== */

/* A plan that runs one edge at a time, in an order of the caller's (order.h),
 * which is checked. */
spry_status spry_plan_ordered(spry_plan **out, const spry_problem *p,
                              const int32_t *edge);

#ifdef __cplusplus
}
#endif
#endif
