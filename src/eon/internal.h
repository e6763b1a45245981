/* internal.h - what was learned about ordering, in a file and in use. */
#ifndef SP_EON_INTERNAL_H
#define SP_EON_INTERNAL_H

#include "eon/evolve.h"
#include "eon/ppo.h"

extern const sp_order sp_order_eon;

typedef struct {
    spry_eon form;
    sp_scorer scorer; /* of moves */
    sp_policy policy; /* of attention */
} sp_eon;

/* Nothing is learned yet. */
spry_status sp_eon_new(sp_eon *m, spry_eon form, spry_embedding embedding,
                       uint64_t seed);
/* SPRY_INPUT and a sentence when the file is none of ours. */
spry_status sp_eon_load(sp_eon *m, const char *path);
/* What the file held: m owns it from then on, also on failure. */
spry_status sp_eon_open(sp_eon *m, sp_nn *weights, const char *path);
/* With a card that says how good it is, and on what it learned. */
spry_status sp_eon_save(const sp_eon *m, const char *path, int64_t networks,
                        double share);
void sp_eon_free(sp_eon *m);

/* SPRY_USAGE when the network is too large for attention. */
spry_status sp_eon_check_size(const sp_eon *m, const spry_network *n);
spry_status sp_eon_order(int32_t *edge, const spry_network *n,
                         const spry_order_options *o, const sp_eon *m);

#endif
