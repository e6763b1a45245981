/* internal.h - ways to compute operators: their text, kernels and plans. */
#ifndef SP_DENSE_INTERNAL_H
#define SP_DENSE_INTERNAL_H

#include "dense/core.h"
#include "dense/dense.h"
#include "machine/isa.h"

/* ---- one way to compute an operator (schedule.c) ---- */

void sp_dense_way_text(char out[SPRY_SCHEDULE_TEXT], const sp_dense_way *x);
spry_status sp_dense_way_parse(sp_dense_way *out, const char *text);
const char *sp_algorithm_name(sp_algorithm a);
/* Why p cannot be computed that way on m; NULL: it can. */
const char *sp_dense_way_illegal(const sp_dense_problem *p,
                                 const sp_dense_way *x, const spry_machine *m);
/* SPRY_USAGE when p cannot be computed that way on m (plan.c). */
spry_status sp_dense_way_legal(const sp_dense_problem *p, const sp_dense_way *x,
                               const spry_machine *m);
/* Bytes of the cache that is nearest, and of the one behind it. */
int64_t sp_dense_near(const spry_machine *m);
int64_t sp_dense_second(const spry_machine *m);

/* All of them, the plain ones first; sp_free the list (space.c). */
spry_status sp_dense_ways(sp_dense_way **out, int *count,
                          const sp_dense_problem *p, const spry_machine *m);

/* ---- plans (plan.c) ---- */

struct sp_dense_plan {
    spry_plan head;
    const sp_dense_problem *p;
    sp_dense_way x;
    const struct sp_dense_algorithm *how;
    float *packed;     /* weights as the algorithm wants them */
    sp_slab *slab;     /* that holds them; NULL: they are the plan's own */
    const void *ready; /* as an equal plan packed them; NULL: none did */
    int64_t ready_bytes;
    float *bias; /* padded with zeros to whole vectors; NULL: none */
    int64_t scratch;
    struct sp_tiling *tiling; /* NULL: it has none */
    sp_dense_core core;       /* what a run sees of all this */
    sp_scratch *memory;       /* of all shares; NULL: none is needed */
    int foreign; /* for a wider machine than this one: not to be run */
    spry_machine machine;
    char kernel[48];
};

typedef struct sp_dense_algorithm {
    /* NULL: x is a way to compute p; else why not. */
    const char *(*illegal)(const sp_dense_problem *p, const sp_dense_way *x,
                           const spry_machine *m);
    /* Lay out weights, set what shares need. */
    spry_status (*prepare)(sp_dense_plan *plan, const spry_machine *m);
    sp_dense_part *part;
    /* How many times the error of plain sums its own may be. */
    double gain;
} sp_dense_algorithm;

extern const sp_dense_algorithm sp_dense_plain, sp_dense_direct, sp_dense_wino2,
    sp_dense_dw, sp_dense_rows, sp_dense_pruned;

/* Why there is no kernel for this tile of pixels and channels, or NULL
 * (direct.c). */
const char *sp_tile_missing(const sp_dense_way *x, const spry_machine *m);

spry_status sp_dense_plan_make(sp_dense_plan **out, const sp_dense_problem *p,
                               const sp_dense_way *x, const spry_machine *m);
/* Room for so many floats of packed weights; *packs 0: they are there. */
spry_status sp_dense_room(sp_dense_plan *plan, int64_t count, int *packs);
/* The bias, if there is one: `groups` stretches of `count`, each padded with
 * zeros to `wide`. */
spry_status sp_dense_pack_bias(sp_dense_plan *plan, int64_t groups,
                               int64_t count, int64_t wide);
/* One run; the operands are complete. */
spry_status sp_dense_run(const sp_dense_plan *plan, const spry_tensors *t);
/* The lowest tile that cuts a line into as many tiles: it does the same. */
void sp_dense_even(sp_dense_way *x, const sp_dense_problem *p);
/* The way that is expected to be fastest. */
sp_dense_way sp_dense_usual(const sp_dense_problem *p, const spry_machine *m);

/* A sum of products as its tiles see it. */
typedef struct {
    double lines, width, groups, c, k, taps; /* as tilings have them */
    double in, weights, out;                 /* bytes */
} sp_dense_extent;
sp_dense_extent sp_dense_extent_of(const sp_dense_problem *p);

/* Seconds that it should take by arithmetic; that any way takes at least
 * (predict.c). */
double sp_dense_predict(const sp_dense_problem *p, const sp_dense_way *x,
                        const spry_machine *m);
double sp_dense_least(const sp_dense_problem *p, const spry_machine *m);

/* ---- loops, compiled once for each instruction set (loops.c) ---- */

sp_dense_loops sp_dense_loops_of(spry_isa isa);

#endif
