/* matrix.h - what other rooms may know of a matrix beyond the public door:
 * its entries, whatever the width of their index and value. */
#ifndef SP_MATRIX_H
#define SP_MATRIX_H

#include "spry/matrix.h"

/* Column of the k-th entry. */
static inline int64_t sp_col(const spry_matrix *m, int64_t k)
{
    return m->index == SPRY_I32 ? ((const int32_t *)m->col)[k]
                                : ((const int64_t *)m->col)[k];
}

/* Value of the k-th entry. */
static inline double sp_val(const spry_matrix *m, int64_t k)
{
    return m->type == SPRY_F32 ? (double)((const float *)m->val)[k]
                               : ((const double *)m->val)[k];
}

/* The first of the entries [low, high) of one row that lies in column `col`
 * or behind it. */
static inline int64_t sp_find_col(const spry_matrix *m, int64_t low,
                                  int64_t high, int64_t col)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (sp_col(m, middle) < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Statistics in a tenth of the time: of more than so many entries some are
 * estimated from a sample, the same every time; zeros and values that are not
 * finite are not counted. (stats_sketch.c) */
enum { SP_SKETCH_FROM = 1 << 18 };
spry_status sp_matrix_sketch(spry_stats *out, const spry_matrix *m);
/* spry_matrix_stats into a whole struct, whatever its size says. */
spry_status sp_matrix_stats(spry_stats *out, const spry_matrix *m);

/* Do all entries have the same value v, with 1 <= |v| < 1e30? Then a row of
 * the dense operand may be summed first and multiplied by v once: no sum
 * overflows that would not as a sum of products. (values.c) */
int sp_matrix_one_value(const spry_matrix *m);

/* The different values of a matrix while they are few. Code 0 stands for the
 * value 0, whether an entry has it or not. (values.c) */
enum {
    SP_PALETTE = 256,
    SP_PALETTE_BITS = 10,
    SP_PALETTE_PLACES = 1 << SP_PALETTE_BITS
};
typedef struct {
    int count; /* SP_PALETTE + 1: there are more */
    double value[SP_PALETTE];
    int16_t find[SP_PALETTE_PLACES]; /* 1 + code, by hash; 0: free */
} sp_palette;

/* Stops at the first value too many. */
void sp_palette_of(sp_palette *out, const spry_matrix *m);
/* The same, and the code of every entry's value: code[nnz] (codes.c). */
void sp_palette_codes(sp_palette *out, uint8_t *code, const spry_matrix *m,
                      int threads);
/* The code of a value, -1 when it is none of them. */
int sp_palette_code(const sp_palette *c, double v);

/* Is m its own transpose, values and all? SPRY_USAGE when not. (symmetric.c) */
spry_status sp_matrix_symmetric(const spry_matrix *m);
/* twin[k]: the entry in the mirror place of entry k. SPRY_USAGE when one is
 * missing; values are not looked at. */
spry_status sp_matrix_twins(int64_t *twin, const spry_matrix *m);

/* Nonempty aligned r x c blocks; 0 when they were not counted. */
int64_t sp_stats_count(const spry_stats *s, int r, int c);

/* Is a block with so many of its cells taken filled at least `percent`? */
static inline int sp_is_filled(int entries, int cells, int percent)
{
    return 100 * entries >= percent * cells;
}

/* What r x c blocks filled at least 25, 50 and 75 % hold, and what they leave
 * (tiles.c). Of more than 65536 entries an estimate. */
enum { SP_RESTS = 3, SP_TILE_MOST = 16 };
extern const int sp_rests[SP_RESTS];
typedef struct {
    int64_t blocks; /* that are filled so much */
    int64_t rest;   /* entries outside of them */
    int64_t rows;   /* that have some */
} sp_tiles;
void sp_matrix_tiles(sp_tiles out[SP_RESTS], const spry_matrix *m, int r,
                     int c);

#endif
