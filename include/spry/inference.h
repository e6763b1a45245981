/* inference.h - networks as problems: tuned, run and checked like matrices.
 *
 * A batch of inputs through a network is a problem; spry_tune finds the
 * fastest way to compute it, and spry_run(plan, x, y) does, x [batch][inputs]
 * and y [batch][outputs] in float. A way is which passes, then which form, one
 * line of text, as spry_plan_from takes it:
 *
 *     plain threads=2                neuron by neuron
 *     edges order=blocked threads=2  Algorithm 1, an edge at a time
 *     gather threads=2               one input at a time, sums in registers
 *     rows tile=8 threads=2          inputs side by side in vectors
 *     passes=all gather threads=1    the same, of what the passes leave
 *
 * Networks that do not fit run layer by layer: spry_layers_run. */
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

/* Which passes may be used: "merge,dead", "none"; NULL: all, as at first. */
spry_status spry_problem_set_passes(spry_problem *p, const char *passes);
/* Race with these, [batch][inputs], instead of pen strokes; as many as can be
 * of use are copied. */
spry_status spry_problem_set_inputs(spry_problem *p, const float *x);

/* NULL and 0 when p is no network's. */
const spry_network *spry_problem_net(const spry_problem *p);
int64_t spry_problem_batch(const spry_problem *p);

/* What the tuner races: this many inputs at a time, fewer than the batch where
 * that would take long. Seconds are always those of a whole batch. */
int64_t spry_problem_raced(const spry_problem *p);

/* A plan of a network takes any number of inputs; it was chosen for batches
 * of one size. */
spry_status spry_run_inputs(const spry_plan *plan, const float *x, float *y,
                            int64_t count);
/* Which of the rows of m, first .. first + count - 1, padded with zeros, give
 * an output that is not 0: any[count] becomes 1 or 0. What the Graph
 * Challenge asks for, without the outputs in between. */
spry_status spry_run_categories(const spry_plan *plan, uint8_t *any,
                                const spry_matrix *m, int64_t first,
                                int64_t count);
/* Edges that are executed for an input: at most, since inputs may be done
 * early. 0 when it is no network's plan. */
int64_t spry_plan_edges(const spry_plan *plan);

/* ==== experimental ==== */

/* Algorithm 1 with the edges in an order of one's own (order.h), which is
 * checked. */
spry_status spry_plan_ordered(spry_plan **out, const spry_problem *p,
                              const int32_t *edge);

#ifdef __cplusplus
}
#endif
#endif
