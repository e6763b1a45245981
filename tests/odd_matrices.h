/* odd_matrices.h - the matrices on which kernels go wrong. */
#ifndef SPRY_ODD_MATRICES_H
#define SPRY_ODD_MATRICES_H

#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "codegen/codegen.h"
#include "machine/isa.h"
#include "spry.h"

enum { MOST = 4096 };
typedef struct {
    int64_t rows, cols, nnz;
    int64_t row[MOST], col[MOST];
    double val[MOST];
} triples;

static void put(triples *t, int64_t i, int64_t j, double v)
{
    t->row[t->nnz] = i;
    t->col[t->nnz] = j;
    t->val[t->nnz++] = v;
}

static void empty(triples *t)
{
    t->rows = 5;
    t->cols = 7;
}

static void nothing(triples *t)
{
    t->rows = t->cols = 0;
}

static void single(triples *t)
{
    t->rows = t->cols = 1;
    put(t, 0, 0, 2.5);
}

static void dense_row(triples *t)
{
    t->rows = 9;
    t->cols = 130;
    for (int j = 0; j < 130; j++)
        put(t, 4, j, j - 60.5);
}

static void dense_col(triples *t)
{
    t->rows = 67;
    t->cols = 33;
    for (int i = 0; i < 67; i++)
        put(t, i, 31, i + 0.25);
}

static void only_last(triples *t)
{
    t->rows = 70;
    t->cols = 20;
    put(t, 69, 19, -3);
    put(t, 69, 0, 4);
}

static void scatter(triples *t, int64_t rows, int64_t cols, int64_t nnz)
{
    sp_rng r = sp_rng_seed(3);

    t->rows = rows;
    t->cols = cols;
    for (int64_t k = 0; k < nnz; k++)
        put(t, (int64_t)sp_rng_below(&r, (uint64_t)rows),
            (int64_t)sp_rng_below(&r, (uint64_t)cols), sp_rng_unit(&r) - 0.5);
}

static void wide(triples *t)
{
    scatter(t, 37, 301, 900);
}

static void tall(triples *t)
{
    scatter(t, 303, 29, 900);
}

/* Unsorted, and most entries more than once. */
static void repeated(triples *t)
{
    scatter(t, 12, 11, 500);
}

static void banded(triples *t)
{
    t->rows = t->cols = 150;
    for (int i = 0; i < 150; i++)
        for (int d = -3; d <= 3; d += 3)
            if (i + d >= 0 && i + d < 150)
                put(t, i, i + d, i - 70.0 + d);
}

static void not_finite(triples *t)
{
    scatter(t, 60, 60, 400);
    t->val[7] = (double)NAN;
    t->val[100] = HUGE_VAL;
    t->val[200] = -HUGE_VAL;
}

/* Rows of every length, so that every tail is met. */
static void stairs(triples *t)
{
    t->rows = 60;
    t->cols = 64;
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < i; j++)
            put(t, i, (j * 7 + i) % 64, i + j * 0.5);
}

static void (*const makers[])(triples *) = {
    empty, nothing, single,   dense_row, dense_col,  only_last,
    wide,  tall,    repeated, banded,    not_finite, stairs,
};
enum { MAKERS = sizeof makers / sizeof makers[0] };

static spry_matrix *make_matrix(int which)
{
    triples *t = calloc(1, sizeof *t);
    spry_matrix *A;

    makers[which](t);
    check_ok(spry_matrix_triples(&A, t->rows, t->cols, t->nnz, t->row, t->col,
                                 t->val, SPRY_F64));
    free(t);
    return A;
}

/* Does this CPU run isa, and are there kernels built in for it? */
static inline int has_kernels(spry_isa isa)
{
    sp_spec first;

    return sp_isa_runs_here(isa) && sp_codegen_builtin(&first, isa, 0) &&
           sp_builtin_find(&first);
}

/* A plan of a schedule's text, for three threads of an instruction set. */
static inline spry_status make_plan(spry_plan **plan, const spry_problem *p,
                                    const char *text, spry_isa isa)
{
    spry_schedule x;
    spry_machine m;

    check_ok(spry_machine_detect(&m));
    m.isa = isa;
    m.threads = 3;
    check_ok(spry_schedule_parse(&x, text));
    return spry_plan_make(plan, p, &x, &m);
}

#endif
