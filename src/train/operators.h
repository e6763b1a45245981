/* operators.h - records of dense operators as a table to learn from. */
#ifndef SP_TRAIN_OPERATORS_H
#define SP_TRAIN_OPERATORS_H

#include "dense/learned.h"
#include "train/internal.h"

/* One operator on one machine. */
typedef struct {
    char *problem, *machine, *probe;
    spry_problem *p;
    spry_machine *m; /* NULL: not known, so that nothing can be learned */
} sp_operator_subject;

/* One measured way. */
typedef struct {
    int64_t subject;
    sp_dense_way way;
    sp_example time; /* its .x says nothing */
} sp_operator_trial;

typedef struct {
    const spry_train_options *opt;
    sp_dense_class class;
    spry_records *db;
    sp_operator_subject *subject;
    sp_operator_trial *trial;
    int64_t subjects, subject_room, trials, trial_room, left_out, newest;
    sp_slice all;
    int64_t *of; /* [all's subjects] */
    spry_status status;
} sp_operator_records;

/* All records of opt->operators; what cannot be used is counted. */
spry_status sp_operator_records_open(sp_operator_records *o, spry_records *db,
                                     const spry_train_options *opt);
void sp_operator_records_close(sp_operator_records *o);

#endif
