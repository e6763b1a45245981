/* sizes.h - matrices that grow: from ten thousand entries to fifty million. */
#ifndef BENCH_SIZES_H
#define BENCH_SIZES_H

typedef struct {
    double nnz; /* about */
    const char *kind, *spec;
} bench_size;

enum { BENCH_SIZES = 10 };
extern const bench_size bench_sizes[BENCH_SIZES];

#endif
