/* dataset.h - examples as tables of features, for models that learn from
 * them. */
#ifndef SP_DATASET_H
#define SP_DATASET_H

#include "model/cost.h"

/* One row per example that teaches something: it was timed, or it took too
 * long. */
typedef struct {
    const sp_examples *e;
    int64_t rows;
    int64_t *start; /* [subjects + 1] rows of each subject */
    int64_t *from;  /* [rows] which example */
    float *x;       /* [rows, SP_FEATURES] */
    float *slower;  /* [rows] log of seconds over the baseline's */
    float *bound;   /* [rows] what the analytic model says of that; 0 */
    float *noise;   /* [rows] of slower */
    float *elastic; /* [rows, SP_ELASTICITIES]; NULL: not known */
} sp_dataset;

/* Those of a row; all 0 where they are not known. */
static inline const float *sp_row_elastic(const sp_dataset *t, int64_t row)
{
    static const float unknown[SP_ELASTICITIES];

    return t->elastic ? t->elastic + row * SP_ELASTICITIES : unknown;
}

/* e NULL: a table without rows. */
spry_status sp_dataset_new(sp_dataset *out, const sp_examples *e, int threads);
void sp_dataset_free(sp_dataset *t);
/* Both tables of a fitting. SPRY_USAGE when there is nothing to learn from. */
spry_status sp_datasets_new(sp_dataset *train, sp_dataset *test,
                            const sp_fitting *l);

/* What an example teaches, into weight[rows]. What is far from the best of its
 * problem will not be chosen: that it is slow must be known, how slow hardly.
 * What was measured badly weighs less. */
void sp_dataset_weigh(float *weight, const sp_dataset *t);

/* The features of x for a subject; 0 when x cannot be had for it. */
int sp_subject_row(float out[SP_FEATURES], const sp_subject *s,
                   const spry_schedule *x);

/* Log of seconds over the baseline's that the analytic model predicts. */
static inline float sp_row_bound(const float row[SP_FEATURES])
{
    float bound = row[SP_PATTERN + SP_MACHINE + SP_SCHEDULE];

    return bound == bound ? bound : 0;
}

/* The logarithm of the baseline's seconds as they were measured; NAN. */
double sp_baseline_of(const sp_examples *e, int64_t subject);

/* What a test says of scores, [rows] of t: sp_examples_mean_regret, which decides
 * when to stop; and the regret of the first choice. */
double sp_dataset_regret(const sp_dataset *t, const float *score,
                         double *first);

/* The slope and curvature of a loss that ranks the rows of each subject:
 * log(1 + exp(-d)) over pairs further apart than their noise, fast ones
 * weighing more; added to slope and curve. Returns the mean loss. */
double sp_rank_slopes(float *slope, float *curve, const float *score,
                      const sp_dataset *t, double share);

/* Tell the listener; nonzero: stop. */
int sp_fitting_note(const sp_fitting *l, double begin, const sp_lap *lap);

#endif
