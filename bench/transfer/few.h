/* few.h - one direction and operation of the few-shot curves. */
#ifndef BENCH_FEW_H
#define BENCH_FEW_H

#include "transfer.h"

typedef enum {
    ANALYTIC,
    RANDOM,
    SCRATCH,  /* trees on the bound, from the target's records alone */
    BEFORE,   /* models of an earlier day, as they are */
    SOURCE,   /* trained elsewhere, as it is */
    FINE,     /* its networks go on learning */
    BAYES,    /* a correction in closed form */
    CHOSEN,   /* the same, with schedules that its variance chose */
    RESIDUAL, /* small trees on what it gets wrong */
    BOTH,     /* FINE, then RESIDUAL */
    MULTI,    /* several machines, real and simulated, with the vector; BAYES */
    META,     /* MAML from there; FINE */
    KEPT,     /* what spry adapt keeps, with schedules chosen so */
    THERE,    /* trained on the target */
    METHODS
} method;
extern const char *const method_names[METHODS];

enum { VECTORS = 3, MOST_TASKS = 6, KINDS = 4 };

/* One direction, one operation. */
typedef struct {
    const char *from, *to;
    spry_op op;
    const bench *b;
    sp_slice learn, stop, pool, test;
    sp_slice imagine;   /* of `learn` what machines are simulated from */
    sp_slice home;      /* unseen matrices on the machine that teaches */
    int brief;          /* 1: only what the four tests ask for */
    const char *given;  /* folder of the source; NULL: it is fitted */
    const char *before; /* folder of earlier models; NULL: none */
    sp_slice simulated[IMAGINED], second; /* further tasks of the source */
    spry_machine machine[IMAGINED];
    int tasks;
    sp_pretrained source, earlier, multi, meta[KINDS], there;
    double meta_gain[KINDS];
    value *v[METHODS][SHOTS][SEEDS]; /* [test subjects] */
    value *fixed[METHODS]; /* [test subjects] of those without records */
    value *zero[VECTORS];  /* multi-task, by what it is told of the machine */
    value *kind[KINDS];    /* meta-learning at 32 records, mean of seeds */
    int failed;
} curve;

extern const char *const vector_names[VECTORS];

/* Fill in what can be fitted once; then the shots of one seed (fit.c). */
void curve_fit(curve *c);
void curve_run(curve *c, int seed);
void curve_free(curve *c);

/* Methods that need no other source than the one there is. */
int is_run(const curve *c, int m);

/* The four tests of meta-learned WACO of a fitted curve (four.c). */
enum { FOUR = 4 };
typedef struct {
    value *v[FOUR][SEEDS]; /* [home or test subjects] */
    int64_t matrices;      /* of machine 2 that were learned from, at most */
    int64_t records;
} four_values;
void four_run(four_values *out, curve *c);
void four_print(const four_values *f, const curve *c, int ops);
void four_free(four_values *f);

/* What the parts of few.c and four.c share (fit.c). */
void must(curve *c, spry_status s);
value *values_of(const sp_dataset *t, const float *score);
void score_way(curve *c, float *score, const sp_pretrained *from,
               const sp_dataset *shots, const sp_dataset *test,
               sp_correction way, uint64_t seed);

/* Both directions; which are there (few.c). */
void print_curves(curve *c, int count, int ops);

#endif
