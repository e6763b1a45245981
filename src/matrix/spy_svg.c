/* spy_svg.c - the picture as SVG: cells are rectangles, runs of equal ink in
 * a row one rectangle, all of one shade in one group. */
#include "matrix/spy.h"

#include <math.h>

enum { LONGER = 512, MARGIN = 8, CAPTION = 24, SHADES = 16 };

/* 0 for no entry, else 1 .. SHADES. */
static int shade(const sp_spy *p, int row, int col)
{
    return (int)ceil(sp_spy_ink(p, row, col) * SHADES);
}

static int run_length(const sp_spy *p, int row, int col, int level)
{
    int n = 0;

    while (col + n < p->wide && shade(p, row, col + n) == level)
        n++;
    return n;
}

/* The group opens at its first rectangle: a shade not used leaves nothing. */
static void add_shade(sp_buf *b, const sp_spy *p, int level)
{
    unsigned char rgb[3];
    int opened = 0;

    sp_spy_colour(rgb, (double)level / SHADES);
    for (int r = 0; r < p->high; r++)
        for (int c = 0; c < p->wide; c++) {
            int n = run_length(p, r, c, level);

            if (n == 0)
                continue;
            if (!opened++)
                sp_buf_printf(b, "<g fill=\"#%02x%02x%02x\">\n", rgb[0], rgb[1],
                              rgb[2]);
            sp_buf_printf(b,
                          "<rect x=\"%d\" y=\"%d\" width=\"%d\" "
                          "height=\"1\"/>\n",
                          c, r, n);
            c += n;
        }
    if (opened)
        sp_buf_add(b, "</g>\n");
}

static void add_head(sp_buf *b, const sp_spy *p, int w, int h)
{
    const spry_stats *s = p->stats;

    sp_buf_printf(b,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                  "height=\"%d\">\n<title>%lld x %lld, %lld entries</title>\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                  w + 2 * MARGIN, h + 2 * MARGIN + CAPTION, (long long)s->rows,
                  (long long)s->cols, (long long)s->nnz);
    sp_buf_printf(b,
                  "<text x=\"%d\" y=\"%d\" font-family=\"sans-serif\" "
                  "font-size=\"13\" fill=\"#444\">%lld × %lld, %lld "
                  "entries</text>\n",
                  MARGIN, h + 2 * MARGIN + 12, (long long)s->rows,
                  (long long)s->cols, (long long)s->nnz);
}

spry_status sp_spy_svg(sp_buf *b, const sp_spy *p)
{
    int w = (int)lround(p->width * LONGER), h = (int)lround(p->height * LONGER);

    add_head(b, p, w, h);
    sp_buf_printf(b,
                  "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                  "shape-rendering=\"crispEdges\">\n",
                  MARGIN, MARGIN, w, h, p->wide, p->high);
    for (int level = 1; level <= SHADES; level++)
        add_shade(b, p, level);
    sp_buf_printf(b,
                  "</svg>\n<rect x=\"%d.5\" y=\"%d.5\" width=\"%d\" "
                  "height=\"%d\" fill=\"none\" stroke=\"#969696\"/>\n</svg>\n",
                  MARGIN - 1, MARGIN - 1, w + 1, h + 1);
    return SPRY_OK;
}
