/* learn.h - what the parts of bench-learn hand each other. */
#ifndef BENCH_LEARN_H
#define BENCH_LEARN_H

#include "base/base.h"
#include "measure/measure.h"
#include "model/guess.h"
#include "search/search.h"
#include "sparse/sparse.h"
#include "spry.h"
#include "tune/heat.h"

enum { OPS = 3, FOLDS = 3, TOP = 20, KINDS = 7, MOST_TASKS = 256 };

/* A problem, what was measured of it, and what models said before that. */
typedef struct {
    char name[96], source[512];
    const spry_matrix *A;
    spry_problem *p;
    sp_subject subject;
    sp_example *row; /* [rows] the first `sampled` were drawn by chance */
    int rows, sampled;
    int fold;             /* its group is held out in this one */
    int deep;             /* 1: 400 samples and more */
    double *score[KINDS]; /* [sampled] by models that never saw its group */
    /* By the held-out spry model; speed-ups are measured, 0: not. */
    double predicted, best_of_top, best_of_chance, best_known;
    int chosen; /* measured of the top 20 */
} task;

/* All problems of an operation. */
typedef struct {
    spry_op op;
    task *at[MOST_TASKS];
    int count;
    sp_cost *model[FOLDS]; /* spry, fitted without the fold */
} field;

/* Of the held-out spry model. */
typedef struct {
    int problems, deep;
    double pairs, top1, top5;
    double regret, kept, slower;
} outcome;

typedef struct {
    spry_machine m;
    spry_records *db;
    spry_kernels *kernels; /* compiled so far */
    field f[OPS];
    spry_matrix *matrix[MOST_TASKS];
    int matrices;
    int quick;
    double begun;
    outcome outcome[OPS];
    double rate, graph, runs, tune, train, labels;
} bench;

static inline double elapsed(const bench *b)
{
    return sp_seconds() - b->begun;
}

extern const char *const kinds[KINDS]; /* the last is "random" */

/* ---- field.c: matrices become problems, records become rows ---- */

spry_status open_fields(bench *b);
void close_fields(bench *b);
/* Samples of every problem, then many of a few, until `until` seconds. */
void collect_samples(bench *b, double until);
void collect_deep(bench *b, double until);
/* Measure these too. */
spry_status collect_list(bench *b, task *t, const spry_schedule *x, int n);
/* Samples of the problems outside of a fold: all, those to learn from, or the
 * few that say when to stop. */
typedef enum { ALL, LESSON, STOP } part;
spry_status gather(sp_examples *out, const field *f, int fold, part which);
void free_examples(sp_examples *e);

/* ---- rate.c: labels collected in a second ---- */

double collect_rate(const bench *b);

/* ---- table.c: how well held-out schedules are ranked ---- */

void fit_all(bench *b, double until);
void print_tables(bench *b);

/* ---- ask.c: a model asked about what can be had ---- */

typedef struct {
    const sp_sparse *p;
    const spry_machine *m;
    sp_guess guess;
} asker;

spry_status ask_open(asker *a, const spry_problem *p, const spry_machine *m,
                     const sp_cost *c);
void ask_close(asker *a);
/* What it searches: families that are built in, nests of the table. */
sp_space ask_space(asker *a, sp_domain domain, const sp_nests *nests);

/* The schedule that effort predict would take. */
spry_status ask_choice(spry_schedule *out, asker *a);

/* ---- confirm.c: the same few once more ---- */

/* speedup[n] over the baseline, of one race; 0: not measured. */
spry_status confirm(bench *b, const task *t, double *speedup,
                    const spry_schedule *x, int n);

/* ---- choose.c: what the choices of the model are worth ---- */

void measure_choices(bench *b, double until);
void print_choices(bench *b);

/* ---- cost.c: what it costs ---- */

void print_search(bench *b);
void print_cost(bench *b);
void print_training(bench *b);

#endif
