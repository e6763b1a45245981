/* sizes.c - sixteen entries per row, about as many nonzeros as it says. */
#include "sizes.h"

const bench_size bench_sizes[BENCH_SIZES] = {
    {1e4, "uniform", "uniform rows=625 nnz=10k"},
    {1e4, "rmat", "rmat scale=9 degree=20"},
    {1e5, "uniform", "uniform rows=6250 nnz=100k"},
    {1e5, "rmat", "rmat scale=13 degree=13"},
    {1e6, "uniform", "uniform rows=62500 nnz=1M"},
    {1e6, "rmat", "rmat scale=16 degree=16"},
    {1e7, "uniform", "uniform rows=625k nnz=10M"},
    {1e7, "rmat", "rmat scale=19 degree=20"},
    {5e7, "uniform", "uniform rows=3125k nnz=50M"},
    {5e7, "rmat", "rmat scale=21 degree=25"},
};
