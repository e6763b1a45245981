/* tile.h - tiles of sums: what the kernels of all instruction sets take.
 *
 * A tile is mr pixels (or rows of a product) times v vectors of channels,
 * summed in registers. */
#ifndef SP_DENSE_TILE_H
#define SP_DENSE_TILE_H

#include <stdint.h>

#include "spry/operator.h"

enum { SP_TILE_MR = 16, SP_TILE_V = 8, SP_TILE_LINE = 16 /* floats */ };

/* What becomes of sums. Clamping is done in registers; curves, and what is
 * added behind them, on what was just stored. */
typedef struct {
    float low, high;
    int clamps, curved;
    spry_act act;
    float alpha, beta;
    int adds_before, adds_after;
} sp_finish;

typedef struct {
    const float *in;   /* first tap of the first pixel */
    int64_t pixel;     /* floats from a pixel of a tile to the next */
    int64_t rows, row; /* taps below each other, floats between them */
    int64_t cols, col; /* taps side by side, the same */
    int64_t length;    /* numbers of one tap */
    const float *w;    /* [rows][cols][length][v lanes], at these distances */
    int64_t w_row, w_col;
    float *sums; /* [mr][v lanes] to go on from, or to leave, */
    int first;   /* unless they begin at 0 */
    int last;    /* and unless they are done: */
    float *out;
    int64_t pitch;
    const float *add, *bias; /* NULL: none */
    int64_t keep;            /* channels that are results */
    const sp_finish *f;
    int64_t tiles; /* side by side */
    /* Weights or input needed next: a line of the cache is fetched for each
     * term of a sum, line `fetched` first; below 0: not yet. */
    const float *next;
    int64_t fetched, lines;
} sp_tile;

typedef void sp_tile_kernel(const sp_tile *t);

typedef struct {
    int lanes;
    /* [v][mr]; NULL: too many registers. */
    sp_tile_kernel *tile[SP_TILE_V + 1][SP_TILE_MR + 1];
} sp_tile_set;

/* ---- depthwise ---- */

enum { SP_DEPTHWISE_MR = 12 };

/* Tiles below each other. */
typedef struct {
    const float *in;   /* the first input pixel of the tile, there or not */
    int64_t pitch;     /* floats between input pixels */
    int64_t rows, row; /* filter lines that are inside, floats between them */
    int64_t low, high; /* input pixels that are there */
    const float *w;    /* [rows][s][channels, padded] */
    int64_t w_tap;     /* floats of one tap */
    const float *bias; /* padded; NULL: none */
    const float *add;  /* NULL: none */
    float *out;
    int64_t pitch_out, channels;
    int64_t tiles, in_tile, out_tile; /* how many, floats between them */
    int fetch;                        /* the input of the next one meanwhile */
    const sp_finish *f;
} sp_depthwise;

/* Where a tile reaches over the edge of a line: nowhere, by half a filter at
 * most, or anyhow. */
typedef enum {
    SP_OVERHANG_NONE,
    SP_OVERHANG_HALF,
    SP_OVERHANG_ANY,
    SP_OVERHANGS
} sp_overhang;

typedef void sp_depthwise_kernel(const sp_depthwise *d);

typedef struct {
    /* [s / 2][stride][pixels][overhang] */
    sp_depthwise_kernel *tile[3][3][SP_DEPTHWISE_MR + 1][SP_OVERHANGS];
} sp_depthwise_set;

/* ---- Winograd ---- */

typedef struct {
    float *out[4]; /* NULL: outside of the image */
    const float *add[4], *bias;
    int64_t keep; /* channels */
    const sp_finish *f;
} sp_winograd_out;

typedef struct {
    void (*in)(float *out, int64_t skip, const float *const pixel[16],
               int64_t channels);
    void (*out)(const sp_winograd_out *o, const float *in, int64_t skip);
} sp_winograd_set;

#endif
