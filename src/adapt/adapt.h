/* adapt.h - a model that was trained elsewhere becomes good here.
 *
 *   slice     some rows of a table, as a table
 *   source    what was trained elsewhere, as it scores rows of a table
 *   inner     its networks go on learning, on few records
 *   bayes     a correction in closed form, with its variance
 *   choose    what would be worth measuring
 *   residual  few small trees on what the source gets wrong
 *   meta      networks that begin where few records suffice
 *
 * All of them correct the logarithm of the time over the plain loop's. */
#ifndef SP_ADAPT_H
#define SP_ADAPT_H

#include "model/dataset.h"
#include "model/local.h"
#include "model/resnet.h"
#include "model/trees.h"

/* ---- rows of a table (slice.c) ---- */

/* t.e is &e: it stays where it was made. */
typedef struct {
    sp_examples e;
    sp_dataset t;
} sp_slice;

/* Room for so many, nothing in it. */
spry_status sp_slice_open(sp_slice *s, int64_t subjects, int64_t rows);
/* Rows with keep[row] of t; subjects without one are left out. */
spry_status sp_slice_new(sp_slice *out, const sp_dataset *t,
                         const uint8_t *keep);
/* One after another. */
spry_status sp_slice_join(sp_slice *out, const sp_dataset *const *t, int count);
/* What was seen before, and behind it the rows of one problem that was
 * measured just now: these replace what is known of it. */
typedef struct {
    const float *x, *slower, *noise; /* [rows, SP_FEATURES], [rows], [rows] */
    const float *elastic;            /* [rows, SP_ELASTICITIES] */
    int64_t rows;
} sp_fresh;
spry_status sp_slice_recall(sp_slice *out, const sp_local *l,
                            const sp_fresh *f);
void sp_slice_free(sp_slice *s);

/* ---- what was trained elsewhere (source.c) ---- */

enum { SP_PRETRAINED_NETS = 2 };

typedef struct {
    sp_nn *nn; /* of the networks */
    sp_trees trees;
    sp_resnet net[SP_PRETRAINED_NETS];
    int nets, has_trees;
    int borrows; /* 1: the trees are another's */
} sp_pretrained;

/* Trees where XGBoost is here, and networks; `stop` may have no rows. */
spry_status sp_pretrained_fit(sp_pretrained *out, const sp_dataset *train,
                              const sp_dataset *stop, const sp_fitting *l);
/* What a file holds, which is taken over; everything is checked. */
spry_status sp_pretrained_open(sp_pretrained *out, sp_nn *nn);
/* A copy of what a model of the kind spry knows; SPRY_USAGE for others. */
spry_status sp_pretrained_of(sp_pretrained *out, const sp_cost *c);
/* Its networks may learn on their own; `from` outlives it. */
spry_status sp_pretrained_copy(sp_pretrained *out, const sp_pretrained *from);
void sp_pretrained_free(sp_pretrained *s);
/* The weights of network k learn, or no longer; none does when it was made. */
void sp_pretrained_learns(sp_pretrained *s, int k, int learns);

/* Scores [rows]; and of its two opinions alone (NULL: not asked). */
spry_status sp_pretrained_score(float *out, const sp_pretrained *s,
                                const sp_dataset *t);
spry_status sp_pretrained_nets(float *out, const sp_pretrained *s,
                               const sp_dataset *t);
void sp_pretrained_trees(float *out, const sp_pretrained *s,
                         const sp_dataset *t);
/* Both; the same twice where there is only one. */
spry_status sp_pretrained_opinions(float *trees, float *nets,
                                   const sp_pretrained *s, const sp_dataset *t);

/* ---- the networks go on learning (inner.c) ---- */

typedef struct {
    int epochs;
    double rate; /* of Adam */
    double rank; /* weight of the rank beside the time */
    uint64_t seed;
} sp_inner;

/* Changes s->nn. */
spry_status sp_inner_learn(sp_pretrained *s, const sp_dataset *t,
                           const sp_inner *how);

/* ---- a correction in closed form (bayes.c) ---- */

enum { SP_BAYES_ROWS = 1024, SP_BAYES_TREES = 256 };

/* What the source gets wrong, as a normal function of rows of which some are
 * known. Of more than SP_BAYES_ROWS records an even selection counts. */
typedef struct {
    const sp_pretrained *source; /* outlives it */
    int trees;                   /* of the source that are looked at */
    int64_t *start;              /* [trees] first node of each */
    int64_t rows, most;
    uint16_t *leaf;        /* [rows, trees] where a record ends */
    float *x;              /* [rows, ...] its other numbers */
    int64_t *subject;      /* [rows] */
    int64_t *from;         /* [rows] of the table */
    double *factor;        /* [most, most] Cholesky of the covariance */
    double *weight;        /* [rows] */
    double *noise, *wrong; /* [rows] variance, and what was wrong */
} sp_bayes;

spry_status sp_bayes_fit(sp_bayes *out, const sp_pretrained *source,
                         const sp_dataset *t);
/* Its rows alone, `most` of them, nothing learned: how much two of them are
 * expected to be wrong together. */
spry_status sp_bayes_look(sp_bayes *out, const sp_pretrained *source,
                          const sp_dataset *t, int64_t most);
double sp_bayes_covariance(const sp_bayes *b, int64_t i, int64_t k);
void sp_bayes_free(sp_bayes *b);
/* Variance of a record of a subject whose best is `best`: what is nearly as
 * fast counts most, and what was measured badly little. */
double sp_record_variance(const sp_dataset *t, int64_t row, double best);
/* What it adds to the source: values of leaves, and weights (sp_local). */
spry_status sp_bayes_parts(sp_trees *trees, sp_linear *linear,
                           const sp_bayes *b);
/* What to measure (choose.c): keep[row] becomes 1 for `count` rows behind the
 * `known` first ones, which were measured, at most `each` of a subject; one
 * after another that whose record would make most of the others known, where
 * fast schedules matter most. Times are not looked at. */
typedef struct {
    int64_t count, each, known;
} sp_choosing;
spry_status sp_bayes_choose(uint8_t *keep, const sp_pretrained *source,
                            const sp_dataset *t, const sp_choosing *how);
/* A row's numbers on the scale of the source's first network. */
void sp_linear_row(float out[SP_LOCAL_WIDTH], const sp_scaler *all,
                   const float row[SP_FEATURES]);

/* ---- small trees (residual.c) ---- */

typedef struct {
    int rounds, depth;
    double rate, lambda;
    int threads;
    uint64_t seed;
} sp_residual;

/* margin [rows]: what the source says. SPRY_SYSTEM without XGBoost. */
spry_status sp_residual_grow(sp_trees *out, const sp_dataset *t,
                             const float *margin, const sp_residual *how);

/* ---- the best of them (fit.c) ---- */

typedef enum {
    SP_CORRECT_LINEAR = 1, /* bayes */
    SP_CORRECT_TREES = 2,  /* residual trees */
    SP_CORRECT_INNER = 4   /* networks that go on learning */
} sp_correction;           /* or several of them; 0: the source as it is */
const char *sp_correction_name(sp_correction way);
spry_status sp_correction_named(sp_correction *out, const char *name);

typedef struct {
    sp_correction way; /* 0: whichever is best */
    double seconds;    /* at most; 0: no limit */
    int threads;
    uint64_t seed;
} sp_adapting;

/* The share of order that scores get wrong of a subject, 0 .. 1: pairs weigh
 * by how far they lie apart, and those of fast schedules most. NAN: none. */
double sp_wrong_order(const sp_dataset *t, const float *score, int64_t subject);
/* Squared distances of its scores from the times, in variances of records;
 * further than a factor e counts as that. */
double sp_wrong_time(const sp_dataset *t, const float *score, int64_t subject);

/* Scores of t by the source adapted this way to `learn`. */
spry_status sp_adapt_score(float *out, const sp_pretrained *source,
                           const sp_dataset *learn, const sp_dataset *t,
                           const sp_adapting *how, sp_correction way);

/* Which way was best on groups of subjects that it had not seen, and what was
 * wrong before and after; way 0: none was better than the source. The
 * correction in closed form is one of times and judged by them, since records
 * of many subjects hold few pairs; any other has to order surely better. Few
 * records say nothing that is sure: none is tried.
 * SPRY_USAGE with fewer than two groups. */
typedef struct {
    sp_correction way;
    double before, after;
} sp_adapted_way;
spry_status sp_adapt_choose(sp_adapted_way *out, const sp_pretrained *source,
                            const sp_dataset *t, const int64_t *group,
                            const sp_adapting *how);

/* Fitted to all of t, as it is kept. */
spry_status sp_adapt_make(sp_local **out, const sp_pretrained *source,
                          const sp_dataset *t, const sp_adapting *how,
                          const sp_adapted_way *chosen,
                          const sp_local_card *about);

/* ---- machines that are not there (simulate.c) ---- */

/* A machine in the words of the simulator: times as many cores and bytes a
 * second, times the latency, the sizes of caches, the bytes of a vector. */
typedef struct {
    double cores, bandwidth, latency, caches, vectors;
} sp_imagined;

/* The same subjects and schedules on another machine: a measured time is
 * multiplied by what the analytic model expects of it there over what it
 * expects here, so that schedules change their order. Rows that cannot be had
 * there are left out. m is filled in and outlives the table. */
spry_status sp_simulate(sp_slice *out, spry_machine *m, const sp_dataset *t,
                        const sp_imagined *how);

/* The formula of meta-learned WACO, actual / (cores * bandwidth) * latency, as
 * one factor for all schedules of a problem; how many pairs of t it
 * re-ranks. */
double sp_formula(const sp_imagined *how);
int64_t sp_formula_reranks(const sp_dataset *t, const sp_imagined *how);

#endif
