/* test_generate.c - every kind: sound, repeatable, of the size asked for. */
#include "check.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "../../bench/classes.h"
#include "base/base.h"
#include "matrix/matrix.h"

/* Small and odd-shaped specs, several for each kind. */
static const char *const specs[] = {
    "uniform rows=100 cols=37 nnz=400",
    "uniform rows=3 cols=5 density=1",
    "uniform rows=40 density=0.9",
    "uniform rows=1 nnz=1",
    "uniform rows=9,nnz=0,values=ones",
    "uniform rows=50 cols=1e12 nnz=300",
    "banded rows=70 cols=50 band=7 density=0.4",
    "banded rows=20 band=0 density=1",
    "stencil5 nx=7 ny=3",
    "stencil27 nx=4 ny=3 nz=2",
    "rmat scale=8 degree=4",
    "rmat scale=0",
    "powerlaw rows=300 cols=80 nnz=2k exponent=1.8",
    "powerlaw rows=64 nnz=1000 longest=20",
    "blocks rows=50 cols=70 r=4 c=8 nnz=600",
    "blocks rows=64 r=8 c=8 nnz=1k fill=0.5",
    "diagonals rows=60 cols=40 count=5",
    "diagonals rows=1 count=1",
    "hypersparse rows=5k nnz=200",
    "hypersparse rows=100 cols=10 nnz=50 used=5",
    "pruned rows=64 cols=96 density=0.2",
    "pruned rows=64 row_skew=0.7 col_skew=2 density=0.3",
    "arrow rows=30 cols=40 head=2 band=1",
    "bipartite left=40 right=25 edges=300",
    "bipartite left=1 right=1 edges=1",
};
enum { SPECS = sizeof specs / sizeof specs[0] };

static spry_matrix *make(const char *spec, uint64_t seed)
{
    spry_matrix *m;

    check_ok(spry_matrix_generate(&m, spec, seed));
    return m;
}

static void check_sound(const spry_matrix *m)
{
    assert_int_equal(m->start[0], 0);
    assert_int_equal(m->start[m->rows], m->nnz);
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t before = -1;

        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            assert_true(sp_col(m, k) > before);
            before = sp_col(m, k);
            assert_true(sp_val(m, k) != 0 && fabs(sp_val(m, k)) <= 1);
        }
        assert_true(before < m->cols);
    }
}

static int same(const spry_matrix *a, const spry_matrix *b)
{
    int equal = a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz;

    for (int64_t k = 0; equal && k < a->nnz; k++)
        equal = sp_col(a, k) == sp_col(b, k) && sp_val(a, k) == sp_val(b, k);
    return equal && memcmp(a->start, b->start,
                           (size_t)(a->rows + 1) * sizeof *a->start) == 0;
}

static int has(const spry_matrix *m, int64_t i, int64_t j)
{
    for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
        if (sp_col(m, k) == j)
            return 1;
    return 0;
}

static void every_spec_is_sound(void **state)
{
    (void)state;
    for (int k = 0; k < SPECS; k++) {
        spry_matrix *m = make(specs[k], 3);

        check_sound(m);
        spry_matrix_free(m);
    }
}

static void defaults_make_a_matrix(void **state)
{
    (void)state;
    for (int k = 0; spry_generator_name(k); k++) {
        spry_matrix *m = make(spry_generator_name(k), 1);

        assert_true(m->nnz > 0);
        assert_non_null(spry_generator_help(k));
        assert_non_null(spry_generator_params(k));
        spry_matrix_free(m);
    }
    assert_null(spry_generator_name(-1));
    assert_null(spry_generator_help(99));
}

static void threads_do_not_show(void **state)
{
    int threads = omp_get_max_threads();

    (void)state;
    for (int k = 0; k < SPECS; k++) {
        spry_matrix *one, *three;

        omp_set_num_threads(1);
        one = make(specs[k], 5);
        omp_set_num_threads(3);
        three = make(specs[k], 5);
        assert_true(same(one, three));
        spry_matrix_free(one);
        spry_matrix_free(three);
    }
    omp_set_num_threads(threads);
}

/* FNV-1a over the positions, for the numbers below. */
static uint64_t fingerprint(const spry_matrix *m)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            h = (h ^ (uint64_t)(i * m->cols + sp_col(m, k))) * 0x100000001b3u;
    return h;
}

/* Written down once; a change here changes everyone's benchmarks. */
static void the_same_on_any_machine(void **state)
{
    static const struct {
        const char *spec;
        int64_t nnz;
        uint64_t print;
    } known[] = {
        {"uniform rows=1k nnz=5k", 5000, 0x7f0297d3242b9432u},
        {"rmat scale=10 degree=8", 6713, 0xb4d996d7d312ea9au},
        {"powerlaw rows=1k exponent=2.3", 16000, 0xf0583e4771a6ed26u},
        {"pruned rows=128 row_skew=0.5 col_skew=1.5", 1638,
         0xce405e4750b46c22u},
        {"bipartite left=300 right=200", 4730, 0xd8968b2c11912b24u},
    };

    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        spry_matrix *m = make(known[k].spec, 42);

        assert_int_equal(m->nnz, known[k].nnz);
        assert_int_equal(fingerprint(m), known[k].print);
        spry_matrix_free(m);
    }
}

static void seeds_differ(void **state)
{
    spry_matrix *a = make("rmat scale=8", 1), *b = make("rmat scale=8", 2);

    (void)state;
    assert_false(same(a, b));
    spry_matrix_free(a);
    spry_matrix_free(b);
}

static void counts_are_exact(void **state)
{
    static const struct {
        const char *spec;
        int64_t rows, cols, nnz;
    } want[] = {
        {"uniform rows=2k nnz=32k", 2000, 2000, 32000},
        {"uniform rows=40 density=0.9", 40, 40, 1440},
        {"pruned rows=64 cols=96 density=0.2", 64, 96, 1229},
        {"powerlaw rows=300 cols=80 nnz=2k exponent=1.8", 300, 80, 2000},
        {"hypersparse rows=5k nnz=200", 5000, 5000, 200},
        {"blocks rows=64 r=8 c=8 nnz=640", 64, 64, 640},
        {"stencil5 nx=7 ny=3", 21, 21, 5 * 21 - 2 * 7 - 2 * 3},
        {"stencil27 nx=4 ny=3 nz=2", 24, 24, 280},
        {"arrow rows=30", 30, 30, 88},
        {"diagonals rows=60 count=1", 60, 60, 60},
        {"banded rows=20 band=2 density=1", 20, 20, 94},
        {"uniform rows=5 cols=9 density=1", 5, 9, 45},
    };

    (void)state;
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        spry_matrix *m = make(want[k].spec, 7);

        assert_int_equal(m->rows, want[k].rows);
        assert_int_equal(m->cols, want[k].cols);
        assert_int_equal(m->nnz, want[k].nnz);
        spry_matrix_free(m);
    }
}

static void shapes_are_what_they_say(void **state)
{
    spry_matrix *m = make("banded rows=90 band=5", 1);

    (void)state;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            assert_in_range(sp_col(m, k) - i + 5, 0, 10);
    spry_matrix_free(m);

    m = make("bipartite left=40 right=25 edges=300", 1);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            assert_true((i < 40) != (sp_col(m, k) < 40));
            assert_true(has(m, sp_col(m, k), i));
        }
    spry_matrix_free(m);

    m = make("blocks rows=64 r=8 c=4 nnz=640", 1);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            assert_true(has(m, i / 8 * 8, sp_col(m, k) / 4 * 4));
    spry_matrix_free(m);

    m = make("powerlaw rows=1k nnz=10k exponent=2 longest=300", 1);
    for (int64_t i = 0; i < m->rows; i++)
        assert_true(m->start[i + 1] - m->start[i] <= 300);
    spry_matrix_free(m);
}

static void hypersparse_uses_the_rows_asked_for(void **state)
{
    spry_matrix *m = make("hypersparse rows=1000 nnz=90 used=70", 1);
    int64_t used = 0;

    (void)state;
    for (int64_t i = 0; i < m->rows; i++)
        used += m->start[i + 1] > m->start[i];
    assert_int_equal(used, 70);
    spry_matrix_free(m);
}

/* Entries of the first quarter of rows and columns, as a share. */
static double corner(const spry_matrix *m)
{
    int64_t n = 0;

    for (int64_t i = 0; i < m->rows / 2; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            n += sp_col(m, k) < m->cols / 2;
    return (double)n / (double)m->nnz;
}

static void chances_come_out(void **state)
{
    spry_matrix *even = make("uniform rows=500 nnz=20k", 9);
    spry_matrix *rmat = make("rmat scale=16 degree=2 a=0.7 b=0.1 c=0.1", 9);

    (void)state;
    assert_true(fabs(corner(even) - 0.25) < 0.02);
    assert_true(fabs(corner(rmat) - 0.7) < 0.04);
    spry_matrix_free(even);
    spry_matrix_free(rmat);
}

static void options_of_all_kinds(void **state)
{
    spry_matrix *m = make("uniform rows=10 nnz=30 values=ones index=64", 1);

    (void)state;
    assert_int_equal(m->index, SPRY_I64);
    for (int64_t k = 0; k < m->nnz; k++)
        assert_true(sp_val(m, k) == 1);
    spry_matrix_free(m);
    m = make("uniform rows=4 cols=3G nnz=9", 1);
    assert_int_equal(m->index, SPRY_I64);
    spry_matrix_free(m);
}

static void nonsense_is_refused(void **state)
{
    static const struct {
        const char *spec, *says;
    } bad[] = {
        {"", "bipartite"},
        {"unifrom", "uniform"},
        {"rmat scal=4", "scale=14"},
        {"rmat scale", "scale=14"},
        {"rmat scale=x", "'x'"},
        {"rmat scale=60", "scale"},
        {"rmat a=0.9 b=0.9", "sum"},
        {"uniform rows=0", "rows"},
        {"uniform rows=1.5", "whole"},
        {"uniform rows=1e300", "rows"},
        {"uniform rows=3 rows=4", "twice"},
        {"uniform rows=10 nnz=101", "nnz"},
        {"uniform nnz=1 density=0.1", "not both"},
        {"uniform values=twos", "twos"},
        {"uniform index=16", "32 or 64"},
        {"hypersparse rows=10 nnz=5 used=6", "used"},
        {"hypersparse rows=10 cols=1 nnz=5 used=2", "fit"},
        {"powerlaw rows=10 nnz=90 longest=8", "fit"},
        {"diagonals rows=5 count=99", "count"},
        {"stencil5 nx=1e9 ny=1e9", "too many"},
        {"uniform rows=1M cols=1T density=1", "too many"},
        {"uniform rows=1M nnz=1e300", "nnz"},
        {"rmat scale=48 degree=1M", "too many"},
        {"banded rows=1T band=1T", "too many"},
        {"arrow rows=1M cols=1T head=1M", "too many"},
        {"diagonals rows=1T count=1k", "too many"},
        {"blocks rows=1G fill=1e-9", "too many"},
        {"bipartite edges=1e300", "edges"},
        {"bipartite edges=1e15", "too many"},
        {"blocks rows=4 r=8", "r is 8"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        spry_matrix *m = (spry_matrix *)&m;

        assert_int_equal(spry_matrix_generate(&m, bad[k].spec, 1), SPRY_USAGE);
        assert_null(m);
        if (!strstr(spry_message(), bad[k].says))
            fail_msg("'%s' says: %s", bad[k].spec, spry_message());
    }
}

static void refused_memory_leaks_nothing(void **state)
{
    int64_t before = sp_alloc_live();

    (void)state;
    for (int k = 0; k < SPECS; k++) {
        spry_status s = SPRY_SYSTEM;

        for (int n = 1; s != SPRY_OK; n++) {
            spry_matrix *m;

            sp_alloc_refuse(n, 1);
            s = spry_matrix_generate(&m, specs[k], 1);
            sp_alloc_refuse(0, 0);
            assert_true(s == SPRY_OK || s == SPRY_SYSTEM);
            assert_true((s == SPRY_OK) == (m != NULL));
            spry_matrix_free(m);
            assert_int_equal(sp_alloc_live(), before);
        }
    }
}

static void the_benchmark_classes_exist(void **state)
{
    (void)state;
    for (int k = 0; k < BENCH_CLASSES; k++) {
        spry_matrix *m = make(bench_classes[k].spec, BENCH_SEED);

        assert_true(m->nnz >= 32000 && m->nnz <= 10000000);
        spry_matrix_free(m);
    }
}

/* docs/generators.md shows each kind's parameters as they are. */
static void the_manual_is_true(void **state)
{
    int root = (int)strlen(SPRY_TEST_DATA) - (int)strlen("/tests/data");
    char path[4096];
    sp_file f;

    (void)state;
    snprintf(path, sizeof path, "%.*s/docs/generators.md", root,
             SPRY_TEST_DATA);
    check_ok(sp_file_read(&f, path, 1 << 20));
    for (int k = 0; spry_generator_name(k); k++) {
        assert_non_null(strstr(f.data, spry_generator_params(k)));
        assert_non_null(strstr(f.data, spry_generator_help(k)));
    }
    sp_file_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spec_is_sound),
        cmocka_unit_test(defaults_make_a_matrix),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(the_same_on_any_machine),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(shapes_are_what_they_say),
        cmocka_unit_test(hypersparse_uses_the_rows_asked_for),
        cmocka_unit_test(chances_come_out),
        cmocka_unit_test(options_of_all_kinds),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(refused_memory_leaks_nothing),
        cmocka_unit_test(the_benchmark_classes_exist),
        cmocka_unit_test(the_manual_is_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
