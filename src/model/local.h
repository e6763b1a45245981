/* local.h - what was learned on one machine, beside the model it corrects.
 *
 * The model's own file is never changed. A local file names the model it
 * belongs to by a hash of all its numbers, and the machine by fingerprint; it
 * holds what replaces the model's networks, what is added to its scores, and
 * the last records it learned from, so that the next tune can go on. */
#ifndef SP_LOCAL_H
#define SP_LOCAL_H

#include "model/dataset.h"
#include "model/resnet.h"
#include "model/trees.h"

enum {
    SP_LOCAL_NETS = 2,
    SP_LOCAL_WIDTH = SP_SCHEDULE + SP_JOINT, /* of the linear correction */
    SP_LOCAL_OPINIONS = 4, /* the trees', the networks', the bound, 1 */
    SP_LOCAL_ROWS = 768,   /* records kept, at most */
    SP_LOCAL_TEXT = 40
};

/* What is said of it. */
typedef struct {
    char op[16], source[SP_LOCAL_TEXT], machine[24];
    char method[24]; /* "none": nothing was better than the model itself */
    char date[24];
    int64_t records, problems; /* learned from */
    double before, after;      /* share of order that was wrong, held back */
} sp_local_card;

typedef struct sp_local {
    sp_nn *nn;
    sp_local_card card;
    int nets, trees_in, linear;
    sp_resnet net[SP_LOCAL_NETS];
    sp_trees trees;
    sp_scaler scaler;   /* [SP_LOCAL_WIDTH] */
    sp_tensor *weight;  /* [SP_LOCAL_WIDTH] */
    sp_tensor *opinion; /* [SP_LOCAL_OPINIONS]; NULL: from before there was */
    sp_tensor *elastic; /* [SP_ELASTICITIES]; NULL: the same */
    /* What was seen last, oldest first; NULL: nothing. */
    sp_tensor *seen;         /* [rows, SP_FEATURES], NOTHING for NAN */
    sp_tensor *label;        /* [rows, 4] slower, bound, noise, subject */
    sp_tensor *seen_elastic; /* [rows, SP_ELASTICITIES] */
} sp_local;

/* What is added to a row's score, as weights of its numbers. */
typedef struct {
    double weight[SP_LOCAL_WIDTH], opinion[SP_LOCAL_OPINIONS];
    double elastic[SP_ELASTICITIES];
} sp_linear;

/* 1: it changes what the model says. */
static inline int sp_local_speaks(const sp_local *l)
{
    return l && (l->nets || l->trees_in || l->linear);
}

/* Rows as they are asked about; elastic is NULL when l does not want it. */
typedef struct {
    const float *x, *elastic; /* [rows, SP_FEATURES], [rows, SP_ELASTICITIES] */
    int64_t rows;
} sp_local_table;

/* Add to both opinions of rows, logarithms of the time over the plain loop's:
 * what trees, linear part and opinions say. `settled` are l's trees for rows
 * that begin alike, NULL: as they are. The networks are for whoever has the
 * model to use in place of its own. */
void sp_local_add(double *trees, double *nets, const sp_local *l,
                  const sp_trees *settled, const sp_local_table *r);

/* ---- files ---- */

/* Where it lies: in SPRY_MODELS when set, else the user's data directory; 0
 * when there is nowhere. */
int sp_local_path(char *out, size_t size, spry_op op, const char *machine);

/* A hash of everything that c has learned. */
void sp_cost_hash(char out[SP_LOCAL_TEXT], const sp_cost *c);

/* Does a file's card say that it is one? */
int sp_local_claims(const sp_nn *nn);

/* From a file; SPRY_INPUT for one that is damaged, of other features, of
 * another model than c (which may be NULL: of any). */
spry_status sp_local_load(sp_local **out, const char *path, const sp_cost *c);
/* Of a model that is read already; it is the local one's from now on. */
spry_status sp_local_open(sp_local **out, sp_nn *nn, const char *path,
                          const sp_cost *c);
/* That of a machine, if there is one; *out NULL else. */
spry_status sp_local_find(sp_local **out, const sp_cost *c,
                          const char *machine);
void sp_local_free(sp_local *l);

/* Whole or not at all. */
spry_status sp_local_save(const sp_local *l, const char *path);

/* ---- making one (local_make.c) ---- */

spry_status sp_local_new(sp_local **out, const sp_local_card *card);
spry_status sp_local_set_nets(sp_local *l, const sp_nn *from);
spry_status sp_local_set_trees(sp_local *l, const sp_trees *t);
spry_status sp_local_set_linear(sp_local *l, const sp_scaler *all,
                                const sp_linear *linear);
/* The last SP_LOCAL_ROWS rows, whole subjects. */
spry_status sp_local_set_seen(sp_local *l, const sp_dataset *t);
/* Row i of what was seen. */
void sp_local_seen_row(float out[SP_FEATURES], const sp_local *l, int64_t i);
static inline int64_t sp_local_rows(const sp_local *l)
{
    return l && l->label ? l->label->shape.dim[0] : 0;
}

#endif
