/* internal.h - a training under way. */
#ifndef SP_TRAIN_INTERNAL_H
#define SP_TRAIN_INTERNAL_H

#include <math.h>

#include "base/base.h"
#include "model/cost.h"
#include "spry/train.h"

/* Those asked for, or all there are (train.c). */
int sp_train_threads(const spry_train_options *opt);

/* ---- card.c ---- */

/* Nothing known but the model's name. */
void sp_grades_clear(spry_grades *g, const char *model);
struct sp_data;
/* The same records, options and seed give the same bytes: the date is that of
 * the newest record. */
spry_status sp_card_write(sp_buf *out, const spry_trained *t,
                          const spry_train_options *opt,
                          const struct sp_data *d, const char *machine);
/* Its beginning; what it was learned from; its end. */
void sp_card_begin(sp_json *j, const spry_trained *t,
                   const spry_train_options *opt, int64_t newest_record,
                   const char *machine);
void sp_card_end(sp_json *j, const spry_grades *g);
/* "data": groups, machines, counts and a hash (provenance.c). */
spry_status sp_card_data(sp_json *j, const struct sp_data *d);

/* ---- data.c ---- */

/* All examples of an operation, with what their subjects borrow. */
typedef struct sp_data {
    sp_examples e;
    char **group;     /* [subjects] */
    char **problem;   /* [subjects] key */
    char **machine;   /* [subjects] fingerprint */
    spry_matrix **A;  /* [subjects]; NULL: not at hand */
    spry_problem **p; /* [subjects]; the same */
    spry_machine **m; /* [subjects], each its own; NULL: not known */
    int64_t left_out; /* records that were of no use */
    int64_t newest;   /* when the last one was measured */
} sp_data;

spry_status sp_data_open(sp_data *out, spry_records *db, spry_op op,
                         const char *machine, int threads);
/* SPRY_BUDGET when that is not done at the moment `until`; 0: any. */
spry_status sp_data_open_until(sp_data *out, spry_records *db, spry_op op,
                               const char *machine, int threads, double until);
void sp_data_close(sp_data *d);
/* The same for a matrix with its rows and columns in another order: a hash of
 * the lengths of rows and columns and of the values (twin.c); 0: no memory. */
uint64_t sp_twin_of(const spry_matrix *A);
/* How many different texts. */
int64_t sp_data_different(char *const *text, int64_t count);

/* Three parts of it that share the subjects' matrices. */
typedef enum { SP_TEACH, SP_STOP, SP_HELD, SP_PARTS } sp_part_of;
/* Another part is held out in every turn; after sp_data_turns each problem
 * was once. */
spry_status sp_data_split(sp_examples out[SP_PARTS], const sp_data *d,
                          spry_split split, uint64_t seed, int turn);
int sp_data_turns(const sp_data *d, spry_split split);
/* Two parts as one. */
spry_status sp_examples_join(sp_examples *out, const sp_examples *a,
                             const sp_examples *b);
/* Rows for which keep is not 0; subjects stay. */
spry_status sp_examples_subset(sp_examples *out, const sp_examples *e,
                               const uint8_t *keep);
void sp_examples_free(sp_examples *e);

/* ---- meta.c ---- */

/* The networks of a model of the kind spry, by opt->meta, over the machines of
 * what teaches. */
spry_status sp_train_meta(const sp_cost *c, const sp_examples *teach,
                          const spry_train_options *opt, int threads);

/* ---- operators.c ---- */

/* spry_train and spry_evaluate where opt->operators names some. */
spry_status sp_train_operators(spry_trained *out, spry_records *db,
                               const char *path, const spry_train_options *opt);
spry_status sp_evaluate_operators(spry_grades *out, const char *const *name,
                                  int count, spry_records *db,
                                  const spry_train_options *opt);

/* ---- grades.c ---- */

typedef struct sp_grading sp_grading;
spry_status sp_grading_new(sp_grading **out, spry_op op);
/* Problems that are added are told opt->judged, as those of a model. */
void sp_grading_watch(sp_grading *g, const spry_train_options *opt, int model);
void sp_grading_free(sp_grading *g);
/* Problems and scores for them, [times, rows]: several when they are drawn by
 * chance. Rows that the model has no words for are left out of its grades. */
#define SP_NOT_ASKED (-HUGE_VAL)
spry_status sp_grading_add(sp_grading *g, const sp_examples *e,
                           const double *score, int times);
/* Add what a model says of problems (train.c). */
spry_status sp_grade_model(sp_grading *g, const sp_cost *c,
                           const sp_examples *e);
/* The control: choices by chance, many times (train.c). */
spry_status sp_grade_chance(sp_grading *g, const sp_examples *e, uint64_t seed);
spry_status sp_grading_end(spry_grades *out, const sp_grading *g,
                           const char *model, int absolute);

#endif
