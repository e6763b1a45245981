/* form.h - ways to run a network: forms, the fastest of them, and as C. */
#ifndef SPRY_FORM_H
#define SPRY_FORM_H

#include "spry/machine.h"
#include "spry/matrix.h"
#include "spry/network.h"
#include "spry/order.h"
#include "spry/records.h"
#include "spry/shrink.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

/* ---- Algorithm 1: edges one after the other, in any valid order ---- */

typedef struct spry_stream spry_stream;

/* Lays the edges out in this order; borrows n. The order is checked. */
spry_status spry_stream_make(spry_stream **out, const spry_network *n,
                             const int32_t *edge);
/* In float; x and y as above. Any number of threads may run one stream. */
spry_status spry_stream_run(const spry_stream *s, float *y, const float *x,
                            int64_t batch);
void spry_stream_free(spry_stream *s);

/* ---- ready to run ----
 *
 * A form says how a network is laid out and run: a name from the table of
 * forms and what it can be told, one line of text:
 *
 *     plain threads=2         neuron by neuron, as anyone would write it
 *     edges order=blocked     Algorithm 1
 *     gather threads=2        one input at a time, sums held in registers
 *     rows tile=8 threads=2   inputs side by side in vectors */

enum { SPRY_FORM_NAME = 16, SPRY_FORM_TEXT = 96 };

typedef struct {
    char name[SPRY_FORM_NAME];
    char order[SPRY_FORM_NAME]; /* of edges; "": the fastest plain one */
    int tile;    /* inputs side by side: 8, 16, 32, 64; 0: as fits the cache */
    int threads; /* 0: as many as OpenMP would start */
    int rest;    /* of rows: inputs whose values no later layer changes stop
                    there (shrink.h) */
} spry_form;

/* SPRY_USAGE when the text is no form. */
spry_status spry_form_parse(spry_form *out, const char *text);
/* The text that parses to the same; parameters that are not set are left
 * out. */
void spry_form_text(char out[SPRY_FORM_TEXT], const spry_form *f);
/* The one that suits a batch of so many inputs. */
spry_form spry_form_for(const spry_network *n, int64_t batch);
/* The i-th form's name and one line about it, or NULL past the last. */
const char *spry_form_name(int i);
const char *spry_form_help(int i);

typedef struct spry_runner spry_runner;

/* Lays the network out in this form; borrows n. */
spry_status spry_runner_make(spry_runner **out, const spry_network *n,
                             const spry_form *form);
/* In float; x is [batch][inputs], y is [batch][outputs]. Any number of
 * threads may run one runner. */
spry_status spry_runner_run(const spry_runner *r, float *y, const float *x,
                            int64_t batch);
/* Which of the rows of m, first .. first + count - 1, padded with zeros, give
 * an output that is not 0: any[count] becomes 1 or 0. What the Graph
 * Challenge asks for, without the outputs in between. */
spry_status spry_runner_categories(const spry_runner *r, uint8_t *any,
                                   const spry_matrix *m, int64_t first,
                                   int64_t count);
/* The form it has, what was left open filled in. */
const spry_form *spry_runner_form(const spry_runner *r);
void spry_runner_free(spry_runner *r);

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

/* ---- as C ---- */

/* DIR/NAME.c and .h: the network with its weights as C that needs nothing but
 * the C library. SPRY_USAGE when NAME is no name of C or the network has
 * more edges than a compiler would take. */
spry_status spry_network_export(const spry_network *n, const char *dir,
                                const char *name);

#ifdef __cplusplus
}
#endif
#endif
