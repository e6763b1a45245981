/* test_tensor.c - tensors in, out, turned, generated; mttkrp's definition. */
#include "check.h"
#include "folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "matrix/internal.h"
#include "problem/sparse.h"
#include "spry.h"

/* A file of this text, read; its status. */
static spry_status read_text(spry_tensor **out, const char *text)
{
    sp_text t = {"x.tns", text, text + strlen(text)};

    return sp_tensor_parse(out, &t);
}

/* "2x3x4: 0 1 2=5; ..." */
static char *say(const spry_tensor *t)
{
    const spry_matrix *m = t->unfolded;
    sp_buf b = {0};

    sp_buf_printf(&b, "%lldx%lldx%lld:", (long long)t->dim[0],
                  (long long)t->dim[1], (long long)t->dim[2]);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++)
            sp_buf_printf(&b, " %lld %lld %lld=%g;", (long long)i,
                          (long long)(sp_col(m, e) / t->dim[2]),
                          (long long)(sp_col(m, e) % t->dim[2]), sp_val(m, e));
    return sp_buf_steal(&b);
}

static void expect(const spry_tensor *t, const char *said)
{
    char *text = say(t);

    assert_string_equal(text, said);
    free(text);
}

/* ---- reading ---- */

static const struct {
    const char *text, *said;
} good[] = {
    {"1 1 1 2\n", "1x1x1: 0 0 0=2;"},
    {"# FROSTT\n\n2 1 4 0.5\n1 3 2 -1e2\n", "2x3x4: 0 2 1=-100; 1 0 3=0.5;"},
    {"  1\t2 1   3 \r\n1 1 1 1", "1x2x1: 0 0 0=1; 0 1 0=3;"},
    {"1 1 1 1\n1 1 1 2\n# again\n1 1 1 4\n", "1x1x1: 0 0 0=7;"},
    {"3\n2 3 4\n1 1 1 1\n", "2x3x4: 0 0 0=1;"},
    {"# extended\n3 1\n2 3 4\n2 3 4 9\n", "2x3x4: 1 2 3=9;"},
    {"3 0\n2 3 4\n", "2x3x4:"},
    {"# nothing\n", "0x0x0:"},
};

static void good_texts_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        spry_tensor *t;

        check_ok(read_text(&t, good[i].text));
        expect(t, good[i].said);
        spry_tensor_free(t);
    }
}

static const struct {
    const char *text, *line, *why;
} bad[] = {
    {"1 1 1\n", "x.tns:1:", "order 2"},
    {"# 4 modes\n1 1 1 1 5\n", "x.tns:2:", "order 4"},
    {"1 1 1 1\n1 0 1 1\n", "x.tns:2:", "second index"},
    {"0 1 1 1\n", "x.tns:1:", "first index"},
    {"1 1 x 1\n", "x.tns:1:", "third index"},
    {"1 1 1.5 1\n", "x.tns:1:", "third index"},
    {"1 1 1 one\n", "x.tns:1:", "value"},
    {"1 1 1 1\n1 1 1\n", "x.tns:2:", "value"},
    {"1 1 1 1 \n1 1 1 1 1\n", "x.tns:2:", "more on the line"},
    {"4\n1 1 1 1\n1 1 1 1 2\n", "x.tns:1:", "order 4"},
    {"3\n2 3\n1 1 1 2\n", "x.tns:2:", "three dimensions"},
    {"3\n2 3 4\n1 1 5 2\n", "x.tns:3:", "third index"},
    {"3 2\n2 3 4\n1 1 1 2\n", "x.tns:", "2 entries declared, 1 found"},
    {"word\n", "x.tns:1:", "neither"},
    {"9223372036854775807 1 1 1\n", "x.tns:1:", "mode 0"},
    {"1 1 4000000000000 1\n", "x.tns:1:", "mode 2"},
    {"99999999999999999999 1 1 1\n", "x.tns:1:", "first index"},
};

static void bad_texts_are_refused(void **state)
{
    int64_t live = sp_alloc_live();

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        spry_tensor *t = (spry_tensor *)1;

        assert_int_equal(read_text(&t, bad[i].text), SPRY_INPUT);
        assert_null(t);
        if (!strstr(spry_message(), bad[i].line) ||
            !strstr(spry_message(), bad[i].why))
            fail_msg("\"%s\" lacks %s %s", spry_message(), bad[i].line,
                     bad[i].why);
    }
    assert_int_equal(sp_alloc_live(), live);
}

/* ---- writing ---- */

static void round_trip(const char *ending)
{
    static const int64_t dim[] = {3, 2, 5}, i[] = {0, 2, 2}, k[] = {1, 0, 0},
                         l[] = {4, 0, 3};
    static const double val[] = {0.1, -3, 1e300};
    char path[TEST_FOLDER], file[TEST_FOLDER + 16];
    spry_tensor *t, *back;

    assert_non_null(make_folder(path));
    snprintf(file, sizeof file, "%s/t%s", path, ending);
    check_ok(spry_tensor_coordinates(&t, dim, 3, i, k, l, val, SPRY_F64));
    check_ok(spry_tensor_write(t, file));
    check_ok(spry_tensor_read(&back, file));
    expect(back, "3x2x5: 0 1 4=0.1; 2 0 0=-3; 2 0 3=1e+300;");
    assert_memory_equal(t->unfolded->val, back->unfolded->val, sizeof val);
    assert_int_equal(spry_tensor_write(t, "/tmp/t.mtx"), SPRY_USAGE);
    spry_tensor_free(t);
    spry_tensor_free(back);
    unlink(file);
    rmdir(path);
}

static void files_come_back(void **state)
{
    spry_tensor *t;

    (void)state;
    round_trip(".tns");
    round_trip(".tns.gz");
    assert_int_equal(spry_tensor_read(&t, "/nowhere/x.tns"), SPRY_INPUT);
    assert_null(t);
}

/* ---- coordinates and modes ---- */

static void coordinates_are_checked(void **state)
{
    static const int64_t dim[] = {2, 2, 2}, zero[] = {0}, two[] = {2};
    static const int64_t huge[] = {1, INT64_MAX / 2, 3};
    static const int64_t wide[] = {1, 1 << 20, 1 << 20};
    spry_tensor *t;

    (void)state;
    assert_int_equal(
        spry_tensor_coordinates(&t, dim, 1, zero, zero, two, NULL, SPRY_F32),
        SPRY_INPUT);
    assert_null(t);
    assert_int_equal(
        spry_tensor_coordinates(&t, huge, 1, zero, zero, zero, NULL, SPRY_F32),
        SPRY_USAGE);
    check_ok(
        spry_tensor_coordinates(&t, wide, 1, zero, two, two, NULL, SPRY_F32));
    assert_int_equal(t->unfolded->index, SPRY_I64);
    expect(t, "1x1048576x1048576: 0 2 2=1;");
    spry_tensor_free(t);
}

static void turning_brings_a_mode_first(void **state)
{
    spry_tensor *t, *u;

    (void)state;
    check_ok(read_text(&t, "1 2 3 5\n2 1 1 7\n1 1 4 9\n"));
    check_ok(spry_tensor_turn(&u, t, 1));
    expect(u, "2x2x4: 0 0 3=9; 0 1 0=7; 1 0 2=5;");
    spry_tensor_free(u);
    check_ok(spry_tensor_turn(&u, t, 2));
    expect(u, "4x2x2: 0 1 0=7; 2 0 1=5; 3 0 0=9;");
    spry_tensor_free(u);
    check_ok(spry_tensor_turn(&u, t, 0));
    expect(u, "2x2x4: 0 0 3=9; 0 1 2=5; 1 0 0=7;");
    spry_tensor_free(u);
    assert_int_equal(spry_tensor_turn(&u, t, 3), SPRY_USAGE);
    spry_tensor_free(t);
}

/* ---- generating ---- */

static void every_kind_is_its_seed(void **state)
{
    char key[3][33];

    (void)state;
    for (int i = 0; spry_tensor_generator_name(i); i++) {
        for (int again = 0; again < 3; again++) {
            spry_tensor *t;

            check_ok(spry_tensor_generate(&t, spry_tensor_generator_name(i),
                                          again < 2 ? 1 : 2));
            assert_true(t->unfolded->nnz > 20000);
            assert_true(t->unfolded->rows == t->dim[0] &&
                        t->unfolded->cols == t->dim[1] * t->dim[2]);
            spry_matrix_key(key[again], t->unfolded);
            spry_tensor_free(t);
        }
        assert_string_equal(key[0], key[1]);
        assert_string_not_equal(key[0], key[2]);
        assert_non_null(spry_tensor_generator_help(i));
        assert_non_null(spry_tensor_generator_params(i));
    }
}

static int64_t fibers_of(const spry_tensor *t)
{
    const spry_matrix *m = t->unfolded;
    int64_t fibers = 0;

    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++)
            fibers += e == m->start[i] ||
                      sp_col(m, e) / t->dim[2] != sp_col(m, e - 1) / t->dim[2];
    return fibers;
}

static void kinds_are_what_they_say(void **state)
{
    spry_tensor *t;

    (void)state;
    check_ok(spry_tensor_generate(&t, "uniform i=50 k=300 l=400 nnz=5k", 1));
    assert_int_equal(t->unfolded->nnz, 5000);
    spry_tensor_free(t);
    check_ok(spry_tensor_generate(&t, "fibers i=99 l=1k length=20 nnz=9k", 1));
    assert_in_range(t->unfolded->nnz / fibers_of(t), 18, 20);
    spry_tensor_free(t);
    check_ok(spry_tensor_generate(
        &t, "clusters i=64 k=999 l=999 side=4 fill=1 nnz=6400", 1));
    assert_in_range(t->unfolded->nnz, 6000, 6400);
    assert_in_range(fibers_of(t), 1400, 1600);
    spry_tensor_free(t);
    assert_int_equal(spry_tensor_generate(&t, "cubes", 1), SPRY_USAGE);
    assert_int_equal(spry_tensor_generate(&t, "uniform i=0", 1), SPRY_USAGE);
    assert_int_equal(spry_tensor_generate(&t, "zipf skew=99", 1), SPRY_USAGE);
}

/* ---- mttkrp ---- */

enum { I = 5, K = 4, L = 3, N = 7 };

/* The definition, cell by cell. */
static double naive(const double A[I][K][L], const double *B, const double *D,
                    int i, int j)
{
    double sum = 0;

    for (int k = 0; k < K; k++)
        for (int l = 0; l < L; l++)
            sum += A[i][k][l] * B[k * N + j] * D[l * N + j];
    return sum;
}

static void reference_follows_its_definition(void **state)
{
    static const int64_t dim[] = {I, K, L};
    static double A[I][K][L];
    int64_t at[3][I * K * L], nnz = 0;
    double val[I * K * L], B[K * N], D[L * N], C[I * N];
    spry_tensor *t;
    spry_problem *p;

    (void)state;
    for (int64_t c = 0; c < I * K * L; c++)
        if (c % 3 != 1 && c / (K * L) != 2) { /* slice 2 is empty */
            at[0][nnz] = c / (K * L);
            at[1][nnz] = c / L % K;
            at[2][nnz] = c % L;
            val[nnz] = A[c / (K * L)][c / L % K][c % L] = (double)(c % 7 - 3);
            nnz++;
        }
    for (int i = 0; i < K * N; i++)
        B[i] = i % 5 - 2;
    for (int i = 0; i < L * N; i++)
        D[i] = i % 4 + 1;
    for (int i = 0; i < I * N; i++)
        C[i] = i;
    check_ok(spry_tensor_coordinates(&t, dim, nnz, at[0], at[1], at[2], val,
                                     SPRY_F64));
    check_ok(spry_problem_mttkrp(&p, t, N, SPRY_F64));
    check_ok(spry_problem_reference(p, 2, B, D, -1, C));
    for (int i = 0; i < I; i++)
        for (int j = 0; j < N; j++)
            assert_true(C[i * N + j] ==
                        2 * naive((const double(*)[K][L])A, B, D, i, j) -
                            (i * N + j));
    spry_problem_free(p);
    spry_tensor_free(t);
}

static void problems_know_their_sizes(void **state)
{
    spry_tensor *t, *u;
    spry_problem *p, *q;
    char about[96];

    (void)state;
    check_ok(read_text(&t, "3\n5 4 6\n1 1 1 1\n"));
    check_ok(read_text(&u, "3\n5 6 4\n1 1 1 1\n"));
    check_ok(spry_problem_mttkrp(&p, t, 8, SPRY_F32));
    check_ok(spry_problem_mttkrp(&q, u, 8, SPRY_F32));
    assert_string_not_equal(spry_problem_key(p), spry_problem_key(q));
    assert_int_equal(spry_problem_input_size(p, 0), 4 * 8);
    assert_int_equal(spry_problem_input_size(p, 1), 6 * 8);
    assert_int_equal(spry_problem_output_size(p), 5 * 8);
    assert_int_equal(spry_problem_mid(p), 4);
    assert_int_equal(spry_problem_inner(p), 6);
    assert_true(spry_problem_flops(p) == 3 * 8);
    p->kind->about(about, sizeof about, p);
    assert_string_equal(about, "mttkrp 8 f32 5x4x6 nnz 1");
    spry_problem_free(p);
    spry_problem_free(q);
    assert_int_equal(spry_problem_mttkrp(&p, NULL, 8, SPRY_F32), SPRY_USAGE);
    spry_tensor_free(t);
    spry_tensor_free(u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts_are_read),
        cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(coordinates_are_checked),
        cmocka_unit_test(turning_brings_a_mode_first),
        cmocka_unit_test(every_kind_is_its_seed),
        cmocka_unit_test(kinds_are_what_they_say),
        cmocka_unit_test(reference_follows_its_definition),
        cmocka_unit_test(problems_know_their_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
