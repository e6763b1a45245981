/* test_matrix_read.c - every format in, every kind of damage refused. */
#include "check.h"
#include "folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "matrix/internal.h"

#define DATA       SPRY_TEST_DATA "/"
#define COORDINATE "%%MatrixMarket matrix coordinate real general\n"
#define ARRAY      "%%MatrixMarket matrix array real general\n"

static const char tiny[] = "1 0 3 0;0 2.5 0 0;4 0 0 -1.5;";
static const char tiny_ones[] = "1 0 1 0;0 1 0 0;1 0 0 1;";

/* What a file must hold, as dense text. */
static const struct {
    const char *file, *dense;
} good[] = {
    {"tiny.mtx", tiny},
    {"tiny.mtx.gz", tiny},
    {"tiny.rua", tiny},
    {"tiny_csr.npz", tiny},
    {"tiny_csc.npz", tiny},
    {"tiny_coo.npz", tiny},
    {"tiny.csr", tiny_ones},
    {"tiny.smtx", tiny_ones},
    {"sloppy.mtx", "1 0;2 3;"},
    {"symmetric.mtx", "1 2 0;2 0 3;0 3 4;"},
    {"skew.mtx", "0 -2 0;2 0 -3;0 3 0;"},
    {"pattern.mtx", "0 0 1;1 1 0;"},
    {"array.mtx", "1 0 -3;0 2.5 0;"},
    {"array_symmetric.mtx", "1 2;2 3;"},
    {"special.mtx", "nan -inf 100 4.94065645841247e-324;"},
    {"tiny.el", "0 1 0 0;0 0 0 0;1 0 0 0;0 0 0 1;"},
    {"tiny.tsv", "0 0.0625;0 0;0.5 0;"},
    {"weighted.txt", "0 0 1.5;2 0 0;"},
    {"tiny.psa", "1 1 0;1 0 1;0 1 0;"},
    {"tiny.rza", "0 -7.5;7.5 0;"},
    {"unicode_big.npz", "1 0 0 0;0 0 0 0;0 0 0 3;"},
};

enum { GOOD = sizeof good / sizeof *good };

/* The matrix as "a b;c d;". */
static void to_dense(sp_buf *out, const spry_matrix *m)
{
    for (int64_t r = 0; r < m->rows; r++) {
        int64_t k = m->start[r];

        for (int64_t c = 0; c < m->cols; c++) {
            int here = k < m->start[r + 1] && sp_col(m, k) == c;

            sp_buf_printf(out, "%.15g%s", here ? sp_val(m, k++) : 0.0,
                          c + 1 < m->cols ? " " : ";");
        }
    }
}

static void assert_dense(const spry_matrix *m, const char *dense)
{
    sp_buf b = {0};

    to_dense(&b, m);
    assert_string_equal(b.data, dense);
    sp_buf_free(&b);
}

static void every_format_is_read(void **state)
{
    (void)state;
    for (int i = 0; i < GOOD; i++) {
        char path[512];
        spry_matrix *m;

        snprintf(path, sizeof path, DATA "%s", good[i].file);
        check_ok(spry_matrix_read(&m, path));
        assert_dense(m, good[i].dense);
        assert_int_equal(m->index, SPRY_I32);
        assert_int_equal(m->type, strcmp(good[i].file, "tiny_csc.npz")
                                      ? SPRY_F64
                                      : SPRY_F32);
        spry_matrix_free(m);
    }
}

/* What is wrong, and the sentence about it. */
static const struct {
    const char *name, *text, *sentence;
} bad[] = {
    {"a.mtx", "", "a.mtx: is empty"},
    {"a.mtx", "x", "a.mtx:1: the Matrix Market banner is missing"},
    {"a.mtx", "%%MatrixMarket", "a.mtx:1: '' is not a word"},
    {"a.mtx", "%%MatrixMarket matrix coordinate complex general\n",
     "a.mtx:1: complex values are not read"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real hermitian\n",
     "a.mtx:1: hermitian"},
    {"a.mtx", COORDINATE, "a.mtx:2: the sizes are not three"},
    {"a.mtx", COORDINATE "3 3\n", "a.mtx:2: the sizes are not three"},
    {"a.mtx", COORDINATE "3 3 -1\n", "a.mtx:2: the sizes are not three"},
    {"a.mtx", COORDINATE "3 3 99999999999999999999\n", "a.mtx:2: the sizes"},
    {"a.mtx", COORDINATE "3 3 1000000000000000000\n1 1 1\n",
     "a.mtx:4: 1000000000000000000 entries declared, 1 found"},
    {"a.mtx", COORDINATE "3 3 2\n1 1 1\n", "a.mtx:4: 2 entries declared, 1"},
    {"a.mtx", COORDINATE "3 3 1\n1 1 1\n2 2 2\n", "1 entries declared, 2"},
    {"a.mtx", COORDINATE "3 3 1\n0 1 1\n", "a.mtx:3: the row index"},
    {"a.mtx", COORDINATE "3 3 1\n\n4 1 1\n", "a.mtx:4: the row index"},
    {"a.mtx", COORDINATE "3 3 1\n1 4 1\n", "a.mtx:3: the column index"},
    {"a.mtx", COORDINATE "3 3 1\n1 1\n", "a.mtx:3: the value"},
    {"a.mtx", COORDINATE "3 3 1\n1 1 1x\n", "a.mtx:3: the value"},
    {"a.mtx", COORDINATE "3 3 1\n1 1 1 1\n", "a.mtx:3: there is more"},
    {"a.mtx", COORDINATE "1000000000000 3 1\n1 1 1\n",
     "a.mtx:2: 1000000000000 rows are too many"},
    {"a.mtx", ARRAY "9000000000 9000000000\n1\n", "rows are too many"},
    {"a.mtx", ARRAY "3 9000000000000000000\n1\n", "fewer values"},
    {"a.mtx", ARRAY "2 1\n1\n", "a.mtx:4: 2 values declared, 1 found"},
    {"a.mtx", ARRAY "1 1\n1\n2\n", "a.mtx:4: more values"},
    {"a.csr", "\1\2\3", "ends within its header"},
    {"a.csr", "\1\1\1\1\1\1\1\1\1\1\1\1", "does not fit into the file"},
    {"a.npz", "PK\3\4 no zip at all", "has no member format.npy"},
    {"a.smtx", "3, 4", "a.smtx:1: the file ends too early"},
    {"a.smtx", "3, 4, 1000000000000000000\n0", "do not fit into the file"},
    {"a.smtx", "1, 4, 1\n0 2\n0\n", "the starts do not run from 0 to 1"},
    {"a.smtx", "1, 4, 1\n0 1\n4\n", "has index 4, outside 0..3"},
    {"a.el", "0 1000000000000\n", "rows are too many"},
    {"a.el", "0 9223372036854775807\n", "a.el:1: the column index"},
    {"a.el", "0 1\nx y\n", "a.el:2: the row index"},
    {"a.tsv", "0 1 0.5\n", "a.tsv:1: the row index"},
    {"a.rua", "nothing\n", "no Rutherford-Boeing header"},
    {"a.rua", "t\n1 1 1 1\ncua 1 1 1\n(1I3) (1I3) (1E9.2)\n", "complex"},
    {"a.rua", "t\n1 1 1 1\nrse 1 1 1\n(1I3) (1I3) (1E9.2)\n", "elemental"},
    {"a.rua", "t\n1 1 1 1\nrua 1 1 1\n(1I3) (what) (1E9.2)\n",
     "a.rua:4: the Fortran format"},
    {"a.rua", "t\n1 1 1 1\nrua 1 1 1\n(2I3) (1I3) (1E9.2)\n  1  2\n  2\n1\n",
     "a.rua:6: field 1 is not within 1..1"},
    {"a.rua", "t\n1 1 1 1\nrua 1 1 1\n(2I3) (1I3) (1E9.2)\n  1  2\n  1\n",
     "field 1 is not a number"},
    {"a.bin", "\177ELF\1\2\3", "a.bin: neither its content nor its name"},
};

static void damage_is_refused_with_a_sentence(void **state)
{
    int64_t live = sp_alloc_live();

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        spry_matrix *m = (spry_matrix *)&live;
        spry_status s =
            sp_matrix_parse(&m, bad[i].text, strlen(bad[i].text), bad[i].name);

        assert_int_equal(s, SPRY_INPUT);
        assert_null(m);
        if (!strstr(spry_message(), bad[i].sentence))
            fail_msg("'%s' lacks '%s'", spry_message(), bad[i].sentence);
    }
    assert_int_equal(sp_alloc_live(), live);
}

static void arrays_that_could_run_code_are_refused(void **state)
{
    spry_matrix *m;

    (void)state;
    assert_int_equal(spry_matrix_read(&m, DATA "object.npz"), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "Python objects"));
    assert_int_equal(spry_matrix_read(&m, DATA "half.npz"), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "32-bit"));
}

/* Any cut of any file gives a matrix or a sentence, never a crash. */
static void every_cut_of_every_file_is_survived(void **state)
{
    (void)state;
    for (int i = 0; i < GOOD; i++) {
        char path[512];
        sp_file f;

        snprintf(path, sizeof path, DATA "%s", good[i].file);
        check_ok(sp_file_read(&f, path, SIZE_MAX));
        for (size_t n = f.len; n-- > 0;) {
            spry_matrix *m;
            spry_status s;

            f.data[n] = 0;
            s = sp_matrix_parse(&m, f.data, n, path);
            assert_true(s == SPRY_OK || (s == SPRY_INPUT && !m));
            spry_matrix_free(m);
        }
        sp_file_free(&f);
    }
}

static void every_refused_allocation_is_survived(void **state)
{
    int64_t live = sp_alloc_live();

    (void)state;
    for (int i = 0; i < GOOD; i++)
        for (int64_t n = 1;; n++) {
            char path[512];
            spry_matrix *m;
            spry_status s;

            snprintf(path, sizeof path, DATA "%s", good[i].file);
            sp_alloc_refuse(n, 1);
            s = spry_matrix_read(&m, path);
            sp_alloc_refuse(0, 0);
            if (s == SPRY_OK) {
                assert_true(n > 3);
                spry_matrix_free(m);
                break;
            }
            assert_int_equal(s, SPRY_SYSTEM);
            assert_null(m);
            assert_int_equal(sp_alloc_live(), live);
        }
}

/* ---- files that are no files ---- */

static int make_dir(void **state)
{
    static char dir[TEST_FOLDER];

    *state = dir;
    return make_folder(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    return rmdir(*state);
}

static void what_is_no_file_is_refused(void **state)
{
    char fifo[600];
    const char *paths[] = {*state, "/dev/zero", fifo, DATA "missing.mtx"};
    const char *why[] = {"is a directory", "neither a file nor a pipe",
                         "nothing came through", "No such file"};
    spry_matrix *m;

    snprintf(fifo, sizeof fifo, "%s/fifo.mtx", (char *)*state);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(spry_matrix_read(&m, paths[i]), SPRY_INPUT);
        assert_null(m);
        assert_non_null(strstr(spry_message(), why[i]));
    }
    unlink(fifo);
}

static void a_gzip_bomb_is_refused(void **state)
{
    char path[600];
    static char zeros[1 << 20];
    spry_matrix *m;
    gzFile gz;

    snprintf(path, sizeof path, "%s/bomb.mtx.gz", (char *)*state);
    gz = gzopen(path, "wb9");
    for (int i = 0; i < 96; i++)
        assert_int_equal(gzwrite(gz, zeros, sizeof zeros), sizeof zeros);
    gzclose(gz);
    assert_int_equal(spry_matrix_read(&m, path), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "refused as a bomb"));
    unlink(path);
}

/* Large enough to be cut into pieces; the line of an error is still right. */
static void a_large_text_is_read_in_pieces(void **state)
{
    enum { N = 60000 };
    sp_buf b = {0};
    spry_matrix *m;
    char *line;

    (void)state;
    sp_buf_add(&b, COORDINATE);
    sp_buf_printf(&b, "%d 7 %d\n", N, N);
    for (int i = N; i > 0; i--)
        sp_buf_printf(&b, "%d %d %d.25\n", i, i % 7 + 1, i);
    check_ok(sp_matrix_parse(&m, b.data, b.len, "a.mtx"));
    assert_int_equal(m->nnz, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(sp_col(m, i), (i + 1) % 7);
        assert_true(sp_val(m, i) == i + 1.25);
    }
    spry_matrix_free(m);
    line = strstr(b.data, "\n10000 ");
    line[1] = 'x';
    assert_int_equal(sp_matrix_parse(&m, b.data, b.len, "a.mtx"), SPRY_INPUT);
    assert_non_null(strstr(spry_message(), "a.mtx:50003: the row index"));
    sp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_read),
        cmocka_unit_test(damage_is_refused_with_a_sentence),
        cmocka_unit_test(arrays_that_could_run_code_are_refused),
        cmocka_unit_test(every_cut_of_every_file_is_survived),
        cmocka_unit_test(every_refused_allocation_is_survived),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_refused, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(a_gzip_bomb_is_refused, make_dir,
                                        remove_dir),
        cmocka_unit_test(a_large_text_is_read_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
