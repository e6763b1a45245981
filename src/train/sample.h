/* sample.h - which rows of examples to keep. */
#ifndef SP_SAMPLE_H
#define SP_SAMPLE_H

#include "model/dataset.h"
#include "spry/train.h"
#include "train/internal.h"

/* What the ways of choosing look at. */
typedef struct {
    const sp_examples *e;
    sp_dataset t;       /* rows that were timed, with their features */
    double *importance; /* [SP_FEATURES] */
    int64_t *best;      /* [SP_SAMPLE_WIDE] the columns that matter most */
    float *z;           /* [t.rows, SP_SAMPLE_WIDE] these on one scale */
    int64_t *quota;     /* [subjects] rows to keep of each */
    uint8_t *keep;      /* [t.rows] */
    sp_rng rng;
} sp_sampling;

enum { SP_SAMPLE_WIDE = 24, SP_SAMPLE_RARE = 8 };

typedef struct {
    const char *name, *about;
    /* Set keep for as many rows of every subject as its quota. */
    spry_status (*choose)(sp_sampling *s);
} sp_sample_way;

extern const sp_sample_way sp_sample_ways[]; /* ends with NULL */
spry_status sp_sample_leverage(sp_sampling *s);
spry_status sp_sample_clusters(sp_sampling *s);

/* keep[rows of e] for a share of all of e; rare and invalid rows are counted
 * (NULL: not asked). */
spry_status sp_sample_rows(uint8_t *keep, const sp_examples *e, const char *way,
                           double share, uint64_t seed, int threads,
                           spry_sampled *counts);
/* importance[SP_FEATURES] of a table: squared correlation with log time inside
 * a subject, the mean over subjects. */
void sp_sample_importance(double *importance, const sp_dataset *t);

#endif
