/* internal.h - layer sources and generators. */
#ifndef SP_NETWORK_INTERNAL_H
#define SP_NETWORK_INTERNAL_H

#include "base/recipe.h"
#include "network/network.h"

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
