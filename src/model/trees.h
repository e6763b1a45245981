/* trees.h - sums of decision trees: grown by XGBoost, kept and walked by us.
 *
 * Using a model needs no XGBoost; fitting one opens it. */
#ifndef SP_TREES_H
#define SP_TREES_H

#include "base/base.h"
#include "nn/nn.h"

/* A leaf has feature -1 and its value; else numbers below `value` go to the
 * child `left` of the same tree, others to the one after it, and what is not
 * known to left + lost. Children lie behind their parents. */
typedef struct {
    int32_t feature;
    float value;
    int32_t left, lost;
} sp_node;

typedef struct sp_cut sp_cut; /* a split as trees_walk.c likes it */

typedef struct {
    int features, trees;
    int64_t *start; /* [trees + 1] first node of each */
    sp_node *node;  /* [start[trees]] */

    /* Of settled trees, for many rows at a time; else all NULL. A tree has one
     * leaf more than splits, so the splits of the k-th begin at
     * (start[k] - k) / 2 and its leaves at (start[k] + k) / 2. */
    int32_t *leaves; /* [trees], 0: this one is walked */
    sp_cut *cut;
    float *leaf;
} sp_trees;

void sp_trees_free(sp_trees *t);

/* ---- walking (trees_walk.c) ---- */

/* The sum over the leaves that a row of `features` numbers falls into; of
 * many rows, added to out[rows]. */
double sp_trees_sum(const sp_trees *t, const float *row);
void sp_trees_add(double *out, const sp_trees *t, const float *row,
                  int64_t rows);

/* The leaf of one tree that a row falls into. */
uint16_t sp_tree_leaf(const sp_node *tree, const float *row);

/* The same trees for rows that all begin with the `known` numbers of `row`:
 * their splits are taken once, and what comes out the same for all such rows
 * is added to *sum. */
spry_status sp_trees_settle(sp_trees *out, double *sum, const sp_trees *t,
                            const float *row, int known);

/* As tensors NAME.node and NAME.start, and back: SPRY_INPUT unless every
 * child, feature and number is what it must be. */
spry_status sp_trees_keep(sp_nn *nn, const char *name, const sp_trees *t);
spry_status sp_trees_open(sp_trees *out, sp_nn *nn, const char *name,
                          int features);

spry_status sp_trees_copy(sp_trees *out, const sp_trees *t);
spry_status sp_trees_new(sp_trees *out, int features, int trees, int64_t nodes);
/* The first `most` trees of XGBoost's JSON. (trees_read.c) */
spry_status sp_trees_read(sp_trees *out, const char *json, size_t len,
                          int features, int most);

/* ---- growing (boost.c) ---- */

typedef struct {
    const float *x;      /* [rows, features]; NAN: not known */
    const float *margin; /* [rows] where the sum begins; NULL: 0 */
    int64_t rows;
} sp_boost_data;

typedef struct {
    sp_boost_data train, test; /* test.rows 0: none */
    int features;
    const char *const (*setting)[2]; /* name, value; ends with NULL */
    int least, rounds; /* trees at least and at most; in between the test */
    int patience;      /* says: stop when so many were no better */
    int threads;
    uint64_t seed;
    /* Slopes and curvatures of the loss at these sums; returns the loss. */
    double (*slopes)(float *slope, float *curve, const float *sum,
                     void *payload);
    /* How good these sums of the test are, lower is better; *stop ends. */
    double (*judge)(const float *sum, int round, double loss, int *stop,
                    void *payload);
    void *payload;
} sp_growing;

/* SPRY_SYSTEM and a sentence when there is no XGBoost. */
/* 1: XGBoost is here. */
int sp_boost_ready(void);
spry_status sp_trees_grow(sp_trees *out, const sp_growing *g);

#endif
