/* graph.h - a network made smaller that computes the same.
 *
 * A pass is a map from networks to networks. "The same" means: for every
 * input, every output is the same real number. Passes regroup sums and leave
 * out what cannot matter; a weight or a bias is only changed where its new
 * value is exact in float. So where sums are exact, as with small integers,
 * the outputs are equal bit for bit, and else they differ as two orders of
 * summation do. Values are taken to be finite.
 *
 * Inputs and outputs stay as they are, in number and order, and a chained
 * network stays chained. */
#ifndef SPRY_GRAPH_H
#define SPRY_GRAPH_H

#include "spry/machine.h"
#include "spry/network.h"
#include "spry/records.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The i-th pass's name and one line about it, or NULL past the last. */
const char *spry_pass_name(int i);
const char *spry_pass_help(int i);

/* Which passes: "all" (NULL is the same), "none", or names: "merge,dead".
 * Bit i of *out is pass i; SPRY_USAGE when there is no such name. */
spry_status spry_passes_parse(unsigned *out, const char *passes);

enum { SPRY_PASSES_MOST = 8 };

typedef struct {
    int64_t nominal_layers, nominal_neurons, nominal_edges; /* before, */
    int64_t layers, neurons, edges;                         /* and after */
    struct {
        int64_t neurons, edges; /* removed; below 0: added */
        double seconds;
    } pass[SPRY_PASSES_MOST];
    double seconds; /* of all, reading layers included */
} spry_graph_report;

/* Passes are bits as above; report may be NULL. */
spry_status spry_network_compile(spry_network **out, const spry_network *n,
                                 unsigned passes, spry_graph_report *report);
/* The same of layers as they come: what is held is some layers of the source
 * and the result, not the network. */
spry_status spry_layers_compile(spry_network **out, spry_layers *from,
                                unsigned passes, spry_graph_report *report);

/* ---- where values come to rest ----
 *
 * In a chained network an input can come to a state that no later layer
 * changes. Layers count from 0; n->layers where it is not so. */
typedef struct {
    int64_t zero; /* all values of this layer or a later one are 0: so will
                     be all outputs */
    int64_t full; /* all values of this layer or a later one, if it clamps,
                     are at its limit: all outputs will be `limit` */
    float limit;  /* of the last layer */
} spry_rest;

/* Proved for any order of summation in float; one walk over the edges. */
spry_status spry_network_rest(spry_rest *out, const spry_network *n);

/* ---- a way to run: which passes, then which form ----
 *
 *     rows tile=8 threads=2
 *     passes=all gather threads=1
 *     passes=merge,dead edges order=blocked */

typedef struct {
    unsigned passes;
    spry_form form; /* its `rest` is one of the passes */
} spry_way;

enum { SPRY_WAY_TEXT = 160 };
spry_status spry_way_parse(spry_way *out, const char *text);
const char *spry_way_text(char out[SPRY_WAY_TEXT], const spry_way *w);

/* A network ready to run in some way. */
typedef struct spry_ready spry_ready;

/* Borrows n. */
spry_status spry_ready_make(spry_ready **out, const spry_network *n,
                            const spry_way *w);
spry_status spry_ready_run(const spry_ready *r, float *y, const float *x,
                           int64_t batch);
spry_status spry_ready_categories(const spry_ready *r, uint8_t *any,
                                  const spry_matrix *m, int64_t first,
                                  int64_t count);
const spry_way *spry_ready_way(const spry_ready *r); /* nothing left open */
int64_t spry_ready_edges(const spry_ready *r);       /* executed for an input */
void spry_ready_free(spry_ready *r);

/* ---- the fastest way ----
 *
 * Ways are predicted; the best few are checked against the reference and
 * raced against plain loops, interleaved. One of them is chosen only when
 * the 95 % interval of its speed-up over the best plain way lies above 1.02.
 * The answer is kept in the store, for this network, batch and machine. */

typedef struct {
    size_t size;    /* of this struct */
    int64_t batch;  /* inputs that come together */
    const float *x; /* [batch][inputs] to race with; NULL: pen strokes */
    double seconds; /* budget; 0: 10 s */
    double calls;   /* how many batches will come; 0: very many */
    int threads;    /* at most; 0: all */
    int lookup;     /* only what the store knows, else a guess: no race */
    int again;      /* race even if the store has the answer */
    uint64_t seed;
    const char *store;  /* NULL: the user's; ":memory:": none */
    const char *passes; /* which may be used; NULL: all */
    /* Called now and then; nonzero asks to stop with the best so far. */
    int (*progress)(int64_t done, int64_t of, void *payload);
    void *payload;
} spry_choose_options;
#define SPRY_CHOOSE_DEFAULTS                                                \
    {                                                                       \
        sizeof(spry_choose_options), 1, NULL, 0, 0, 0, 0, 0, 1, NULL, NULL, \
            NULL, NULL                                                      \
    }

typedef struct {
    spry_way way;
    spry_verdict verdict;
    char why[160];             /* when not ok */
    double predicted;          /* seconds for the batch */
    double seconds;            /* measured, median; 0 unless ok */
    double speedup, low, high; /* over the baseline, 95 % */
    double make_seconds;       /* passes and laying out */
    int64_t edges;             /* executed for an input */
    int pairs;
} spry_way_trial;

enum { SPRY_WAYS_MOST = 24 };

typedef struct {
    spry_machine machine;
    int64_t batch, raced; /* inputs: asked for, and raced with */
    spry_way baseline, best;
    double baseline_seconds, seconds, speedup, low, high; /* of `raced` */
    int changed;   /* 0: the baseline stays */
    int measured;  /* now, or when the store was told */
    int looked_up; /* answered by the store */
    int stopped;
    double make_seconds, tuning_seconds;
    double break_even_calls; /* HUGE_VAL: never */
    int trials;
    spry_way_trial trial[SPRY_WAYS_MOST]; /* the baselines first */
    char note[160]; /* what was not available, "" if all was */
} spry_choice;

spry_status spry_network_choose(spry_choice *out, const spry_network *n,
                                const spry_choose_options *options);

/* Race these ways, checked before, in interleaved pairs: a trial for each, in
 * their order, compared with the first. Of the options batch, x, seconds,
 * threads, seed and progress count. Those with passes have the same ones. */
spry_status spry_ways_race(spry_choice *out, const spry_network *n,
                           const spry_way *way, int count,
                           const spry_choose_options *options);

#ifdef __cplusplus
}
#endif
#endif
