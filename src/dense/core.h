/* core.h - what a run needs of a plan, and nothing of the library: this file,
 * the ones it includes and the run_*.c are exported as they are. */
#ifndef SP_DENSE_CORE_H
#define SP_DENSE_CORE_H

#include "base/base.h"
#include "dense/pruned.h"
#include "dense/tile.h"
#include "spry/operator.h"

/* ---- one way to compute an operator ---- */

typedef enum {
    SP_PLAIN,  /* an obvious loop, as a compiler makes it */
    SP_DIRECT, /* tiles of sums */
    SP_WINO2,  /* Winograd's F(2x2, 3x3) */
    SP_DW,     /* depthwise */
    SP_ROWS,   /* row by row, in vectors */
    SP_PRUNED, /* weights that are 0 left out */
    SP_ALGORITHMS
} sp_algorithm;

typedef struct {
    sp_algorithm algorithm;
    int mr, v;     /* pixels or rows of a tile, vectors of its channels */
    int64_t block; /* rows of tiles before the next channels, or columns of
                      sparse weights; 0: all */
    int channels;  /* threads split channels, not pixels */
    int threads;
} sp_dense_way;

/* ---- loops, compiled once for each instruction set ---- */

typedef struct sp_dense_core sp_dense_core;

/* Plain rows [from, to); sum: a row of them. */
typedef void sp_plain_rows(const sp_dense_core *p, const spry_tensors *t,
                           int64_t from, int64_t to, float *sum);

/* Vectorised rows [from, to) of all that are no sums of products. */
typedef void sp_row_loops(const sp_dense_core *p, const spry_tensors *t,
                          int64_t from, int64_t to);

typedef struct {
    sp_plain_rows *plain; /* NULL: nothing is built in for the set */
    sp_row_loops *rows;
    const sp_tile_set *tiles;
    const sp_depthwise_set *depthwise;
    const sp_winograd_set *winograd;
    const sp_pruned_set *pruned;
} sp_dense_loops;

/* ---- an operator, ready to run ---- */

struct sp_dense_core {
    spry_operator op;            /* all pitches and skips are set */
    int64_t height, width, rows; /* as the problem has them */
    int64_t cols;
    sp_dense_way x;
    sp_dense_loops loops;
    int64_t near, second; /* bytes of the nearest cache, of the next */
    const struct sp_tiling *tiling; /* NULL: it has none */
    const float *packed, *bias;     /* as the algorithm wants them */
};

/* Share i of x.threads; scratch as the plan asks for it (run_*.c). */
typedef void sp_dense_part(const sp_dense_core *p, const spry_tensors *t, int i,
                           void *scratch);
sp_dense_part sp_direct_part, sp_winograd_part, sp_depthwise_part,
    sp_plain_part, sp_rows_part, sp_pruned_part;

/* act(x) in double (act.c). */
double sp_act(spry_act act, double x, double alpha, double beta);

/* The larger and the smaller of two; what is no number stays so. */
static inline double sp_most(double x, double y)
{
    return x > y || x != x ? x : y;
}

static inline double sp_least(double x, double y)
{
    return x < y || x != x ? x : y;
}

/* Which of `taps` filter lines or columns, `dilate` apart, lie inside of an
 * image of `size`, when the first one would lie at `at`: [from, to). */
typedef struct {
    int64_t from, to;
} sp_taps;

static inline sp_taps sp_taps_inside(int64_t at, int64_t taps, int64_t dilate,
                                     int64_t size)
{
    sp_taps t = {0, taps};

    while (t.from < t.to && at + t.from * dilate < 0)
        t.from++;
    while (t.to > t.from && at + (t.to - 1) * dilate >= size)
        t.to--;
    return t;
}

/* Where row i of the result begins in spry_tensors' out. */
static inline int64_t sp_operator_row(const spry_operator *op, int64_t i)
{
    return op->kind == SPRY_MATMUL
               ? i / op->m * op->skip_out + i % op->m * op->pitch_out
               : i * op->pitch_out;
}

/* The second operand of a step, for row i: at[j * step]. */
typedef struct {
    const float *at;
    int64_t step; /* 0: one number for the whole row */
} sp_chain_operand;

static inline sp_chain_operand sp_chain_operand_of(const spry_operator *op,
                                                   const spry_tensors *t, int k,
                                                   int64_t i)
{
    const spry_step *s = &op->step[k];
    const float *y = t->more[k];

    if (s->op == SPRY_STEP_ACT || s->with == SPRY_WITH_VALUE)
        return (sp_chain_operand){&s->value, 0};
    if (s->with == SPRY_WITH_COLUMN)
        return (sp_chain_operand){y + i, 0};
    return (sp_chain_operand){s->with == SPRY_WITH_SAME ? y + i * op->pitch_in
                              : s->with == SPRY_WITH_ROW
                                  ? y
                                  : y + i / op->m * op->n,
                              1};
}

#endif
