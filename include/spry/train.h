/* train.h - train models from records, evaluate them on held-out problems, and
 * adapt them to a machine.
 *
 * A model file is data, never code. It contains its model card: what it was
 * trained on, where, when, and how well it chose on held-out problems. */
#ifndef SPRY_TRAIN_H
#define SPRY_TRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "spry/problem.h"
#include "spry/records.h"
#include "spry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== experimental ==== */

/* The i-th kind of model and a line about it; NULL past the last. */
const char *spry_model_kind(int i);
const char *spry_model_about(int i);

/* 1: XGBoost is present, so trees can be trained; using them does not need
 * it. */
int spry_train_trees(void);

/* What is held out. */
typedef enum {
    SPRY_BY_PROBLEM,     /* whole matrices, with their resized copies */
    SPRY_WITHIN_PROBLEM, /* some schedules of every problem */
    SPRY_BY_MACHINE      /* whole machines */
} spry_split;
const char *spry_split_name(spry_split s);

/* How well a model chooses, on problems it has not seen. Means over problems
 * with 95 % intervals; ratios are geometric means. NAN: not known. */
typedef struct {
    char model[24]; /* its kind; "random" is the control */
    int64_t problems, records;
    double pairwise, pairwise_low, pairwise_high; /* share of pairs of schedules
                                                     in the right order */
    double top1, top1_low, top1_high; /* best time over the first choice's */
    double top5, top5_low, top5_high; /* ... over the best of five */
    double spearman;
    double rmse; /* of log time; NAN when the model predicts only ranks */
    double regret1, regret5, regret20; /* (time of the best among the first 1,
                                          5, 20 choices) / (best time) - 1 */
    double regret20_low, regret20_high;
    double speedup1, speedup20; /* over the baseline */
    double csr1, csr20;         /* over WACO's fixed CSR; NAN: not measured */
    double
        slower; /* share of problems whose first choice is at least 5 % slower
                      than the baseline */
    double reserved[8]; /* 0 */
} spry_grades;

/* One round of training. */
typedef struct {
    int round;
    double loss, regret, seconds; /* regret NAN: not computed */
} spry_lap;

/* How a model ranked the schedules of one held-out problem, the one that it
 * expects to be fastest first. */
typedef struct {
    int model;           /* which of those asked for */
    const char *problem; /* key; "" where it is not known */
    int64_t choices;
    const double *score;   /* [choices] the lower the faster; log seconds if the
                              model predicts them */
    const double *seconds; /* [choices] as measured */
    double baseline;       /* seconds of the plain loop; NAN: not known */
} spry_judged;

typedef struct {
    size_t size;         /* sizeof (spry_train_options) */
    const char *kind;    /* "spry" */
    spry_op op;          /* whose records */
    const char *machine; /* fingerprint; NULL: all */
    spry_split split;
    int whole; /* train: after grading, train again with the held-out records
                  included; evaluate: in turns, until every problem was held
                  out once */
    uint64_t seed;
    int threads;    /* 0: all that may be used */
    int rounds;     /* at most; 0: the model's default */
    double seconds; /* at most, of fitting; 0: no limit */
    /* Return nonzero to stop with SPRY_STOPPED; nothing is written. A model
     * that reports no rounds repeats the last. */
    int (*progress)(const spry_lap *lap, void *payload);
    void *payload;
    const char *meta; /* "maml", "fomaml", "reptile", "anil": meta-train the
                         networks of the kind spry, so that few records of
                         another machine suffice; NULL: no */
    const char *operators; /* "conv2d", "depthwise", "matmul": train a model of
                              dense operators, trees and networks on top of the
                              analytic one; NULL: a model of `op` */
    /* Called once for every problem that a model is graded on; for "random",
     * once for each draw. */
    void (*judged)(const spry_judged *now, void *payload);
    void *judged_payload;
} spry_train_options;

#define SPRY_TRAIN_DEFAULTS                                                   \
    {                                                                         \
        sizeof(spry_train_options), "spry", SPRY_SPMM, NULL, SPRY_BY_PROBLEM, \
            0, 1, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL                 \
    }

/* The result of a training. */
typedef struct {
    size_t size;                                 /* sizeof (spry_trained) */
    int64_t records, problems, groups, machines; /* learned from */
    int64_t left_out; /* records whose matrix was not found */
    double data_seconds, seconds;
    int rounds;
    spry_grades grades; /* on what was held out */
} spry_trained;

/* Train on the records of db and write the model to path, completely or not at
 * all. Of the groups (records.h), 70 % are for training, 15 % for validation
 * and 15 % for the test that is graded. SPRY_USAGE when there are too few. */
spry_status spry_train(spry_trained *out, spry_records *db, const char *path,
                       const spry_train_options *opt);

/* Grade models on the records that these options hold out. A model is a kind,
 * which is trained first; "random", which chooses at random; or a file, named
 * with a / or a ., which may have been trained on records held out here.
 * out[count]. */
spry_status spry_evaluate(spry_grades *out, const char *const *model, int count,
                          spry_records *db, const spry_train_options *opt);

/* What a model file says about itself. */
typedef struct {
    size_t size; /* sizeof (spry_model_facts) */
    char kind[24];
    spry_op op;
    int64_t numbers; /* parameters */
    int64_t bytes;
    char spry[24], date[24] /* of the newest record */, machine[104],
        split[24]; /* "": unknown */
    int64_t records, problems, machines;
    double seconds; /* of fitting; NAN: unknown */
    uint64_t seed;
    spry_grades grades;
    int64_t groups;     /* of matrices; listed in the card */
    char data[33];      /* a hash of the records */
    char operators[16]; /* "conv2d" ...; "": it is a model of `op` */
} spry_model_facts;

/* SPRY_INPUT for a file that is not a model. */
spry_status spry_model_info(spry_model_facts *out, const char *path);

/* The file that is used for an operation when none is named: in $SPRY_MODELS,
 * else in the user's data directory, else as installed. 0: there is none. */
int spry_model_default(char *out, size_t size, spry_op op);
/* The same for dense operators: "conv2d", "depthwise" or "matmul". */
int spry_model_operators(char *out, size_t size, const char *operators);

/* ---- sampling records ----
 *
 * A sample keeps a share of the records of an operation. Invalid records are
 * dropped first, then those of problems with too few others. The rest is chosen
 * by one of several methods, random choice among them; the certificate compares
 * a model trained on the sample with one trained on all records. */

/* The i-th method and a line about it; NULL past the last. */
const char *spry_sample_way(int i);
const char *spry_sample_about(int i);

typedef struct {
    size_t size;         /* sizeof (spry_sample_options) */
    spry_op op;          /* whose records */
    const char *machine; /* fingerprint; NULL: all */
    const char *way;     /* "spread" */
    double share;        /* of all records to keep, above 0, at most 1 */
    uint64_t seed;
    int threads;      /* 0: all that may be used */
    const char *kind; /* of model that the certificate trains */
} spry_sample_options;

#define SPRY_SAMPLE_DEFAULTS                                               \
    {                                                                      \
        sizeof(spry_sample_options), SPRY_SPMM, NULL, "spread", 0.3, 1, 0, \
            "gbdt"                                                         \
    }

typedef struct {
    size_t size;     /* sizeof (spry_sampled) */
    int64_t records; /* of the operation; of these: */
    int64_t invalid; /* not timed, or with a schedule that is not spry's */
    int64_t rare;    /* of problems with too few others */
    int64_t spared;  /* dropped by the method */
    int64_t kept;
} spry_sampled;

/* Copy a sample, with its problems and machines, from one store into another.
 */
spry_status spry_records_sample(spry_sampled *out, spry_records *from,
                                spry_records *to,
                                const spry_sample_options *opt);

/* One line of the certificate: the caller sets way and share, the rest is
 * filled in. */
typedef struct {
    const char *way;
    double share;
    int64_t records, kept; /* available and used for training, all turns */
    double seconds;        /* of fitting */
    spry_grades grades;    /* on held-out problems, each once */
    double reserved[4];    /* 0 */
} spry_certificate;
spry_status spry_sample_certify(spry_certificate *line, int count,
                                spry_records *db,
                                const spry_sample_options *opt);

/* How much of the variance of times within a problem each feature explains, the
 * largest first; *count is how many there are. Names are "joint 3",
 * "schedule 12", and for features of the machine its own. out may be NULL. */
typedef struct {
    char name[32];
    double importance;  /* 0 .. 1 */
    double reserved[2]; /* 0 */
} spry_feature_weight;
spry_status spry_sample_importance(spry_feature_weight *out, int most,
                                   int *count, spry_records *db,
                                   const spry_sample_options *opt);
/* ---- on another machine ----
 *
 * What a model learns on one machine lies in a file of its own beside the
 * user's models, local-OP-MACHINE.spry; the model's own file stays as it is.
 * A tune on that machine uses it, and adds to it what it measures. */

typedef struct {
    size_t size;         /* sizeof (spry_adapt_options) */
    spry_op op;          /* of the model in use, when none is named */
    const char *model;   /* a file; NULL: the one in use */
    const char *machine; /* fingerprint; NULL or "here": this one */
    const char *method;  /* "bayes", "residual", "inner", "inner+residual";
                            NULL: whichever is best */
    const char *out;     /* NULL: where tunes look for it */
    uint64_t seed;
    int threads; /* 0: all that may be used */
} spry_adapt_options;

#define SPRY_ADAPT_DEFAULTS                                                 \
    {                                                                       \
        sizeof(spry_adapt_options), SPRY_SPMM, NULL, NULL, NULL, NULL, 1, 0 \
    }

typedef struct {
    size_t size; /* sizeof (spry_adapted) */
    char path[4096];
    char op[16], machine[24], date[24];
    char method[24]; /* "none": nothing was better than the model itself */
    int64_t records, problems; /* learned from */
    /* The share of order that was wrong on matrices held back, 0 .. 1, of the
     * model and of what was learned; pairs far apart and fast ones weigh most.
     * NAN: not known. */
    double before, after;
    double seconds;
} spry_adapted;

/* Adapt a model of the kind spry to the records of one machine. Every way is
 * judged on matrices that it has not seen: kept is what tells their times better
 * than the model, unless it surely orders them worse, or surely orders them
 * better. SPRY_USAGE and a sentence when there are no records of
 * that machine, or only of one matrix: then nothing changes. */
spry_status spry_adapt(spry_adapted *out, spry_records *db,
                       const spry_adapt_options *opt);

/* What was learned on a machine (NULL: this one); *found 0: nothing. */
spry_status spry_adapted_info(spry_adapted *out, int *found, spry_op op,
                              const char *machine);
/* Forget it; *found 0: there was nothing. */
spry_status spry_adapted_forget(int *found, spry_op op, const char *machine);

/* ---- machines as tasks ----
 *
 * A task is a machine in a store. Real ones were measured, virtual ones are
 * real ones with a limit (threads, instruction set), simulated ones have a
 * measured time times what the analytic model expects there over here. */

/* A simulated machine, in multiples of a real one's cores, bytes a second,
 * latency, bytes of caches and of vectors. */
typedef struct {
    double cores, bandwidth, latency, caches, vectors;
} spry_imagined;

typedef struct {
    char kind[12]; /* "real", "virtual", "simulated" */
    char machine[24], name[104];
    int store; /* which one, from 0 */
    int64_t problems, records;
    /* Of a simulated one: pairs that a factor for all schedules of a problem,
     * latency / (cores * bandwidth), would have put in another order. */
    int64_t reranked_by_formula;
    double reserved[4]; /* 0 */
} spry_task;

/* How alike two tasks order schedules that both have: Spearman's correlation,
 * mean over shared problems; NAN: none is shared. */
typedef struct {
    int64_t problems, schedules;
    double rank;
    double reserved[2]; /* 0 */
} spry_likeness;

/* All machines of the stores, and one simulated from the first if asked for:
 * task[*tasks], at most `most`; like[i * *tasks + k], room for most * most. */
spry_status spry_machines_compare(spry_task *task, int *tasks,
                                  spry_likeness *like, int most,
                                  spry_records *const *db, int stores,
                                  spry_op op, const spry_imagined *simulated);

#ifdef __cplusplus
}
#endif
#endif
