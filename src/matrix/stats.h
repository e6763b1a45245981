/* stats.h - the parts that the statistics of a matrix are made of.
 *
 * Each part is O(rows + nnz), fills its own fields of the result and takes
 * memory in proportion to rows + nnz, however wide the matrix claims to be.
 * None depends on the number of threads. */
#ifndef SP_MATRIX_STATS_H
#define SP_MATRIX_STATS_H

#include "base/base.h"
#include "matrix/matrix.h"

/* Row lengths: moments, histogram, extremes (stats_rows.c). */
void sp_stats_rows(spry_stats *s, const spry_matrix *m);
/* Where entries lie and what they are worth: distances, spans, the density
 * map, zeros, not finite (stats_rows.c). */
spry_status sp_stats_entries(spry_stats *s, const spry_matrix *m);
/* Nonempty aligned blocks of all 25 sizes (stats_blocks.c). */
spry_status sp_stats_blocks(spry_stats *s, const spry_matrix *m);
/* Nonempty aligned 3 x 3 and 6 x 6 blocks (stats_threes.c). */
spry_status sp_stats_threes(spry_stats *s, const spry_matrix *m);
/* Column reuse, diagonals in use, mirrored entries (stats_reuse.c). */
spry_status sp_stats_reuse(spry_stats *s, const spry_matrix *m);
spry_status sp_stats_diagonals(spry_stats *s, const spry_matrix *m);
spry_status sp_stats_symmetry(spry_stats *s, const spry_matrix *m);
/* How many different values there are, if few (stats.c). */
spry_status sp_stats_values(spry_stats *s, const spry_matrix *m);

/* All 0 but the sizes (stats.c). */
void sp_stats_begin(spry_stats *out, const spry_matrix *m);

/* Parts that mind their own fields only, side by side (stats.c). */
typedef spry_status sp_stats_part(spry_stats *s, const spry_matrix *m);
spry_status sp_stats_together(spry_stats *s, const spry_matrix *m,
                              sp_stats_part *const *part, int parts);

/* How many keys may be a plain array beside this matrix; beyond, hash. */
static inline int64_t sp_stats_plain(const spry_matrix *m)
{
    return ((int64_t)1 << 20) + 4 * (m->rows + m->nnz);
}

/* Neighbouring keys land far apart in the low bits. */
static inline uint64_t sp_stats_hash(int64_t key)
{
    uint64_t x = (uint64_t)key * 0x9e3779b97f4a7c15u;

    return x ^ (x >> 32);
}

/* Cells of the density map along a side of n rows or columns. */
static inline int sp_stats_cells(int64_t n)
{
    return n < SPRY_DENSITY ? (int)n : SPRY_DENSITY;
}

/* The first row (or column) of cell c: ceil(c n / cells). */
static inline int64_t sp_stats_cell_start(int64_t n, int cells, int c)
{
    int64_t whole = n / cells, rest = n % cells;

    return whole * c + (rest * c + cells - 1) / cells;
}

#endif
