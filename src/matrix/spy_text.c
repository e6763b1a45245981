/* spy_text.c - the picture as Braille characters: 2 x 4 dots in each.
 *
 * A dot is a cell with entries. When most cells have some, that would be a
 * solid wall: then dots are dithered by how many. A character that covers an
 * entry always shows at least one dot. */
#include <math.h>

#include "matrix/spy.h"

enum { NARROWEST = 8, WIDEST = 400, ACROSS = 2, DOWN = 4 };

typedef struct {
    const sp_spy *p;
    int high, wide; /* dots */
    int crowded;
    double most; /* ink of the fullest cell */
} canvas;

static void survey(canvas *v)
{
    int used = 0;

    for (int r = 0; r < v->p->high; r++)
        for (int c = 0; c < v->p->wide; c++) {
            double ink = sp_spy_ink(v->p, r, c);

            used += ink > 0;
            v->most = fmax(v->most, ink);
        }
    v->crowded = 2 * used > v->p->high * v->p->wide;
}

/* Bayer's 4 x 4 thresholds. */
static const unsigned char bayer[4][4] = {
    {0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};

static int is_lit(const canvas *v, double ink, int y, int x)
{
    if (!v->crowded || ink == 0)
        return ink > 0;
    return pow(ink / v->most, 2) > (bayer[y % 4][x % 4] + 0.5) / 16;
}

/* Which bit of U+2800 is the dot in row y, column x of a character. */
static const unsigned char dot[DOWN][ACROSS] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

static unsigned pattern(const canvas *v, int top, int left)
{
    unsigned bits = 0, strongest = 0;
    double most = 0;

    for (int y = 0; y < DOWN; y++)
        for (int x = 0; x < ACROSS; x++) {
            double ink =
                sp_spy_pixel(v->p, top + y, left + x, v->high, v->wide);

            if (is_lit(v, ink, top + y, left + x))
                bits |= dot[y][x];
            if (ink > most) {
                most = ink;
                strongest = dot[y][x];
            }
        }
    return bits ? bits : strongest;
}

/* U+2800 + bits in UTF-8. */
static void add_braille(sp_buf *b, unsigned bits)
{
    char utf8[4] = {(char)0xe2, (char)(0xa0 | bits >> 6),
                    (char)(0x80 | (bits & 0x3f)), 0};

    sp_buf_add(b, utf8);
}

static void add_rule(sp_buf *b, const char *left, const char *right, int width)
{
    sp_buf_add(b, left);
    for (int k = 0; k < width; k++)
        sp_buf_add(b, "─");
    sp_buf_add(b, right);
}

static void draw(sp_buf *b, const canvas *v)
{
    add_rule(b, "┌", "┐\n", v->wide / ACROSS);
    for (int y = 0; y < v->high; y += DOWN) {
        sp_buf_add(b, "│");
        for (int x = 0; x < v->wide; x += ACROSS)
            add_braille(b, pattern(v, y, x));
        sp_buf_add(b, "│\n");
    }
    add_rule(b, "└", "┘\n", v->wide / ACROSS);
}

/* Dots are about square, so the picture keeps the matrix's shape; a tall
 * matrix is made narrower rather than longer than it is wide. */
spry_status spry_matrix_spy_text(char **out, const spry_stats *s, int width)
{
    SP_NEED_NEW(out, s);
    SP_REFUSE(width < 0, "a picture cannot be %d wide", width);

    sp_spy p = sp_spy_of(s);
    canvas v = {.p = &p};
    sp_buf b = {0};
    int dots;

    width = width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
    dots = (width - 2) * ACROSS;
    v.wide = (int)ceil(dots * p.width / ACROSS) * ACROSS;
    v.high = (int)ceil(dots * p.height / DOWN) * DOWN;
    survey(&v);
    draw(&b, &v);
    *out = sp_buf_steal(&b);
    return *out ? SPRY_OK : sp_fail_memory(b.len);
}
