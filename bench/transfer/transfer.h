/* transfer.h - what the parts of bench-transfer hand each other. */
#ifndef BENCH_TRANSFER_H
#define BENCH_TRANSFER_H

#include "adapt/adapt.h"
#include "adapt/meta.h"
#include "spry.h"
#include "train/internal.h"

enum { OPS = 3, SEEDS = 5, SHOTS = 5, IMAGINED = 3 };
extern spry_op bench_ops[OPS];       /* those that are asked for come first */
extern const int bench_shots[SHOTS]; /* target records: 0, 8, 32, 128, 512 */

/* ---- tasks (tasks.c) ---- */

/* Records of one machine, of one build: a table for each operation. */
typedef struct {
    const char *name, *about;
    int present;
    char why[160]; /* when not */
    spry_records *db;
    sp_data d[OPS];
    sp_dataset t[OPS];
} machine_task;

enum { XEON, XEON_FMA, XEON_REAL, ZEN, ZEN_REAL, LIMITED, TASKS };

typedef struct {
    machine_task task[TASKS];
    int quick, seeds, ops;
    double begun;
} bench;

/* Operations that TRANSFER_OPS names, or all: how many, `most` at most. */
int take_operations(int most);
void enter_data(void); /* into the data folder */
void load_tasks(bench *b);
void free_tasks(bench *b);
void print_tasks(const bench *b);

/* A share of the groups by name: which part of `parts` it is in. */
int part_of_group(const char *group, int parts);

#define LOUD 0.5 /* what teaches; HUGE_VAL: all */

/* Rows to keep of a task's table: subjects for which `want` says so, at most
 * `each` rows of one, and none whose interval is wider than `loudest`. */
typedef int want_subject(const machine_task *m, int op, int64_t subject,
                         void *payload);
void take_rows(sp_slice *out, const machine_task *m, int op, want_subject *want,
               void *payload, int each, double loudest);

/* k records: of 8 schedules a matrix, both drawn by chance; or what the
 * variance of a source chooses, of all matrices. */
void draw_shots(sp_slice *out, const sp_dataset *pool, int k, uint64_t seed,
                const sp_pretrained *chooses);

/* ---- values (values.c) ---- */

/* What an order of the schedules of one problem is worth. */
typedef struct {
    double pairs, top1, top5, regret20; /* regret is a logarithm */
    double kept; /* log speed-up of what is taken unmeasured less the best's */
    double slower;  /* 1: that is 5 % slower than the plain loop */
    double speedup; /* logarithm, of what is taken unmeasured */
} value;
value value_of(const sp_dataset *t, const float *score, int64_t subject);
value value_of_chance(const sp_dataset *t, int64_t subject);

typedef struct {
    double mean, low, high;
} interval;
/* The mean of v[n] by drawing them again. */
interval interval_of(const double *v, int64_t n);

/* ---- records of others (boost.c) ---- */

typedef struct {
    const float *x, *label, *margin; /* [rows, width], [rows], [rows] or NULL */
    int64_t rows;
    int width;
} row_table;
/* 0: it could not be. */
int grow_rows(sp_trees *out, const row_table *r, int rounds);

/* ---- tables ---- */

void few_shots(bench *b, int four, int few); /* curves.c: both directions */
void given_models(bench *b);                 /* of models that are there */
void heat_map(bench *b);                     /* heat.c: machine x machine */
void devices(bench *b);        /* devices.c: Ginkgo, one device left out */
void configurations(bench *b); /* configs.c: AutoSparse, EPYC and E5 */
void sequences(bench *b);      /* sequence.c: BiLSTM and attention */

double elapsed(const bench *b);

#endif
