/* evolve.h - a scorer of moves, improved by evolution. */
#ifndef SP_EON_EVOLVE_H
#define SP_EON_EVOLVE_H

#include "eon/scorer.h"

/* One network and memory to become good at. */
typedef struct {
    sp_moves moves;
    int32_t *edge; /* [edges] */
    int64_t plain; /* reads and writes of the best plain order */
} sp_eon_task;

spry_status sp_eon_task_open(sp_eon_task *t, const spry_network *n,
                             int64_t memory);
void sp_eon_task_close(sp_eon_task *t);
/* Reads and writes of the order that c makes. */
int64_t sp_eon_task_order(sp_eon_task *t, const sp_scorer *c);

typedef struct {
    sp_eon_task *task; /* [tasks] */
    int64_t tasks;
    const spry_eon_options *options;
} sp_evolution;

/* c becomes the best that was met, whose share of plain I/O is *best. */
spry_status sp_evolve(sp_scorer *c, const sp_evolution *e, double *best);

#endif
