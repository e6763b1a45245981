/* ppo.h - episodes played by a policy, and learning from them. */
#ifndef SP_EON_PPO_H
#define SP_EON_PPO_H

#include "eon/policy.h"

/* One network and memory, and how the policy sees it. */
typedef struct {
    sp_episode episode;
    sp_vertex_view view;
    int64_t plain; /* reads and writes of the best plain order */
} sp_environment;

spry_status sp_environment_open(sp_environment *g, const spry_network *n,
                                int64_t memory, spry_embedding embedding);
void sp_environment_close(sp_environment *g);

/* Play one episode on an own tape, always the likeliest edge, or with chance
 * one drawn. edge[edges] becomes the order, unless NULL. progress may be NULL.
 */
spry_status sp_environment_order(sp_environment *g, const sp_policy *p,
                                 sp_rng *chance, int32_t *edge,
                                 const spry_order_options *progress);

typedef struct {
    sp_environment *environment; /* [environments] */
    int64_t environments;
    const spry_eon_options *options;
} sp_ppo_run;

/* p becomes the best that was met, whose share of plain I/O is *best. */
spry_status sp_ppo_learn(sp_policy *p, const sp_ppo_run *r, double *best);

#endif
