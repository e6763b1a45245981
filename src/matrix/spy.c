/* spy.c - from statistics to a picture file, by the name's ending. */
#include "matrix/spy.h"

#include <math.h>
#include <string.h>

#include "matrix/stats.h"

enum { THINNEST = 8 };
static const double faintest = 0.35;

static const struct {
    const char *ending;
    spry_status (*draw)(sp_buf *b, const sp_spy *p);
} pictures[] = {{".png", sp_spy_png}, {".svg", sp_spy_svg}};
enum { PICTURES = sizeof pictures / sizeof pictures[0] };

sp_spy sp_spy_of(const spry_stats *s)
{
    double rows = s->rows > 0 ? (double)s->rows : 1;
    double cols = s->cols > 0 ? (double)s->cols : 1;
    double longer = fmax(rows, cols);
    sp_spy p = {.stats = s};

    p.high = s->rows > 0 ? sp_stats_cells(s->rows) : 1;
    p.wide = s->cols > 0 ? sp_stats_cells(s->cols) : 1;
    p.height = fmax(rows / longer, 1.0 / THINNEST);
    p.width = fmax(cols / longer, 1.0 / THINNEST);
    p.full = log1p(rows / p.high * (cols / p.wide));
    return p;
}

double sp_spy_ink(const sp_spy *p, int row, int col)
{
    double count = (double)p->stats->density[row][col];

    if (!(count > 0))
        return 0;
    return fmin(faintest + (1 - faintest) * log1p(count) / p->full, 1);
}

double sp_spy_pixel(const sp_spy *p, int y, int x, int h, int w)
{
    int bottom = ((y + 1) * p->high + h - 1) / h;
    int right = ((x + 1) * p->wide + w - 1) / w;
    double most = 0;

    for (int r = y * p->high / h; r < bottom; r++)
        for (int c = x * p->wide / w; c < right; c++)
            most = fmax(most, sp_spy_ink(p, r, c));
    return most;
}

/* Straight lines between four colours. */
void sp_spy_colour(unsigned char rgb[3], double ink)
{
    static const double stops[][3] = {
        {255, 255, 255}, {158, 197, 232}, {44, 108, 176}, {8, 24, 66}};
    double at = ink * 3;
    int k = at >= 2 ? 2 : (int)at;

    for (int c = 0; c < 3; c++)
        rgb[c] = (unsigned char)lround(
            stops[k][c] + (at - k) * (stops[k + 1][c] - stops[k][c]));
}

static int ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);

    return n > k && strcmp(path + n - k, ending) == 0;
}

spry_status spry_matrix_spy(const spry_stats *s, const char *path)
{
    SP_NEED(s, path);

    sp_spy p = sp_spy_of(s);
    sp_buf b = {0};
    spry_status status;
    int k = 0;

    while (k < PICTURES && !ends_with(path, pictures[k].ending))
        k++;
    if (k == PICTURES)
        return sp_fail(SPRY_USAGE, "%s: a picture's name ends in .png or .svg",
                       path);
    status = pictures[k].draw(&b, &p);
    if (status == SPRY_OK && b.failed)
        status = sp_fail_memory(b.len);
    if (status == SPRY_OK)
        status = sp_file_write(path, b.data, b.len);
    sp_buf_free(&b);
    return status;
}
