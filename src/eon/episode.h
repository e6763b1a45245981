/* episode.h - ordering as an environment of reinforcement learning:
 * one edge of the frontier after the other.
 *
 * The state is fast memory and the frontier, the edges whose sources are
 * complete. An action runs one of them; its reward is minus the reads and
 * writes that it costs. After the last edge what is owed is written too, so
 * the rewards of an episode add up to what spry_simulate counts. */
#ifndef SP_EON_EPISODE_H
#define SP_EON_EPISODE_H

#include "eon/memory.h"

typedef struct {
    const spry_network *net;
    sp_fanout out;
    sp_memory memory;
    int32_t *frontier; /* [edges] the edges that may run */
    int64_t count;     /* of them */
    int64_t steps;     /* edges that ran */
    int64_t io;        /* reads and writes so far */
} sp_episode;

/* Borrows n. */
spry_status sp_episode_open(sp_episode *e, const spry_network *n,
                            int64_t memory);
void sp_episode_close(sp_episode *e);
void sp_episode_begin(sp_episode *e);
/* Run frontier[i]; reads and writes. */
int sp_episode_step(sp_episode *e, int64_t i);
/* The neurons in memory, newest first, into out[memory.room]; how many. */
int64_t sp_episode_cache(int32_t *out, const sp_episode *e);

#endif
