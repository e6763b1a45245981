/* tiling.h - how the pixels of a result are cut into tiles and the channels
 * into blocks: for gemm and direct convolutions alike.
 *
 * Results lie in `images` x `height` lines of `width` pixels; every line is
 * cut alike, into tiles as even as can be: 17 pixels are 6 + 6 + 5. Tiles are
 * numbered along lines; a thread has a range of them. */
#ifndef SP_DENSE_TILING_H
#define SP_DENSE_TILING_H

#include "dense/core.h"

/* A tap that reaches over the edge for some pixels [low, high) only. */
typedef struct {
    int64_t tap;
    int low, high;
} sp_edge_tap;

/* One tile of a line. */
typedef struct {
    int64_t at;       /* its first pixel */
    int mr;           /* pixels */
    int edges;        /* taps that are not inside for all pixels, */
    int first_edge;   /* in the list of edges */
    int64_t from, to; /* taps that are inside for all pixels */
    int run;          /* tiles from here on that are like this one: same
                         width, no edges */
} sp_tile_place;

typedef struct sp_tiling {
    int64_t images, height, width; /* of the result */
    int64_t in_image, in_line, in_pixel, out_image, out_line, out_pixel;
    int64_t step_h,
        step_w;        /* input lines, pixels from one result to the next */
    int64_t top, left; /* padding */
    int64_t pitch;     /* of the input's pixels */
    int64_t taps_h, taps_w, tap_line, tap_pixel; /* floats between taps */
    int64_t h, w;                                /* of the input */
    int64_t dilate_h, dilate_w;
    int64_t groups, c, k; /* of a group */
    int joined;           /* taps side by side are one run of numbers */

    int nr;         /* channels of a whole block */
    int64_t blocks; /* of a group */
    /* Floats of packed weights: of a depthwise tap, of a group, of one
     * product of a batch. */
    int64_t w_tap, w_group, w_image;
    int tiles;           /* of a line */
    sp_tile_place *tile; /* [tiles] */
    sp_edge_tap *edge;
    int64_t *cut; /* [threads + 1] tiles, lines or blocks of each share */
    sp_finish finish;
} sp_tiling;

/* Geometry of p, tiles of at most mr pixels, v vectors of channels. */
spry_status sp_tiling_make(sp_tiling **out, const sp_dense_core *p);
void sp_tiling_free(sp_tiling *t);

/* Channels of block i, and the vectors of its kernel. */
int64_t sp_tiling_keep(const sp_tiling *t, int64_t block);
int sp_tiling_vectors(const sp_tiling *t, int64_t block, int lanes);

/* What becomes of sums, as op says (tiling.c). */
sp_finish sp_finish_of(const spry_operator *op);

#endif
