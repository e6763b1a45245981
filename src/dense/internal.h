/* internal.h - ways to compute operators: their text, kernels and plans. */
#ifndef SP_DENSE_INTERNAL_H
#define SP_DENSE_INTERNAL_H

#include "dense/dense.h"
#include "machine/isa.h"

/* ---- one way to compute an operator (schedule.c) ---- */

typedef enum {
    SP_PLAIN, /* an obvious loop, as a compiler makes it */
    SP_ALGORITHMS
} sp_algorithm;

typedef struct {
    sp_algorithm algorithm;
    int mr, v;     /* pixels or rows of a tile, vectors of its channels */
    int64_t block; /* rows of tiles before the next channels; 0: all */
    int channels;  /* threads split channels, not pixels */
    int threads;
} sp_dense_way;

void sp_dense_way_text(char out[SPRY_SCHEDULE_TEXT], const sp_dense_way *x);
spry_status sp_dense_way_parse(sp_dense_way *out, const char *text);
const char *sp_algorithm_name(sp_algorithm a);
/* SPRY_USAGE when p cannot be computed that way on m (plan.c). */
spry_status sp_dense_way_legal(const sp_dense_problem *p, const sp_dense_way *x,
                               const spry_machine *m);
/* All of them, the plain ones first; sp_free the list (space.c). */
spry_status sp_dense_ways(sp_dense_way **out, int *count,
                          const sp_dense_problem *p, const spry_machine *m);

/* ---- plans (plan.c) ---- */

struct sp_dense_plan {
    spry_plan head;
    const sp_dense_problem *p;
    sp_dense_way x;
    const struct sp_dense_algorithm *how;
    float *packed; /* weights as the algorithm wants them */
    float *bias;   /* padded with zeros to whole vectors; NULL: none */
    int64_t scratch;
    sp_scratch *memory; /* of all shares; NULL: none is needed */
    int foreign;        /* for a wider machine than this one: not to be run */
    spry_machine machine;
    char kernel[48];
};

typedef struct sp_dense_algorithm {
    /* NULL: x is a way to compute p; else why not. */
    const char *(*illegal)(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m);
    /* Lay out weights, set what shares need. */
    spry_status (*prepare)(sp_dense_plan *plan, const spry_machine *m);
    void (*share)(const sp_dense_plan *plan, const spry_tensors *t, int i,
                  void *scratch);
    /* How many times the error of plain sums its own may be. */
    double gain;
} sp_dense_algorithm;

extern const sp_dense_algorithm sp_dense_plain;

spry_status sp_dense_plan_make(sp_dense_plan **out, const sp_dense_problem *p,
                               const sp_dense_way *x, const spry_machine *m);
/* One run; the operands are complete. */
spry_status sp_dense_run(const sp_dense_plan *plan, const spry_tensors *t);
/* The way that is expected to be fastest. */
sp_dense_way sp_dense_usual(const sp_dense_problem *p, const spry_machine *m);

/* ---- loops, compiled once for each instruction set (loops.c) ---- */

/* Plain rows [from, to); weights and sum as sp_dense_plain has them. */
typedef void sp_plain_rows(const sp_dense_plan *plan, const spry_tensors *t,
                           int64_t from, int64_t to, float *sum);

/* For isa; NULL: not built in. */
sp_plain_rows *sp_plain_rows_of(spry_isa isa);

#endif
