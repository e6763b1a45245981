/* classes.h - the twelve generated classes that all sparse benchmarks share:
 * in cache and out of it, even and skewed, blocked, diagonal, nearly empty. */
#ifndef BENCH_CLASSES_H
#define BENCH_CLASSES_H

static const struct bench_class {
    const char *name;
    const char *spec; /* for spry_matrix_generate, seed 1 */
} bench_classes[] = {
    {"uniform-l2", "uniform rows=2k nnz=32k"},
    {"uniform-l3", "uniform rows=50k nnz=800k"},
    {"uniform-memory", "uniform rows=200k nnz=10M"},
    {"pruned-05", "pruned rows=4096 density=0.05"},
    {"pruned-10", "pruned rows=4096 density=0.10"},
    {"rmat-16", "rmat scale=16 degree=16"},
    {"rmat-18", "rmat scale=18 degree=16"},
    {"blocks-8x8", "blocks rows=49152 r=8 c=8 nnz=3145728"},
    {"diagonals-11", "diagonals rows=200k count=11 spread=10k"},
    {"stencil-27", "stencil27 nx=64"},
    {"stencil-5", "stencil5 nx=1000"},
    {"hypersparse", "hypersparse rows=1M nnz=100k"},
};

enum {
    BENCH_CLASSES = sizeof bench_classes / sizeof bench_classes[0],
    BENCH_SEED = 1
};

#endif
