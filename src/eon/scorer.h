/* scorer.h - which move next: a few candidates, a few features of each, a
 * small learned scorer. */
#ifndef SP_EON_SCORER_H
#define SP_EON_SCORER_H

#include "eon/moves.h"
#include "nn/layers.h"

/* What is chosen: a source to run, a neuron to open; and whether to open. */
typedef enum { SP_RUN, SP_OPEN, SP_GATE } sp_head_kind;
enum { SP_HEADS = 3, SP_FEATURES = 12, SP_HIDDEN = 8, SP_CANDIDATES = 20 };

/* score = linear f + last relu(first f + bias); in a model file the tensors
 * source.linear, source.first.weight..., of each head. */
typedef struct {
    sp_dense linear, first, last;
    float packed[SP_FEATURES][SP_HIDDEN]; /* the first, by feature */
} sp_head;

typedef struct {
    sp_nn *weights; /* owned */
    sp_head head[SP_HEADS];
} sp_scorer;

/* The heads of these weights, which the scorer owns from then on, also on
 * failure. Fresh ones start near blocked. */
spry_status sp_scorer_make(sp_scorer *c, sp_nn *weights);
void sp_scorer_free(sp_scorer *c);
/* After the weights were changed. */
void sp_scorer_pack(sp_scorer *c);

/* Candidates of one kind and their features. */
typedef struct {
    int count;
    int32_t neuron[SP_CANDIDATES];
    float f[SP_CANDIDATES][SP_FEATURES];
} sp_candidates;
/* Sources to run, and what the gate sees; then neurons to open. */
void sp_candidates_sources(sp_candidates *out, float gate[SP_FEATURES],
                           const sp_moves *m);
void sp_candidates_openings(sp_candidates *out, const sp_moves *m);

/* Make the next move. */
void sp_scorer_move(const sp_scorer *c, sp_moves *m);

#endif
