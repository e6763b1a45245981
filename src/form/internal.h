/* internal.h - what a form of running a network brings, and what several share.
 *
 * A form is one file and one line in forms.c. It lays a network out once and
 * then only reads what it laid out, so runs share it without locks. */
#ifndef SP_FORM_INTERNAL_H
#define SP_FORM_INTERNAL_H

#include "form/form.h"
#include "network/network.h"
#include "spry/machine.h"

/* What the text of a form may set. */
enum {
    SP_FORM_ORDER = 1,
    SP_FORM_TILE = 2,
    SP_FORM_THREADS = 4,
    SP_FORM_REST = 8
};

typedef struct {
    const char *name, *help;
    int takes;
    /* What *f leaves open is filled in. */
    spry_status (*make)(void **state, const spry_network *n,
                        sp_form_options *f);
    spry_status (*run)(const void *state, float *y, const float *x,
                       int64_t batch);
    /* sp_runner_categories; NULL: by way of outputs. */
    spry_status (*categories)(const void *state, uint8_t *any,
                              const spry_matrix *m, int64_t first,
                              int64_t count);
    void (*free)(void *state);
} sp_form;

extern const sp_form sp_form_plain, sp_form_edges, sp_form_gather, sp_form_rows;

/* ---- Algorithm 1: edges one after the other (stream.c) ---- */

typedef struct sp_stream sp_stream;

/* Lays the edges out in this order; borrows n. The order is checked. */
spry_status sp_stream_make(sp_stream **out, const spry_network *n,
                           const int32_t *edge, int threads);
spry_status sp_stream_run(const sp_stream *s, float *y, const float *x,
                          int64_t batch);
double sp_stream_bytes(const sp_stream *s);
void sp_stream_free(sp_stream *s);

/* ---- where values lie (place.c) ----
 *
 * A layer's values are needed until the last layer that reads them is done;
 * then others take their place. Block 0 is the inputs, block l + 1 layer l. */
typedef struct {
    int64_t *slot;  /* [layers + 1] the first slot of each block */
    uint8_t *alone; /* [layers] after layer l no other block is needed */
    int32_t *home;  /* [neurons] the slot of each neuron */
    int64_t slots;
} sp_places;
spry_status sp_places_make(sp_places *out, const spry_network *n);
void sp_places_free(sp_places *p);

/* The least slot that layer l reads from; *span becomes how far the greatest
 * lies behind it. */
int64_t sp_places_base(int64_t *span, const sp_places *p, const spry_network *n,
                       int64_t l);

/* ---- kernels (kernels.c, kernels_*.c) ---- */

enum { SP_LANES = 8, SP_TILE = 64, SP_SHARE = 8 };

/* Eight outputs of one layer in step, as far as the shortest of them goes.
 * Behind, each has a tail of its own. */
typedef struct {
    int64_t at;      /* its first edge in the layer's arrays */
    int32_t common;  /* edges that all eight have */
    int32_t count;   /* outputs that are not there to fill up, 1 .. 8 */
    int32_t tails;   /* edges of all tails */
    int32_t abreast; /* eight outputs whose targets follow each other */
    int32_t target[SP_LANES];
    int32_t tail[SP_LANES];
    float bias[SP_LANES];
    float scale[SP_LANES]; /* the one weight of all edges, if it is one */
} sp_eight;

typedef struct {
    int64_t from, to; /* slots that sources and targets count from */
    int64_t eights;
    const sp_eight *eight;
    const uint16_t *near; /* sources; or, when they lie too far apart, */
    const uint32_t *far;
    const float *weight; /* NULL: scale instead */
    spry_activation activation;
    int bias_on_nonzero;
} sp_gather_layer;

/* Outputs that read the same sources, at most as many as registers hold. */
typedef struct {
    int32_t outputs, sources;
} sp_share;

typedef struct {
    int64_t from, to;
    int64_t shares;
    const sp_share *share;
    const float *bias; /* of each output, share by share; so they lie, too */
    const uint16_t *near;
    const uint32_t *far;
    const float *weight; /* of a share: [sources][outputs] */
    spry_activation activation;
    int bias_on_nonzero;
} sp_rows_layer;

/* A network as it is, neuron by neuron, SP_SIDE inputs side by side or one. */
enum { SP_SIDE = 16 };
typedef struct {
    const spry_network *net;
    sp_places places;
    int32_t *source; /* [edges] slots */
} sp_plain;

typedef struct {
    /* Eights first .. last - 1 of a layer, within value[slots]. */
    void (*gather)(float *value, const sp_gather_layer *l, int64_t first,
                   int64_t last);
    /* A whole layer within value[slots][tile]; alive[tile] becomes nonzero
     * where a result is. */
    void (*rows)(float *value, const sp_rows_layer *l, int tile,
                 uint32_t *alive);
    /* to[width][tile] from count <= tile rows of x, zeros behind. */
    void (*turn)(float *to, const float *x, int64_t width, int tile, int count);
    /* All layers within value[slots][side]. */
    void (*plain)(float *value, const sp_plain *p, int side);
} sp_net_kernels;

/* The best ones for this CPU, and of those that a form may use. */
const sp_net_kernels *sp_net_kernels_here(void);
const sp_net_kernels *sp_net_kernels_for(const sp_form_options *f);
/* Those for isa; NULL when they are not built in. */
const sp_net_kernels *sp_net_kernels_of(spry_isa isa);
/* For tests: these instead of the best, for runners made from now on; NULL
 * ends it. */
void sp_net_kernels_force(const sp_net_kernels *k);

/* At most so many outputs share registers, `tile` inputs wide. */
static inline int sp_share_limit(int tile)
{
    return tile == 8 ? 8 : tile == 16 ? 6 : tile == 32 ? 3 : 1;
}

#endif
