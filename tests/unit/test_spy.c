/* test_spy.c - pictures: well formed, and true to the pattern. */
#include "check.h"
#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "matrix/spy.h"
#include "spry/matrix.h"

enum { MARGIN = 8, FRAME = 15, SIDE = 1024 };

static spry_stats stats = {.size = sizeof stats};

static void know(const char *spec)
{
    spry_matrix *m;

    check_ok(spry_matrix_generate(&m, spec, 1));
    check_ok(spry_matrix_stats(&stats, m));
    spry_matrix_free(m);
}

static uint32_t word(const char *at)
{
    const unsigned char *p = (const unsigned char *)at;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

typedef struct {
    int wide, high;
    size_t bytes; /* of the file */
    unsigned char
        line[SIDE * SIDE]; /* two pixels a byte behind a filter byte */
} image;

static int line_bytes(const image *m)
{
    return 1 + (m->wide + 1) / 2;
}

/* Read back a PNG as spry writes it: every chunk's CRC is checked. */
static void png_parse(image *out, const sp_buf *b)
{
    uLongf n = sizeof out->line;
    size_t at = 8;

    memset(out, 0, sizeof *out);
    assert_memory_equal(b->data, "\x89PNG\r\n\x1a\n", 8);
    while (at < b->len) {
        const char *chunk = b->data + at;
        uint32_t len = word(chunk);

        assert_int_equal(word(chunk + 8 + len),
                         crc32(0, (const Bytef *)chunk + 4, len + 4));
        if (memcmp(chunk + 4, "IHDR", 4) == 0) {
            out->wide = (int)word(chunk + 8);
            out->high = (int)word(chunk + 12);
        }
        if (memcmp(chunk + 4, "IDAT", 4) == 0)
            assert_int_equal(
                uncompress(out->line, &n, (const Bytef *)chunk + 8, len), Z_OK);
        at += 12 + len;
    }
    assert_int_equal(at, b->len);
    assert_memory_equal(b->data + b->len - 8, "IEND", 4);
    assert_int_equal(n, out->high * line_bytes(out));
    out->bytes = b->len;
}

static int pixel(const image *m, int y, int x)
{
    return m->line[y * line_bytes(m) + 1 + x / 2] >> (x % 2 ? 0 : 4) & 15;
}

/* Pixels with ink inside the frame. */
static int inked(const image *m)
{
    int n = 0;

    for (int y = MARGIN; y < m->high - MARGIN; y++)
        for (int x = MARGIN; x < m->wide - MARGIN; x++)
            n += pixel(m, y, x) > 0;
    return n;
}

static void png_shows_the_pattern(void **state)
{
    static image m;
    sp_buf b = {0};
    sp_spy p;

    (void)state;
    know("diagonals rows=4 count=1");
    p = sp_spy_of(&stats);
    check_ok(sp_spy_png(&b, &p));
    png_parse(&m, &b);
    assert_int_equal(m.wide, 512 + 2 * MARGIN);
    assert_int_equal(m.high, 512 + 2 * MARGIN);
    assert_int_equal(pixel(&m, MARGIN - 1, 100), FRAME);
    assert_int_equal(pixel(&m, MARGIN + 512, 100), FRAME);
    for (int y = 0; y < 512; y++)
        for (int x = 0; x < 512; x++)
            assert_true((pixel(&m, MARGIN + y, MARGIN + x) > 0) ==
                        (y / 128 == x / 128));
    sp_buf_free(&b);
}

/* A character of U+2801 .. U+28FF: e2 a0 81 .. e2 a3 bf. */
static int has_dot(const char *text)
{
    for (const char *at = text; (at = strchr(at, '\xe2')); at++)
        if (((unsigned char)at[1] & 0xfc) == 0xa0 &&
            memcmp(at, "\xe2\xa0\x80", 3) != 0)
            return 1;
    return 0;
}

static void one_entry_in_a_huge_matrix_is_seen(void **state)
{
    static const char *const specs[] = {"uniform rows=1M nnz=1",
                                        "uniform rows=1M cols=3 nnz=1",
                                        "uniform rows=1000 cols=1T nnz=1"};
    static image m;

    (void)state;
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        sp_buf b = {0};
        sp_spy p;
        char *text;

        know(specs[k]);
        p = sp_spy_of(&stats);
        check_ok(sp_spy_png(&b, &p));
        png_parse(&m, &b);
        assert_true(inked(&m) >= 4);
        sp_buf_free(&b);
        check_ok(spry_matrix_spy_text(&text, &stats, 40));
        assert_true(has_dot(text));
        free(text);
    }
}

static void shape_is_kept(void **state)
{
    static image m;
    sp_buf b = {0};
    sp_spy p;

    (void)state;
    know("uniform rows=600 cols=1200 nnz=9k");
    p = sp_spy_of(&stats);
    check_ok(sp_spy_png(&b, &p));
    png_parse(&m, &b);
    assert_int_equal(m.wide - 2 * MARGIN, 2 * (m.high - 2 * MARGIN));
    assert_in_range(m.bytes, 1000, 8000); /* pages hold many of them */
    sp_buf_free(&b);
}

static void svg_has_a_title_and_a_run_per_row(void **state)
{
    sp_buf b = {0};
    sp_spy p;
    int rects = 0;

    (void)state;
    know("diagonals rows=30 count=1");
    p = sp_spy_of(&stats);
    check_ok(sp_spy_svg(&b, &p));
    assert_non_null(strstr(b.data, "<title>30 x 30, 30 entries</title>"));
    assert_non_null(
        strstr(b.data, "<rect x=\"7\" y=\"7\" width=\"1\" height=\"1\"/>"));
    for (const char *at = b.data; (at = strstr(at, "<rect x=")); at++)
        rects++;
    assert_int_equal(rects, 30 + 1); /* and the frame */
    sp_buf_free(&b);
}

static void text_draws_dots(void **state)
{
    char *text;

    (void)state;
    know("diagonals rows=12 count=1");
    check_ok(spry_matrix_spy_text(&text, &stats, 8));
    assert_string_equal(text, "┌──────┐\n"
                              "│⠑⢄⠀⠀⠀⠀│\n"
                              "│⠀⠀⠑⢄⠀⠀│\n"
                              "│⠀⠀⠀⠀⠑⢄│\n"
                              "└──────┘\n");
    free(text);
}

static void empty_matrices_are_empty_frames(void **state)
{
    const int64_t none[1] = {0};
    static image m;
    spry_matrix *empty;
    sp_buf b = {0};
    sp_spy p;
    char *text;

    (void)state;
    check_ok(spry_matrix_csr(&empty, 0, 0, none, none, none, SPRY_I64, SPRY_F64,
                             SPRY_COPY));
    check_ok(spry_matrix_stats(&stats, empty));
    spry_matrix_free(empty);
    p = sp_spy_of(&stats);
    check_ok(sp_spy_png(&b, &p));
    png_parse(&m, &b);
    assert_int_equal(inked(&m), 0);
    sp_buf_free(&b);
    check_ok(spry_matrix_spy_text(&text, &stats, 0));
    assert_non_null(text);
    free(text);
}

static void files_by_their_ending(void **state)
{
    char dir[TEST_FOLDER], path[TEST_FOLDER + 16], start[4];
    FILE *f;

    (void)state;
    know("arrow rows=300");
    assert_non_null(make_folder(dir));
    snprintf(path, sizeof path, "%s/a.png", dir);
    check_ok(spry_matrix_spy(&stats, path));
    f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(start, 1, 4, f), 4);
    assert_memory_equal(start, "\x89PNG", 4);
    fclose(f);
    unlink(path);
    snprintf(path, sizeof path, "%s/a.svg", dir);
    check_ok(spry_matrix_spy(&stats, path));
    unlink(path);
    snprintf(path, sizeof path, "%s/a.gif", dir);
    assert_int_equal(spry_matrix_spy(&stats, path), SPRY_USAGE);
    assert_int_equal(rmdir(dir), 0); /* nothing else was left behind */
    assert_int_not_equal(spry_matrix_spy(&stats, path), SPRY_OK);
}

static void refused_memory_leaks_nothing(void **state)
{
    int64_t before = sp_alloc_live();
    spry_status s = SPRY_SYSTEM;

    (void)state;
    know("arrow rows=300");
    for (int n = 1; s != SPRY_OK; n++) {
        sp_buf b = {0};
        sp_spy p = sp_spy_of(&stats);

        sp_alloc_refuse(n, 1);
        s = sp_spy_png(&b, &p);
        if (s == SPRY_OK && b.failed)
            s = SPRY_SYSTEM; /* as spry_matrix_spy does */
        sp_alloc_refuse(0, 0);
        sp_buf_free(&b);
        assert_int_equal(sp_alloc_live(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(png_shows_the_pattern),
        cmocka_unit_test(one_entry_in_a_huge_matrix_is_seen),
        cmocka_unit_test(shape_is_kept),
        cmocka_unit_test(svg_has_a_title_and_a_run_per_row),
        cmocka_unit_test(text_draws_dots),
        cmocka_unit_test(empty_matrices_are_empty_frames),
        cmocka_unit_test(files_by_their_ending),
        cmocka_unit_test(refused_memory_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
