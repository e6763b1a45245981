/* chooser.h - which move next: a few candidates, a few features of each, a
 * small learned scorer. */
#ifndef SP_EON_CHOOSER_H
#define SP_EON_CHOOSER_H

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
} sp_chooser;

/* The heads of these weights, which the chooser owns from then on, also on
 * failure. Fresh ones start near blocked. */
spry_status sp_chooser_make(sp_chooser *c, sp_nn *weights);
void sp_chooser_free(sp_chooser *c);
/* After the weights were changed. */
void sp_chooser_pack(sp_chooser *c);
float sp_chooser_score(const sp_chooser *c, sp_head_kind kind, const float *f);

/* Candidates of one kind and their features. */
typedef struct {
    int count;
    int32_t neuron[SP_CANDIDATES];
    float f[SP_CANDIDATES][SP_FEATURES];
} sp_choice;
/* Sources to run, and what the gate sees; then neurons to open. */
void sp_choose_sources(sp_choice *out, float gate[SP_FEATURES],
                       const sp_moves *m);
void sp_choose_openings(sp_choice *out, const sp_moves *m);
/* One more candidate, unless it is among them; its place. */
int sp_choice_add(sp_choice *c, int32_t neuron);
void sp_choice_fill_source(sp_choice *c, int i, const sp_moves *m);
void sp_choice_fill_opening(sp_choice *c, int i, const sp_moves *m);

/* Make the next move. */
void sp_chooser_move(const sp_chooser *c, sp_moves *m);

#endif
