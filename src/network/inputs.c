/* inputs.c - batches of inputs: sparse rows made dense, images made larger,
 * images made up. */
#include "spry/network.h"

#include <string.h>

#include "matrix/matrix.h"
#include "network/internal.h"

spry_status spry_inputs_dense(float *x, const spry_matrix *m, int64_t first,
                              int64_t count, int64_t width)
{
    SP_NEED(x, m);
    if (m->cols > width)
        return sp_fail(SPRY_USAGE,
                       "the inputs have %lld values each, the network takes "
                       "%lld",
                       (long long)m->cols, (long long)width);
    if (first < 0 || count < 0 || first > m->rows - count)
        return sp_fail(SPRY_USAGE, "there are only %lld inputs",
                       (long long)m->rows);
    memset(x, 0, (size_t)(count * width) * sizeof *x);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = m->start[first + i]; k < m->start[first + i + 1]; k++)
            x[i * width + sp_col(m, k)] = (float)sp_val(m, k);
    return SPRY_OK;
}

/* ---- more of them ---- */

spry_status spry_inputs_repeat(spry_matrix **out, const spry_matrix *m,
                               int64_t count)
{
    SP_NEED_NEW(out, m);
    int64_t whole = m->rows > 0 ? count / m->rows : 0;
    int64_t nnz = m->rows > 0 ? whole * m->nnz + m->start[count % m->rows] : 0;
    int64_t *start = sp_alloc_raw(count + 1, sizeof *start);
    int64_t *col = sp_alloc_raw(nnz, sizeof *col), at = 0;
    float *val = sp_alloc_raw(nnz, sizeof *val);
    spry_status s =
        start && col && val ? SPRY_OK : sp_fail_memory((size_t)nnz * 12);

    if (s == SPRY_OK && (m->rows < 1 || count < 1))
        s = sp_fail(SPRY_USAGE, "there are no inputs to repeat");
    for (int64_t i = 0; s == SPRY_OK && i < count; i++) {
        start[i] = at;
        for (int64_t k = m->start[i % m->rows]; k < m->start[i % m->rows + 1];
             k++, at++) {
            col[at] = sp_col(m, k);
            val[at] = (float)sp_val(m, k);
        }
    }
    if (s == SPRY_OK) {
        start[count] = at;
        s = spry_matrix_csr(out, count, m->cols, start, col, val, SPRY_I64,
                            SPRY_F32, SPRY_COPY);
    }
    sp_free(start);
    sp_free(col);
    sp_free(val);
    return s;
}

/* ---- larger ---- */

/* The side of the smallest image, a power of two, that holds the pixels. */
static int64_t side_of(int64_t pixels)
{
    int64_t side = 1;

    while (side < 1 << 20 && side * side < pixels)
        side *= 2;
    return side;
}

/* Pixel p of a square of `side` becomes times x times pixels. */
static int64_t repeat_pixel(int64_t *col, int64_t p, int64_t side,
                            int64_t times)
{
    int64_t top = p / side * times, left = p % side * times, at = 0;

    for (int64_t i = 0; i < times; i++)
        for (int64_t j = 0; j < times; j++)
            col[at++] = (top + i) * side * times + left + j;
    return at;
}

static spry_status repeat_all(spry_matrix **out, const spry_matrix *m,
                              int64_t side, int64_t times)
{
    int64_t nnz = m->nnz * times * times, at = 0;
    int64_t *row = sp_alloc_raw(nnz, sizeof *row);
    int64_t *col = sp_alloc_raw(nnz, sizeof *col);
    float *val = sp_alloc_raw(nnz, sizeof *val);
    spry_status s = SPRY_OK;

    if (!row || !col || !val)
        s = sp_fail_memory((size_t)nnz * 20);
    for (int64_t i = 0; s == SPRY_OK && i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            int64_t made = repeat_pixel(col + at, sp_col(m, k), side, times);

            for (int64_t end = at + made; at < end; at++) {
                row[at] = i;
                val[at] = (float)sp_val(m, k);
            }
        }
    if (s == SPRY_OK)
        s = spry_matrix_triples(out, m->rows, side * side * times * times, nnz,
                                row, col, val, SPRY_F32);
    sp_free(row);
    sp_free(col);
    sp_free(val);
    return s;
}

spry_status spry_inputs_enlarge(spry_matrix **out, const spry_matrix *m,
                                int64_t width)
{
    SP_NEED_NEW(out, m);
    int64_t side = side_of(m->cols), to = side_of(width);

    if (to * to != width || to < side)
        return sp_fail(SPRY_USAGE,
                       "images of %lld pixels cannot become %lld; a width "
                       "must be 4, 16, 64... times as large",
                       (long long)(side * side), (long long)width);
    return repeat_all(out, m, side, to / side);
}

/* ---- made up: a pen that wanders ---- */

enum { SHARE = 106, OF = 1024 }; /* pixels set, on average */

typedef struct {
    unsigned char *pixel; /* [side * side] */
    int64_t side, set;
} canvas;

/* A dot of the pen: about a sixteenth of the side across. */
static void dab(canvas *c, int64_t y, int64_t x)
{
    int64_t thick = c->side / 16 > 0 ? c->side / 16 : 1;

    for (int64_t i = y; i < y + thick && i < c->side; i++)
        for (int64_t j = x; j < x + thick && j < c->side; j++) {
            c->set += !c->pixel[i * c->side + j];
            c->pixel[i * c->side + j] = 1;
        }
}

/* From a place in the middle, mostly straight on, until enough is set; held
 * off the edge like a written digit. */
static void draw_stroke(canvas *c, int64_t enough, sp_rng *r)
{
    static const int step[8][2] = {{0, 1},  {1, 1},   {1, 0},  {1, -1},
                                   {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}};
    int64_t margin = c->side / 8, inside = c->side - 2 * margin;
    int64_t y = margin + (int64_t)sp_rng_below(r, (uint64_t)inside);
    int64_t x = margin + (int64_t)sp_rng_below(r, (uint64_t)inside);
    unsigned heading = (unsigned)sp_rng_below(r, 8);

    while (c->set < enough) {
        uint64_t turn = sp_rng_below(r, 6);

        heading = (heading + (turn == 0 ? 1 : turn == 1 ? 7 : 0)) % 8;
        if (y + step[heading][0] < margin || x + step[heading][1] < margin ||
            y + step[heading][0] >= margin + inside ||
            x + step[heading][1] >= margin + inside) {
            heading = (heading + 3) % 8;
            continue;
        }
        y += step[heading][0];
        x += step[heading][1];
        dab(c, y, x);
    }
}

/* Between half and one and a half times the usual share. */
static int64_t pixels_wanted(int64_t width, sp_rng *r)
{
    int64_t usual = width * SHARE / OF;

    return usual / 2 + (int64_t)sp_rng_below(r, (uint64_t)usual + 1);
}

static spry_status draw_images(spry_matrix **out, canvas *c, int64_t *start,
                               int64_t *col, int64_t count, uint64_t seed)
{
    int64_t width = c->side * c->side, at = 0;

    for (int64_t i = 0; i < count; i++) {
        sp_rng r = sp_net_stream(seed, 0, i);

        c->set = 0;
        memset(c->pixel, 0, (size_t)width);
        draw_stroke(c, pixels_wanted(width, &r), &r);
        start[i] = at;
        for (int64_t p = 0; p < width; p++)
            if (c->pixel[p])
                col[at++] = p;
    }
    start[count] = at;
    return spry_matrix_csr(out, count, width, start, col, NULL, SPRY_I64,
                           SPRY_F32, SPRY_COPY);
}

spry_status spry_inputs_strokes(spry_matrix **out, int64_t count, int64_t width,
                                uint64_t seed)
{
    SP_NEED_NEW(out);

    canvas c = {.side = side_of(width)};
    int64_t *start, *col;
    spry_status s;

    if (c.side * c.side != width || c.side < 8 || width > INT32_MAX)
        return sp_fail(SPRY_USAGE,
                       "pen strokes fill squares of 8 x 8, 16 x 16, 32 x 32... "
                       "pixels, not %lld; name a file of inputs",
                       (long long)width);
    if (count < 1 || count > INT32_MAX)
        return sp_fail(SPRY_USAGE, "%lld inputs cannot be drawn",
                       (long long)count);
    c.pixel = sp_alloc(width, 1);
    start = sp_alloc(count + 1, sizeof *start);
    col = sp_alloc_raw(count * (width / 4), sizeof *col);
    if (c.pixel && start && col)
        s = draw_images(out, &c, start, col, count, seed);
    else
        s = sp_fail_memory((size_t)(count * width));
    sp_free(c.pixel);
    sp_free(start);
    sp_free(col);
    return s;
}
