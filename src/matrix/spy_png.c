/* spy_png.c - the picture as PNG (RFC 2083): a palette of 16, one chunk. Pages
 * hold many: more shades would make it three times as large.
 *
 *     margin, a thin frame, inside it the cells */
#include "matrix/spy.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

enum { LONGER = 512, MARGIN = 8, COLOURS = 16 };
enum { FRAME = COLOURS - 1, SHADES = COLOURS - 2 };

typedef struct {
    int high, wide;       /* the cells' pixels */
    int rows, columns;    /* with margins and frame */
    unsigned char *pixel; /* [rows][columns] */
} image;

/* Whole pixels per cell where the side has fewer cells than pixels. */
static int side(double length, int cells)
{
    int pixels = (int)lround(length * LONGER), each = pixels / cells;

    return each > 1 ? each * cells : pixels;
}

static unsigned char *line(const image *m, int y)
{
    return m->pixel + (size_t)y * (size_t)m->columns;
}

/* The frame lies one pixel outside the cells. */
static void draw_frame(const image *m)
{
    int low = MARGIN - 1, bottom = MARGIN + m->high;

    memset(line(m, low) + low, FRAME, (size_t)m->wide + 2);
    memset(line(m, bottom) + low, FRAME, (size_t)m->wide + 2);
    for (int y = low; y <= bottom; y++) {
        line(m, y)[low] = FRAME;
        line(m, y)[MARGIN + m->wide] = FRAME;
    }
}

static void draw_cells(const image *m, const sp_spy *p)
{
    for (int y = 0; y < m->high; y++)
        for (int x = 0; x < m->wide; x++) {
            double ink = sp_spy_pixel(p, y, x, m->high, m->wide);

            line(m, MARGIN + y)[MARGIN + x] = (unsigned char)ceil(ink * SHADES);
        }
}

static void add_word(sp_buf *b, uint32_t x)
{
    unsigned char byte[4] = {(unsigned char)(x >> 24), (unsigned char)(x >> 16),
                             (unsigned char)(x >> 8), (unsigned char)x};

    sp_buf_bytes(b, byte, sizeof byte);
}

/* length, name, data, CRC of name and data */
static void add_chunk(sp_buf *b, const char name[4], const void *data,
                      uint32_t n)
{
    uLong crc = crc32(0, (const Bytef *)name, 4);

    if (n > 0)
        crc = crc32(crc, data, n);
    add_word(b, n);
    sp_buf_bytes(b, name, 4);
    sp_buf_bytes(b, data, n);
    add_word(b, (uint32_t)crc);
}

static void add_header(sp_buf *b, const image *m)
{
    unsigned char header[13] = {0};

    header[2] = (unsigned char)(m->columns >> 8);
    header[3] = (unsigned char)m->columns;
    header[6] = (unsigned char)(m->rows >> 8);
    header[7] = (unsigned char)m->rows;
    header[8] = 4; /* bits */
    header[9] = 3; /* palette */
    sp_buf_bytes(b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(b, "IHDR", header, sizeof header);
}

static void add_palette(sp_buf *b)
{
    unsigned char colour[COLOURS][3];

    for (int k = 0; k <= SHADES; k++)
        sp_spy_colour(colour[k], k / (double)SHADES);
    memset(colour[FRAME], 150, sizeof colour[FRAME]);
    add_chunk(b, "PLTE", colour, sizeof colour);
}

/* Two pixels to a byte, in lines that begin with the number of no filter. */
static unsigned char *pack_lines(uLong *length, const image *m)
{
    size_t each = 1 + ((size_t)m->columns + 1) / 2;
    unsigned char *out = sp_alloc(m->rows, each);

    for (int y = 0; out && y < m->rows; y++)
        for (int x = 0; x < m->columns; x++)
            out[(size_t)y * each + 1 + (size_t)x / 2] |=
                (unsigned char)(line(m, y)[x] << (x % 2 ? 0 : 4));
    *length = (uLong)((size_t)m->rows * each);
    return out;
}

static spry_status add_pixels(sp_buf *b, const image *m)
{
    uLong n;
    unsigned char *lines = pack_lines(&n, m);
    uLongf packed = compressBound(n);
    unsigned char *data = sp_alloc_raw((int64_t)packed, 1);
    int good = lines && data && compress2(data, &packed, lines, n, 9) == Z_OK;

    if (good)
        add_chunk(b, "IDAT", data, (uint32_t)packed);
    sp_free(lines);
    sp_free(data);
    return good ? SPRY_OK : sp_fail_memory(packed);
}

spry_status sp_spy_png(sp_buf *b, const sp_spy *p)
{
    image m = {.high = side(p->height, p->high),
               .wide = side(p->width, p->wide)};
    spry_status s;

    m.rows = m.high + 2 * MARGIN;
    m.columns = m.wide + 2 * MARGIN;
    m.pixel = sp_alloc((int64_t)m.rows * m.columns, 1);
    if (!m.pixel)
        return sp_fail_memory((size_t)m.rows * (size_t)m.columns);
    draw_frame(&m);
    draw_cells(&m, p);
    add_header(b, &m);
    add_palette(b);
    s = add_pixels(b, &m);
    add_chunk(b, "IEND", "", 0);
    sp_free(m.pixel);
    return s;
}
