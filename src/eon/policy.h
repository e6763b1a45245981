/* policy.h - EON as its paper has it (Kamatar, 2023): attention over the
 * frontier and fast memory chooses the next edge and says what to expect. */
#ifndef SP_EON_POLICY_H
#define SP_EON_POLICY_H

#include "eon/episode.h"
#include "nn/layers.h"

enum { SP_SPECTRUM = 16, SP_VERTEX = 8 }; /* eigenvectors; plain features */

/* What is known of the neurons of one network before anything runs. */
typedef struct {
    int64_t neurons, width;
    float *feature;  /* [neurons][width] eigenvectors, or plain features */
    int64_t *start;  /* [neurons + 1] neighbours, either way */
    int32_t *around; /* [2 edges] */
} sp_vertex_view;

spry_status sp_vertex_view_open(sp_vertex_view *out, const spry_network *n,
                                spry_embedding embedding);
void sp_vertex_view_close(sp_vertex_view *s);

typedef struct {
    spry_embedding embedding;
    sp_nn *weights;           /* owned */
    sp_dense own[2], near[2]; /* of GraphSAGE: the neuron, its neighbours */
    sp_dense edge, held;      /* into the width of the attention */
    sp_norm norm;
    sp_attention among, frontier, cache; /* frontier; sentinel to both */
    sp_dense query, key;                 /* frontier to cache */
    sp_tensor *sentinel;
    sp_dense value[2];
} sp_policy;

/* Builds on these weights and owns them, also on failure. */
spry_status sp_policy_make(sp_policy *p, sp_nn *weights,
                           spry_embedding embedding);
void sp_policy_free(sp_policy *p);

/* Some states of one network, padded to the longest of them. */
typedef struct {
    int64_t count, edges, held;        /* states; edges, neurons at most */
    int32_t *source, *target, *cached; /* [count][edges], ..., [count][held] */
    uint8_t *may, *holds;              /* which of them are real */
} sp_states;

/* Neurons as vectors: [neurons, ...]. */
sp_tensor *sp_policy_embed(sp_tape *t, const sp_policy *p,
                           const sp_vertex_view *s);
/* logits [count, edges] and, unless value is NULL, value [count]. */
sp_tensor *sp_policy_run(sp_tape *t, const sp_policy *p, sp_tensor *neurons,
                         const sp_states *s, sp_tensor **value);

#endif
