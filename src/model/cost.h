/* cost.h - learned cost models, which predict which schedules are fast.
 *
 *   subject    a problem on a machine, as models see it
 *   examples   subjects, and measured schedules of each
 *   cost       a model: trained on examples, or read from a file
 *   view       a model applied to one subject: what depends on the subject
 *              alone is computed once, then any number of schedules is scored
 *
 * Scores are costs: of two schedules of a subject the one with the lower
 * score is predicted to be faster. HUGE_VAL: the schedule cannot be built, or
 * the model cannot express it. */
#ifndef SP_COST_H
#define SP_COST_H

#include "base/base.h"
#include "model/features.h"
#include "nn/nn.h"

/* ---- subjects and examples (examples.c) ---- */

typedef struct {
    sp_problem_shape task;
    float pattern[SP_PATTERN];
    float machine[SP_MACHINE];
    double plain;          /* seconds predicted for the plain loop; NAN */
    const sp_sparse *p;    /* borrowed; NULL: the matrix is not available */
    const spry_machine *m; /* borrowed; NULL: not known */
    const char *name;      /* the problem's key, borrowed; NULL: unknown */
} sp_subject;

/* p and m outlive the subject. */
spry_status sp_subject_of(sp_subject *out, const sp_sparse *p,
                          const spry_machine *m);
/* Without the matrix; m may be NULL. */
void sp_subject_bare(sp_subject *out, const sp_problem_shape *k,
                     const spry_machine *m);

/* One measured schedule. */
typedef struct {
    int64_t subject;
    spry_schedule x;
    double log_seconds; /* natural logarithm; NAN unless it was timed */
    double log_speedup; /* over the baseline of the same race; NAN: none */
    double noise;       /* half of log_speedup's 95 % interval; 0: unknown */
    int verdict;        /* spry_verdict */
} sp_example;

/* Rows lie together by subject, in its order: those of subject s are
 * row[start[s]] .. row[start[s + 1] - 1]. Whoever made them frees them. */
typedef struct {
    int64_t subjects, rows;
    sp_subject *subject; /* [subjects] */
    sp_example *row;     /* [rows] */
    int64_t *start;      /* [subjects + 1] */
} sp_examples;

/* Mean over subjects of log(best of the k best scored / best), in natural
 * logarithms: how much slower the choice is. score is [rows] of e. Subjects
 * without two timed rows do not count. */
double sp_examples_regret(const sp_examples *e, const double *score, int k);
/* The regrets of the 20 best scored, each alone, with weights that decrease:
 * it depends less on luck, so it decides when training stops. */
double sp_examples_mean_regret(const sp_examples *e, const double *score);

/* ---- the table (kinds.c) ---- */

typedef struct sp_cost sp_cost;
typedef struct sp_view sp_view;

/* One round of learning, as it happened. */
typedef struct {
    int round;      /* 1, 2 ...; 0: only to ask whether to go on */
    double loss;    /* over the examples */
    double regret;  /* sp_examples_regret of the test, k = 1; NAN: no test */
    double seconds; /* since the beginning */
} sp_lap;
typedef int sp_lap_note(const sp_lap *lap, void *payload); /* nonzero: stop */

/* What to learn from, and how long. */
typedef struct {
    const sp_examples *train;
    const sp_examples *test; /* when to stop; may be NULL */
    uint64_t seed;
    int threads;
    int rounds;        /* at most; 0: the model's default */
    double seconds;    /* at most; 0: no limit */
    sp_lap_note *note; /* may be NULL */
    void *payload;
    int quiet; /* rounds are not told: note is asked whether to go on */
} sp_fitting;

enum { SP_OPINIONS = 2 };

typedef struct {
    const char *name, *about;
    int matrix;   /* 1: needs the matrix of every subject */
    int nests;    /* 1: can express loop nests only */
    int absolute; /* 1: scores are log seconds; else only their order counts */
    /* Fill c->nn from the examples; then c is open. */
    spry_status (*fit)(sp_cost *c, const sp_fitting *l);
    /* Use what c->nn holds, after checking it: SPRY_INPUT. */
    spry_status (*open)(sp_cost *c);
    void (*close)(sp_cost *c); /* may be NULL */
    spry_status (*look)(sp_view *v);
    void (*leave)(sp_view *v); /* may be NULL */
    spry_status (*score)(double *out, sp_view *v, const spry_schedule *x,
                         int64_t count);
    /* The scores that `score` is the mean of; NULL: there is only one. */
    spry_status (*opinions)(double (*out)[SP_OPINIONS], sp_view *v,
                            const spry_schedule *x, int64_t count);
    /* The factored head, NULL when there is none: see sp_cost_halves. */
    int (*width)(const sp_cost *c);
    spry_status (*halves)(float *out, const sp_cost *c, const spry_schedule *x,
                          int64_t count);
    void (*join)(float *score, const sp_view *v, const float *half,
                 int64_t count);
} sp_cost_kind;

struct sp_cost {
    const sp_cost_kind *kind;
    spry_op op;
    sp_nn *nn;              /* all it has learned: tensors by name */
    void *inner;            /* the kind's own */
    struct sp_local *local; /* learned on this machine (local.h), its own; or
                               NULL */
};

struct sp_view {
    const sp_cost *cost;
    const sp_subject *subject; /* borrowed */
    void *inner;
    int hasty; /* 1: scores may omit what takes longest to compute */
};

extern const sp_cost_kind *const sp_cost_kinds[]; /* ends with NULL */
const sp_cost_kind *sp_cost_kind_find(const char *name);

/* ---- models (cost.c) ---- */

/* All subjects must have `op`. A kind that needs the matrix leaves out
 * subjects without one. */
spry_status sp_cost_fit(sp_cost **out, const sp_cost_kind *kind, spry_op op,
                        const sp_fitting *l);
void sp_cost_free(sp_cost *c);

/* Data only (docs/formats.md); `card` is a JSON object that is kept inside
 * beside kind and operation, or NULL. */
spry_status sp_cost_save(const sp_cost *c, const char *card, const char *path);
/* SPRY_INPUT and a sentence for any other bytes. */
spry_status sp_cost_load(sp_cost **out, const char *path);
spry_status sp_cost_parse(sp_cost **out, const void *data, size_t len,
                          const char *path_for_errors);

/* The model to use for an operation when none was named: *out is NULL when
 * there is none. Files cost-OP.spry in SPRY_MODELS, else in the user's data
 * directory, else those installed with spry. */
spry_status sp_cost_find(sp_cost **out, spry_op op);

/* Apply a model to a subject, which must outlive the view. SPRY_USAGE when it
 * cannot: another operation, no matrix. One thread at a time uses a view;
 * any number of views share a model. */
spry_status sp_cost_look(sp_view **out, const sp_cost *c, const sp_subject *s);
void sp_view_free(sp_view *v);

spry_status sp_view_score(double *out, sp_view *v, const spry_schedule *x,
                          int64_t count);

/* Scores of the parts that were trained independently: where they differ the
 * score is not to be trusted. All equal for a kind with one part. */
spry_status sp_view_opinions(double (*out)[SP_OPINIONS], sp_view *v,
                             const spry_schedule *x, int64_t count);

/* ---- the factored head ----
 *
 * Some models have a second, faster and rougher score: half of it depends on
 * the schedule alone and is computed once for a whole space, the other on the
 * subject alone. width floats per schedule; 0: this model has no such head. */
int sp_cost_width(const sp_cost *c);
spry_status sp_cost_halves(float *out, const sp_cost *c, const spry_schedule *x,
                           int64_t count);
void sp_view_join(float *score, const sp_view *v, const float *half,
                  int64_t count);

#endif
