/* features.h - what a model is told: the pattern, the machine, the schedule,
 * and what the analytic model makes of the three.
 *
 * Sizes are logarithms to base 2, shares lie in 0..1. NAN is "not known":
 * trees have a side for it, networks put the mean there. The machine is part
 * of every feature set, so that what is learned here can be used elsewhere. */
#ifndef SP_FEATURES_H
#define SP_FEATURES_H

#include "problem/sparse.h"
#include "spry/machine.h"
#include "spry/model.h"
#include "spry/schedule.h"

enum {
    SP_PATTERN = 72,  /* the problem: its matrix, operation, columns, type */
    SP_MACHINE = 24,  /* the machine */
    SP_SCHEDULE = 64, /* the schedule, whatever it is applied to */
    SP_JOINT = 32,    /* the schedule on this problem and this machine */
    SP_FEATURES = SP_PATTERN + SP_MACHINE + SP_SCHEDULE + SP_JOINT,
    SP_ELASTICITIES = 10,   /* beside them, for what adapts to a machine */
    SP_FEATURES_VERSION = 2 /* counts up when the meaning of one changes */
};

/* What is known of a problem without its matrix. */
typedef struct {
    spry_op op;
    spry_type type;
    int64_t n; /* dense columns */
    int64_t rows, cols, nnz;
} sp_problem_shape;

/* From the statistics, milliseconds on a million entries. SPRY_SYSTEM when
 * there is no memory for them. */
spry_status sp_features_pattern(float out[SP_PATTERN], const sp_sparse *p);
/* The shape alone; all the rest is not known. */
void sp_features_shape(float out[SP_PATTERN], const sp_problem_shape *k);
/* m NULL: nothing is known. */
void sp_features_machine(float out[SP_MACHINE], const spry_machine *m);
/* The middle and the spread of the machines there are, in the units of column
 * `k` of it: a few machines say little about how far away another one is. Any
 * other column leaves both as they are. */
void sp_machine_scale(double *centre, double *spread, int k);
const char *sp_machine_column(int k); /* its name */
void sp_features_schedule(float out[SP_SCHEDULE], const spry_schedule *x,
                          spry_op op);
/* The analytic model's terms, against those of the plain loop. p or m NULL:
 * nothing is known. 0 when x cannot be had for p on m. */
typedef struct {
    const sp_sparse *p;
    const spry_machine *m;
    double plain; /* seconds predicted for the plain loop, all threads */
} sp_joint_of;
int sp_features_joint(float out[SP_JOINT], const sp_joint_of *j,
                      const spry_schedule *x);

/* How the analytic model's time changes with what it believes of a core: the
 * power of each number that it grows with (elastic.c). All 0 when p or m is
 * NULL or x cannot be had. */
void sp_elasticities(float out[SP_ELASTICITIES], const sp_sparse *p,
                     const spry_schedule *x, const spry_machine *m);

/* spry_predict (predict.c). */
spry_status sp_predict(spry_prediction *out, const sp_sparse *p,
                       const spry_schedule *x, const spry_machine *m);

#endif
