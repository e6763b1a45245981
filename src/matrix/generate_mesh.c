/* generate_mesh.c - matrices with a regular shape: bands, diagonals, arrows
 * and the neighbours of points on a grid. */
#include "matrix/generate.h"

#include <math.h>

enum { SORT_OFFSETS = 16 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- banded: at random, close to the diagonal ---- */

static spry_status banded_prepare(sp_gen *g)
{
    spry_status s = sp_gen_shape(g);

    if (s == SPRY_OK)
        s = sp_gen_whole(g, "band", 0, 0x1p53);
    if (s == SPRY_OK)
        s = sp_gen_range(g, "density", 0, 1);
    if (s != SPRY_OK)
        return s;
    g->widest = smaller(2 * sp_gen_count(g, "band") + 1, g->cols);
    return sp_gen_entries(g, (double)g->rows * (double)g->widest *
                                 sp_gen_real(g, "density"));
}

/* `density` of the columns in [i - band, i + band], at random. */
static int64_t banded_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t band = sp_gen_count(g, "band");
    int64_t first = larger(i - band, 0), last = smaller(i + band, g->cols - 1);
    int64_t width = larger(last - first + 1, 0), n;

    n = llround((double)width * sp_gen_real(g, "density"));
    if (n > 0)
        sp_gen_choose(w, width, n, NULL);
    for (int64_t k = 0; k < n; k++)
        w->col[k] += first;
    return n;
}

const sp_generator sp_generator_banded = {
    "banded",
    "entries at random within `band` of the diagonal",
    "rows=10k cols=rows band=16 density=0.5" SP_GEN_COMMON,
    banded_prepare,
    banded_row,
    0,
};

/* ---- diagonals: a few full ones ---- */

/* The main diagonal and count - 1 others within +-spread: the table. */
static spry_status draw_offsets(sp_gen *g, int64_t count, int64_t spread)
{
    sp_gen_row w = {.rng = sp_gen_stream(g, SORT_OFFSETS, 0)};
    spry_status s = sp_gen_row_open(&w, 2 * spread, count);

    if (s == SPRY_OK) {
        sp_gen_choose(&w, 2 * spread, count - 1, NULL);
        for (int64_t k = 0; k < count - 1; k++)
            w.col[k] -= w.col[k] < spread ? spread : spread - 1;
        w.col[count - 1] = 0;
        g->tables = sp_gen_sort_unique(&w, count);
        g->table = w.col;
        w.col = NULL;
    }
    sp_gen_row_close(&w);
    return s;
}

static spry_status diagonals_prepare(sp_gen *g)
{
    spry_status s = sp_gen_shape(g);
    int64_t spread = (g->cols - 1) / 2;

    if (s == SPRY_OK && sp_gen_origin(g, "spread") == SP_GIVEN) {
        s = sp_gen_whole(g, "spread", 0, (double)g->cols - 1);
        spread = sp_gen_count(g, "spread");
    }
    if (s == SPRY_OK)
        s = sp_gen_whole(g, "count", 1, 2 * (double)spread + 1);
    if (s == SPRY_OK)
        s = sp_gen_entries(g, (double)g->rows * sp_gen_real(g, "count"));
    if (s != SPRY_OK)
        return s;
    g->widest = sp_gen_count(g, "count");
    return draw_offsets(g, g->widest, spread);
}

static int64_t diagonals_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t n = 0;

    for (int64_t k = 0; k < g->tables; k++) {
        int64_t j = i + g->table[k];

        if (j >= 0 && j < g->cols)
            w->col[n++] = j;
    }
    return n;
}

const sp_generator sp_generator_diagonals = {
    "diagonals",
    "the main diagonal and others within +-spread, all full",
    "rows=10k cols=rows count=11 spread=auto" SP_GEN_COMMON,
    diagonals_prepare,
    diagonals_row,
    0,
};

/* ---- arrow: full first rows and columns, and a diagonal ---- */

static spry_status arrow_prepare(sp_gen *g)
{
    spry_status s = sp_gen_shape(g);
    double full, rest; /* at most, in full rows and in the others */

    if (s == SPRY_OK)
        s = sp_gen_whole(g, "head", 0, (double)g->cols);
    if (s == SPRY_OK)
        s = sp_gen_whole(g, "band", 0, 0x1p53);
    if (s != SPRY_OK)
        return s;
    g->widest = g->cols;
    full = fmin(sp_gen_real(g, "head"), (double)g->rows) * (double)g->cols;
    rest = sp_gen_real(g, "head") + 2 * sp_gen_real(g, "band") + 1;
    rest = fmin(rest, (double)g->cols) * (double)g->rows;
    return sp_gen_entries(g, full + rest);
}

static int64_t arrow_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t head = sp_gen_count(g, "head"), band = sp_gen_count(g, "band");
    int64_t last = smaller(i + band, g->cols - 1), n = 0;

    if (i < head) {
        head = g->cols;
        last = -1;
    }
    for (int64_t j = 0; j < head; j++)
        w->col[n++] = j;
    for (int64_t j = larger(i - band, head); j <= last; j++)
        w->col[n++] = j;
    return n;
}

const sp_generator sp_generator_arrow = {
    "arrow",
    "`head` full rows and columns, and a band around the diagonal",
    "rows=10k cols=rows head=1 band=0" SP_GEN_COMMON,
    arrow_prepare,
    arrow_row,
    0,
};

/* ---- stencils: a point and its neighbours on a grid ---- */

static spry_status grid_prepare(sp_gen *g, const char *const *axes, int count)
{
    spry_status s = SPRY_OK;
    double points = 1;

    for (int k = 0; k < count && s == SPRY_OK; k++) {
        s = sp_gen_whole(g, axes[k], 1, 0x1p40);
        points *= sp_gen_real(g, axes[k]);
    }
    if (s == SPRY_OK)
        s = sp_gen_entries(g, points);
    if (s == SPRY_OK)
        g->rows = g->cols = (int64_t)points;
    return s;
}

static spry_status stencil5_prepare(sp_gen *g)
{
    static const char *const axes[] = {"nx", "ny"};

    g->widest = 5;
    return grid_prepare(g, axes, 2);
}

/* Point (x, y) is row y nx + x. */
static int64_t stencil5_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t nx = sp_gen_count(g, "nx"), x = i % nx, n = 0;

    if (i >= nx)
        w->col[n++] = i - nx;
    if (x > 0)
        w->col[n++] = i - 1;
    w->col[n++] = i;
    if (x + 1 < nx)
        w->col[n++] = i + 1;
    if (i + nx < g->rows)
        w->col[n++] = i + nx;
    return n;
}

const sp_generator sp_generator_stencil5 = {
    "stencil5",
    "a point of a 2-D grid and its 4 neighbours; nx ny rows",
    "nx=100 ny=nx" SP_GEN_COMMON,
    stencil5_prepare,
    stencil5_row,
    0,
};

static spry_status stencil27_prepare(sp_gen *g)
{
    static const char *const axes[] = {"nx", "ny", "nz"};

    g->widest = 27;
    return grid_prepare(g, axes, 3);
}

/* Point (x, y, z) is row (z ny + y) nx + x. */
static int64_t stencil27_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t nx = sp_gen_count(g, "nx"), ny = sp_gen_count(g, "ny");
    int64_t nz = sp_gen_count(g, "nz"), n = 0;
    int64_t x = i % nx, y = i / nx % ny, z = i / nx / ny;

    for (int64_t c = larger(z - 1, 0); c <= smaller(z + 1, nz - 1); c++)
        for (int64_t b = larger(y - 1, 0); b <= smaller(y + 1, ny - 1); b++)
            for (int64_t a = larger(x - 1, 0); a <= smaller(x + 1, nx - 1); a++)
                w->col[n++] = (c * ny + b) * nx + a;
    return n;
}

const sp_generator sp_generator_stencil27 = {
    "stencil27",
    "a point of a 3-D grid and its 26 neighbours; nx ny nz rows",
    "nx=32 ny=nx nz=ny" SP_GEN_COMMON,
    stencil27_prepare,
    stencil27_row,
    0,
};
