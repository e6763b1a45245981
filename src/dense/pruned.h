/* pruned.h - sparse weights times pixels: what the kernels of all instruction
 * sets take.
 *
 * A convolution is a product of a sparse matrix, a row for each output
 * channel and a column for each tap and input channel, with a tile of pixels:
 * `v` vectors of them beside each other in every column. Of rows of the same
 * length the ends of their loops are foreseen, so rows of a group are sorted
 * by it. A single pixel needs no vectors: its columns are numbers, as they
 * are. */
#ifndef SP_DENSE_PRUNED_H
#define SP_DENSE_PRUNED_H

#include "dense/tile.h"

enum {
    SP_PRUNED_V = 8,
    SP_PRUNED_MR = 2,
    SP_PRUNED_GROUP = 64,  /* channels whose nonzeros are packed together */
    SP_PRUNED_CHUNK = 512, /* whose sums stay in the cache over all blocks */
    SP_PRUNED_PIXELS = SP_PRUNED_V * 16
};

typedef struct {
    float w;
    int32_t at; /* floats from the tile's first to those it is for */
} sp_nonzero;

/* `rows` of them, of `length` nonzeros each. */
typedef struct {
    int32_t length, rows;
} sp_pruned_run;

/* The nonzeros of a group of channels in a block of columns: the first run,
 * row and nonzero. */
typedef struct {
    int64_t run, row, nonzero;
} sp_pruned_at;

/* Packed weights begin so; arrays follow, so many bytes from here. */
typedef struct {
    int64_t c, columns, block, blocks; /* columns: [taps][c] */
    int64_t k, groups;
    int64_t part; /* sp_pruned_at [blocks][groups] and an end */
    int64_t run, row, nonzero;
    int64_t zeros; /* float [c]: a pixel outside of the image */
    int64_t cut;   /* int64_t [shares + 1] groups, when channels are split */
} sp_pruned_head;

typedef struct {
    const sp_pruned_run *run;
    int64_t runs;
    const int32_t *row; /* of each: where it is in sums */
    const sp_nonzero *nonzero;
    const float *in; /* [columns][pitch] */
    float *sums;     /* [rows][pitch] */
    int64_t pitch;
    int first; /* sums begin at 0 */
    int far;   /* nonzeros are not in a cache yet */
} sp_pruned_sweep;

/* Sums of `keep` channels and of `pixels` to where they belong. */
typedef struct {
    const float *sums; /* [keep, padded][pitch] */
    int64_t pitch, keep;
    int pixels;
    const int64_t *place; /* of each pixel, in out and add */
    float *out;
    const float *add, *bias; /* NULL: none; bias is padded */
    const sp_finish *f;
} sp_pruned_out;

typedef struct {
    int lanes;
    /* [sets of sums that take turns][vectors]; NULL: too many registers. */
    void (*sweep[SP_PRUNED_MR + 1][SP_PRUNED_V + 1])(const sp_pruned_sweep *p);
    void (*single)(const sp_pruned_sweep *p); /* one pixel: pitch is 1 */
    /* Channels [from, to) of `vectors` of pixels to out[to - from][pitch]. */
    void (*turn)(float *out, int64_t pitch, const float *const *pixel,
                 int vectors, int64_t from, int64_t to);
    void (*put)(const sp_pruned_out *o);
} sp_pruned_set;

/* Floats from a column to the next, of a tile of v vectors. */
static inline int64_t sp_pruned_pitch(const sp_pruned_set *set, int64_t pixels,
                                      int v)
{
    return pixels == 1 ? 1 : (int64_t)v * set->lanes;
}

#endif
