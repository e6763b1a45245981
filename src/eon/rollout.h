/* rollout.h - what a policy saw and did, step by step. */
#ifndef SP_EON_ROLLOUT_H
#define SP_EON_ROLLOUT_H

#include "eon/ppo.h"

/* A step: its frontier and cache begin at these places of the lists. */
typedef struct {
    int64_t edges_at, held_at;
    int32_t edges, held;
    int32_t action;
    float log_p, value, reward, advantage, returns;
} sp_step;

/* Steps of episodes of one environment. */
typedef struct {
    sp_step *step;
    int32_t *edge, *cached; /* lists: frontiers, caches */
    int64_t steps, edges, held;
    int64_t step_room, edge_room, held_room;
    sp_states states; /* room for a batch */
    int64_t states_room, cached_room;
} sp_rollout;

void sp_rollout_free(sp_rollout *p);
/* The steps of this list, as states. */
spry_status sp_rollout_states(sp_rollout *p, const sp_episode *e,
                              const int64_t *which, int64_t count);
/* One episode; each step is kept when `keep` is not 0, else only the last. */
spry_status sp_rollout_episode(sp_rollout *p, sp_environment *g,
                               const sp_policy *policy, sp_tape *tape,
                               sp_rng *chance, int keep, int32_t *edge,
                               const spry_order_options *progress);

#endif
