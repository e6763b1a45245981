/* test_matrix_build.c - arrays into matrices, matrices into files. */
#include "check.h"
#include "folder.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "matrix/matrix.h"

static void assert_same(const spry_matrix *a, const spry_matrix *b, int values)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_int_equal(a->nnz, b->nnz);
    assert_memory_equal(a->start, b->start, (size_t)(a->rows + 1) * 8);
    for (int64_t k = 0; k < a->nnz; k++) {
        assert_int_equal(sp_col(a, k), sp_col(b, k));
        if (values && !isnan(sp_val(a, k)))
            assert_true(sp_val(a, k) == sp_val(b, k));
    }
}

/* A matrix with values of every kind, rows of every length. */
static spry_matrix *make_sample(spry_type type)
{
    enum { ROWS = 300, COLS = 211, NNZ = 9000 };
    static int64_t row[NNZ], col[NNZ];
    static double wide[NNZ];
    static float narrow[NNZ];
    sp_rng rng = sp_rng_seed(5);
    spry_matrix *m;

    for (int k = 0; k < NNZ; k++) {
        row[k] = (int64_t)(sp_rng_unit(&rng) * sp_rng_unit(&rng) * ROWS);
        col[k] = (int64_t)sp_rng_below(&rng, COLS);
        wide[k] = k % 3 ? (double)sp_rng_below(&rng, 9) - 4
                        : ldexp(sp_rng_normal(&rng), k % 200 - 100);
        narrow[k] = (float)wide[k];
    }
    wide[0] = -HUGE_VAL;
    narrow[0] = -HUGE_VALF;
    check_ok(spry_matrix_triples(
        &m, ROWS, COLS, NNZ, row, col,
        type == SPRY_F32 ? (void *)narrow : (void *)wide, type));
    return m;
}

static void triples_are_sorted_and_summed(void **state)
{
    int64_t row[] = {2, 0, 2, 2, 0}, col[] = {3, 1, 0, 3, 0};
    float val[] = {1, 2, 3, 0.5f, 5};
    int32_t cols[] = {0, 1, 0, 3};
    float vals[] = {5, 2, 3, 1.5f};
    int64_t start[] = {0, 2, 2, 4};
    spry_matrix *m;

    (void)state;
    check_ok(spry_matrix_triples(&m, 3, 4, 5, row, col, val, SPRY_F32));
    assert_int_equal(m->nnz, 4);
    assert_memory_equal(m->start, start, sizeof start);
    assert_memory_equal(m->col, cols, sizeof cols);
    assert_memory_equal(m->val, vals, sizeof vals);
    spry_matrix_free(m);
    check_ok(spry_matrix_triples(&m, 3, 4, 5, row, col, NULL, SPRY_F64));
    assert_true(sp_val(m, 3) == 2);
    spry_matrix_free(m);
}

static void bad_arrays_are_refused(void **state)
{
    int64_t row[] = {3}, col[] = {0}, start[] = {0, 2, 1}, first[] = {1, 1, 1};
    int32_t narrow_start[] = {0, 1, 1}, narrow_col[] = {-1};
    double val[] = {1, 1};
    spry_matrix *m;

    (void)state;
    assert_int_equal(spry_matrix_triples(&m, 3, 1, 1, row, col, val, SPRY_F64),
                     SPRY_INPUT);
    assert_null(m);
    assert_int_equal(spry_matrix_triples(&m, -3, 1, 0, row, col, val, SPRY_F64),
                     SPRY_USAGE);
    assert_int_equal(spry_matrix_csr(&m, 2, 4, start, col, val, SPRY_I64,
                                     SPRY_F64, SPRY_COPY),
                     SPRY_INPUT);
    assert_int_equal(spry_matrix_csr(&m, 2, 4, first, col, val, SPRY_I64,
                                     SPRY_F64, SPRY_COPY),
                     SPRY_INPUT);
    assert_int_equal(spry_matrix_csr(&m, 2, 4, narrow_start, narrow_col, val,
                                     SPRY_I32, SPRY_F64, SPRY_COPY),
                     SPRY_INPUT);
    assert_null(m);
}

static void sorted_arrays_are_borrowed_others_copied(void **state)
{
    int64_t start[] = {0, 2, 3}, sorted[] = {0, 2, 1}, unsorted[] = {2, 0, 1};
    double val[] = {1, 2, 3};
    spry_matrix *a, *b;

    (void)state;
    check_ok(spry_matrix_csr(&a, 2, 3, start, sorted, val, SPRY_I64, SPRY_F64,
                             SPRY_BORROW));
    assert_ptr_equal(a->start, start);
    assert_ptr_equal(a->col, sorted);
    assert_ptr_equal(a->val, val);
    assert_int_equal(a->nnz, 3);
    check_ok(spry_matrix_csr(&b, 2, 3, start, unsorted, val, SPRY_I64, SPRY_F64,
                             SPRY_BORROW));
    assert_ptr_not_equal(b->col, unsorted);
    assert_int_equal(b->index, SPRY_I64);
    assert_same(a, b, 0);
    assert_true(sp_val(b, 0) == 2);
    spry_matrix_free(a);
    spry_matrix_free(b);
}

static void empty_matrices_exist(void **state)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {5, 5}};
    spry_matrix *m, *t;

    (void)state;
    for (int i = 0; i < 4; i++) {
        check_ok(spry_matrix_triples(&m, shapes[i][0], shapes[i][1], 0, NULL,
                                     NULL, NULL, SPRY_F32));
        assert_int_equal(m->start[m->rows], 0);
        check_ok(spry_matrix_transpose(&t, m));
        assert_int_equal(t->rows, m->cols);
        spry_matrix_free(t);
        spry_matrix_free(m);
    }
    spry_matrix_free(NULL);
}

static void wide_columns_get_wide_indices(void **state)
{
    int64_t row[] = {0, 0}, col[] = {(int64_t)1 << 40, 7};
    spry_matrix *m;

    (void)state;
    check_ok(spry_matrix_triples(&m, 1, ((int64_t)1 << 40) + 1, 2, row, col,
                                 NULL, SPRY_F64));
    assert_int_equal(m->index, SPRY_I64);
    assert_int_equal(sp_col(m, 0), 7);
    assert_int_equal(sp_col(m, 1), (int64_t)1 << 40);
    spry_matrix_free(m);
}

static void transposing_twice_changes_nothing(void **state)
{
    spry_matrix *m = make_sample(SPRY_F64), *t, *back;

    (void)state;
    check_ok(spry_matrix_transpose(&t, m));
    check_ok(spry_matrix_transpose(&back, t));
    assert_same(m, back, 1);
    assert_int_equal(t->rows, m->cols);
    spry_matrix_free(m);
    spry_matrix_free(t);
    spry_matrix_free(back);
}

static void keys_tell_patterns_apart(void **state)
{
    int32_t start[] = {0, 1, 2}, col[] = {0, 1}, other[] = {1, 0};
    int64_t wide_start[] = {0, 1, 2}, wide_col[] = {0, 1};
    float val[] = {1, 2};
    double wide_val[] = {3, 4};
    char a[33], b[33], c[33], d[33];
    spry_matrix *m;

    (void)state;
    check_ok(spry_matrix_csr(&m, 2, 2, start, col, val, SPRY_I32, SPRY_F32,
                             SPRY_COPY));
    spry_matrix_key(a, m);
    spry_matrix_free(m);
    check_ok(spry_matrix_csr(&m, 2, 2, wide_start, wide_col, wide_val, SPRY_I64,
                             SPRY_F64, SPRY_COPY));
    spry_matrix_key(b, m);
    spry_matrix_free(m);
    check_ok(spry_matrix_csr(&m, 2, 2, start, other, val, SPRY_I32, SPRY_F32,
                             SPRY_COPY));
    spry_matrix_key(c, m);
    spry_matrix_free(m);
    check_ok(spry_matrix_csr(&m, 2, 3, start, col, val, SPRY_I32, SPRY_F32,
                             SPRY_COPY));
    spry_matrix_key(d, m);
    spry_matrix_free(m);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    assert_string_not_equal(a, d);
    assert_int_equal(strlen(a), 32);
}

static void building_survives_refused_allocations(void **state)
{
    int64_t row[] = {0, 0, 0}, col[] = {1, 0, 1}, live = sp_alloc_live();
    spry_matrix *m;

    (void)state;
    for (int64_t n = 1;; n++) {
        spry_status s;

        sp_alloc_refuse(n, 0);
        s = spry_matrix_triples(&m, 1, 2, 3, row, col, NULL, SPRY_F64);
        sp_alloc_refuse(0, 0);
        if (s == SPRY_OK) {
            assert_true(n > 3);
            break;
        }
        assert_int_equal(s, SPRY_SYSTEM);
        assert_int_equal(sp_alloc_live(), live);
    }
    spry_matrix_free(m);
}

/* ---- writing ---- */

static int make_dir(void **state)
{
    static char dir[TEST_FOLDER];

    *state = dir;
    return make_folder(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    return rmdir(*state); /* fails when a temporary file was left behind */
}

static void what_is_written_is_read_back(void **state)
{
    static const char *const names[] = {"a.mtx", "a.mtx.gz", "a.csr", "a.npz"};

    for (int i = 0; i < 8; i++) {
        spry_type type = i < 4 ? SPRY_F32 : SPRY_F64;
        spry_matrix *m = make_sample(type), *back;
        char path[600];

        snprintf(path, sizeof path, "%s/%s", (char *)*state, names[i % 4]);
        check_ok(spry_matrix_write(m, path));
        check_ok(spry_matrix_read(&back, path));
        if (i % 4 == 3)
            assert_int_equal(back->type, type);
        if (type == SPRY_F64 || i == 3)
            assert_same(m, back, i % 4 != 2);
        for (int64_t k = 0; i % 4 != 2 && k < m->nnz; k++)
            assert_true((float)sp_val(m, k) == (float)sp_val(back, k));
        spry_matrix_free(m);
        spry_matrix_free(back);
        unlink(path);
    }
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    spry_matrix *m = make_sample(SPRY_F64);
    char path[600], *big = path + strlen(strcpy(path, *state));
    int64_t start[] = {0, 0};
    sp_writer w;
    sp_file f;
    spry_matrix *wide;

    strcpy(big, "/a.csr");
    check_ok(sp_file_write(path, "old", 3));
    check_ok(spry_matrix_csr(&wide, 1, (int64_t)1 << 40, start, NULL, NULL,
                             SPRY_I64, SPRY_F64, SPRY_COPY));
    assert_int_equal(spry_matrix_write(wide, path), SPRY_USAGE);
    check_ok(sp_writer_open(&w, path));
    fputs("half", w.f);
    check_ok(sp_writer_close(&w, 0));
    check_ok(sp_file_read(&f, path, 100));
    assert_string_equal(f.data, "old");
    sp_file_free(&f);
    assert_int_equal(spry_matrix_write(m, "a.xyz"), SPRY_USAGE);
    assert_int_equal(spry_matrix_write(m, "/no/such/place/a.mtx"), SPRY_SYSTEM);
    unlink(path);
    spry_matrix_free(wide);
    spry_matrix_free(m);
}

static void devices_are_written_to_not_replaced(void **state)
{
    struct stat st;

    (void)state;
    check_ok(sp_file_write("/dev/null", "x", 1));
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triples_are_sorted_and_summed),
        cmocka_unit_test(bad_arrays_are_refused),
        cmocka_unit_test(sorted_arrays_are_borrowed_others_copied),
        cmocka_unit_test(empty_matrices_exist),
        cmocka_unit_test(wide_columns_get_wide_indices),
        cmocka_unit_test(transposing_twice_changes_nothing),
        cmocka_unit_test(keys_tell_patterns_apart),
        cmocka_unit_test(building_survives_refused_allocations),
        cmocka_unit_test_setup_teardown(what_is_written_is_read_back, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(a_failed_write_leaves_the_old_file,
                                        make_dir, remove_dir),
        cmocka_unit_test(devices_are_written_to_not_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
