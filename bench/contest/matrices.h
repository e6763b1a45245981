/* matrices.h - which matrices the benchmarks walk through; ONLY=name,name in
 * the environment leaves out all others. */
#ifndef BENCH_MATRICES_H
#define BENCH_MATRICES_H

#include "spry/matrix.h"

enum { BENCH_FILE, BENCH_CLASS, BENCH_EXTRA };

typedef struct {
    const char *name;
    const spry_matrix *A;
    int turn;         /* 0, 1, 2 ... */
    int generated;    /* BENCH_FILE, or one of classes.h, or neither */
    const char *path; /* of a file; else NULL */
} bench_matrix;

/* Called for each; nonzero ends the walk. */
typedef int bench_visit(void *ctx, const bench_matrix *m);

/* The classes whose bit is set in `which`; returns how many failed. */
int bench_walk_classes(bench_visit *visit, void *ctx, unsigned which);

/* Every `step`-th Matrix Market file of $SPRY_DATA/matrices, or of the
 * folder named at build time; returns how many could not be read. */
int bench_walk_files(bench_visit *visit, void *ctx, int step);

/* Small ones of each kind: in cache, pruned, graph, blocks, diagonals,
 * nearly empty. */
enum {
    BENCH_ALL_CLASSES = (1 << 12) - 1,
    BENCH_SMALL_CLASSES = 1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 11
};

#endif
