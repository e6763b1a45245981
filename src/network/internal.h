/* internal.h - how the room's files make a network together.
 *
 * Chained networks come from a layer source, which yields one layer at a
 * time; layers.c gathers them. Graphs of any shape come from dag.c. Both end
 * in sp_network_adopt, the one place where a network is checked. */
#ifndef SP_NETWORK_INTERNAL_H
#define SP_NETWORK_INTERNAL_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "base/recipe.h"
#include "spry/network.h"

/* ---- networks (network.c) ---- */

/* A network in the making: the fields of spry_network, still writable. */
typedef struct {
    int64_t neurons, inputs, outputs, layers, edges;
    int64_t *first, *start;
    int32_t *source;
    float *weight, *bias;
    spry_activation *activation;
    int32_t *output;
    int bias_on_nonzero;
} sp_parts;

/* All arrays for the counts that are set in p; zeroed, but for the edges. */
spry_status sp_parts_alloc(sp_parts *p);
void sp_parts_free(sp_parts *p);

/* Check the parts and make them a network, which owns the arrays from then
 * on; on failure they are freed. When `file` is not NULL the arrays lie in
 * it, and it is owned or freed instead. `name` begins sentences. */
spry_status sp_network_adopt(spry_network **out, sp_parts *p, sp_file *file,
                             const char *name);

/* The layer of each neuron, -1 of inputs, into layer[neurons]. */
void sp_network_layer_of(int32_t *layer, const spry_network *n);

static inline float sp_activate(spry_activation a, float x)
{
    switch (a.curve) {
    case SPRY_RELU: return x > 0 ? x : 0;
    case SPRY_CLAMP: return x > 0 ? x < a.limit ? x : a.limit : 0;
    case SPRY_TANH: return tanhf(x);
    case SPRY_SIGMOID: return 1 / (1 + expf(-x));
    case SPRY_LINEAR: break;
    }
    return x;
}

/* What a neuron makes of the sum over its in-edges. */
static inline float sp_finish(spry_activation a, float sum, float bias,
                              int bias_on_nonzero)
{
    return sp_activate(a, sum + (bias_on_nonzero && sum == 0 ? 0 : bias));
}

/* For comparing floats as they are stored. */
static inline uint32_t sp_float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* sp_fail_memory, for those who have to see that it is not SPRY_OK. */
static inline spry_status sp_no_memory(size_t bytes)
{
    (void)sp_fail_memory(bytes);
    return SPRY_SYSTEM;
}

/* ---- out-edges (fanout.c) ---- */

/* The other side of the in-edges: edges by the neuron they leave. */
typedef struct {
    int64_t *start;  /* [neurons + 1] */
    int32_t *edge;   /* [edges] numbers of edges, ascending within a neuron */
    int32_t *target; /* [edges] where edge k leads to, k its number */
} sp_fanout;
spry_status sp_fanout_make(sp_fanout *out, const spry_network *n);
void sp_fanout_free(sp_fanout *f);

/* ---- layer sources (layers.c) ---- */

/* One kind of source. `next` fills the layer s->at by sp_layers_reserve and
 * the arrays behind it; `close` frees s->state. */
typedef struct {
    spry_status (*next)(spry_layers *s);
    spry_status (*rewind)(spry_layers *s); /* NULL: layers by number */
    void (*close)(void *state);            /* NULL: sp_free */
} sp_source;

struct spry_layers {
    const sp_source *source;
    void *state;
    spry_network_options options;
    int64_t depth, at;
    int64_t walked;  /* edges since the last rewind */
    int64_t inputs;  /* of the first layer */
    int64_t outputs; /* of the last, 0 when not known */
    int64_t edges;   /* of all, -1 when not known */
    spry_layer layer;
    /* The arrays of `layer`, kept from one to the next. */
    int64_t *start;
    int32_t *from;
    float *weight, *bias;
    int64_t start_room, from_room, weight_room, bias_room;
};

/* Room for a layer of so many outputs and edges; biases are all `bias`. */
spry_status sp_layers_reserve(spry_layers *s, int64_t outputs, int64_t edges,
                              float bias);

/* The layers of n, which s then owns, also on failure (held.c). */
spry_status sp_layers_hold(spry_layers *s, spry_network *n);

/* ---- layers into a network (gather.c) ---- */

/* What is gathered so far, and how much the arrays would hold. */
typedef struct {
    sp_parts net;
    int64_t layer_room, neuron_room, edge_room;
} sp_gather;

/* `edges`: how many there will be, as far as known. After a failure of any
 * of these, sp_gather_free; sp_gather_end frees in any case. */
spry_status sp_gather_begin(sp_gather *g, int64_t inputs, int64_t edges);
spry_status sp_gather_add(sp_gather *g, const spry_layer *layer);
spry_status sp_gather_end(spry_network **out, sp_gather *g);
void sp_gather_free(sp_gather *g);

/* ---- generators (generate.c, generate_*.c) ---- */

/* activation=, limit= and bias=. */
spry_status sp_recipe_neuron(spry_activation *a, float *bias,
                             const sp_recipe *p);
#define SP_RECIPE_NEURON " activation=relu limit=32 bias=0"

/* A kind of network: a source of layers, or, when it is no chain, all of it
 * at once. */
typedef struct {
    const char *name, *help, *params;
    spry_status (*open)(spry_layers *s, const sp_recipe *p);
    spry_status (*make)(spry_network **out, const sp_recipe *p, uint64_t seed);
} sp_maker;

extern const sp_maker sp_maker_radix, sp_maker_mixed, sp_maker_random,
    sp_maker_pruned, sp_maker_smallworld, sp_maker_skip;

/* Sources of one output of the layer s->at into source[], ascending and
 * distinct; how many. Drawn twice from the same stream. */
typedef int64_t sp_drawer(int32_t *source, const spry_layers *s, int64_t output,
                          sp_rng *r);
/* A layer of outputs that each draw at most `most` sources. */
spry_status sp_layers_draw(spry_layers *s, int64_t outputs, int64_t most,
                           sp_drawer *draw);
/* width=, depth= and the neurons' parameters, into s. */
spry_status sp_layers_shape(spry_layers *s, const sp_recipe *p);
/* For short lists: sorted in place; is x among them? */
void sp_sort_sources(int32_t *source, int64_t count);
int sp_has_source(const int32_t *source, int64_t count, int32_t x);

/* A stream of chance for neuron n of layer `layer`. */
sp_rng sp_net_stream(uint64_t seed, int64_t layer, int64_t n);
/* Even in +-sqrt(6 / fan_in), which keeps the size of values from layer to
 * layer under ReLU; never 0. */
float sp_net_weight(sp_rng *r, int64_t fan_in);

/* The layers of what "KIND,key=value" describes, or the network when it is
 * no chain; exactly one of them on success. */
spry_status sp_generate_open(spry_layers *s, spry_network **whole,
                             const char *spec);

/* ---- orders (orders.c, order_*.c) ---- */

typedef struct {
    const char *name, *help;
    /* Fill edge[n->edges] with a valid order. Every option is set. */
    spry_status (*make)(int32_t *edge, const spry_network *n,
                        const spry_order_options *o);
} sp_order;

extern const sp_order sp_order_destination, sp_order_source, sp_order_blocked,
    sp_order_clustered, sp_order_go, sp_order_ego, sp_order_anneal,
    sp_order_eon;

/* Tell the caller how far it is; SPRY_STOPPED when that is far enough. */
spry_status sp_order_progress(const spry_order_options *o, int64_t done,
                              int64_t of);

/* Reads and writes of the order called `name` under LRU. */
spry_status sp_order_io(int64_t *out, const spry_network *n, const char *name,
                        int64_t memory);

/* Edges by the block of their target, blocks ascending; by source within,
 * descending in the first block, ascending in the next, and so on.
 * Valid when no block's neurons depend on each other or on a later block;
 * block[neurons] of inputs is not looked at. O(n + m) */
spry_status sp_order_by_block(int32_t *edge, const spry_network *n,
                              const int32_t *block, int64_t blocks);

/* ---- Mersenne Twister (mersenne.c) ---- */

enum { SP_MERSENNE = 624 };
typedef struct {
    uint32_t word[SP_MERSENNE];
    int at;
} sp_mersenne;
void sp_mersenne_seed(sp_mersenne *m, uint32_t seed);
uint32_t sp_mersenne_next(sp_mersenne *m);
/* The 53 bits of the next number in [0, 1). */
uint64_t sp_mersenne_bits(sp_mersenne *m);

#endif
