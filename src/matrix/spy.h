/* spy.h - pictures of a pattern, all drawn from the density map.
 *
 * Ink grows with the logarithm of the share of a cell that is filled: black
 * is full, one entry in a cell of any size can still be seen. */
#ifndef SP_MATRIX_SPY_H
#define SP_MATRIX_SPY_H

#include "base/base.h"
#include "spry/matrix.h"

/* Cells in use and the matrix's shape as a picture: the longer side is 1,
 * the shorter one at least 1/8 so that it can be seen. */
typedef struct {
    const spry_stats *stats;
    int high, wide;       /* cells, at least 1 each */
    double height, width; /* of the picture, the longer 1 */
    double full;          /* log(1 + places in a cell) */
} sp_spy;

sp_spy sp_spy_of(const spry_stats *s);
/* 0 for no entry, else 0.35 .. 1. */
double sp_spy_ink(const sp_spy *p, int row, int col);
/* The most ink among cells that meet pixel (y, x) of a h x w picture. */
double sp_spy_pixel(const sp_spy *p, int y, int x, int h, int w);
/* The colour of ink: white, then light to dark blue. */
void sp_spy_colour(unsigned char rgb[3], double ink);

/* The whole file into b. */
spry_status sp_spy_png(sp_buf *b, const sp_spy *p);
spry_status sp_spy_svg(sp_buf *b, const sp_spy *p);

#endif
