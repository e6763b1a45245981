/* test_stats.c - statistics against counting cell by cell. */
#include "check.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "matrix/matrix.h"

static const char *const specs[] = {
    "uniform rows=100 cols=37 nnz=400",
    "uniform rows=37 cols=300 nnz=900",
    "uniform rows=200 nnz=1k",
    "uniform rows=9 nnz=0",
    "uniform rows=1 nnz=1",
    "uniform rows=1 cols=50 density=1",
    "uniform rows=50 cols=1 nnz=20",
    "uniform rows=150 cols=140 nnz=900 index=64",
    "stencil5 nx=12 ny=11",
    "stencil27 nx=5",
    "rmat scale=7 degree=8",
    "blocks rows=96 cols=80 r=4 c=8 nnz=1k fill=0.8",
    "arrow rows=140 head=3 band=1",
    "hypersparse rows=300 nnz=20",
    "pruned rows=64 density=0.5",
};
enum { SPECS = sizeof specs / sizeof specs[0] };

/* The matrix as a table of bytes. */
typedef struct {
    int64_t rows, cols;
    unsigned char *cell;
} table;

static table table_of(const spry_matrix *m)
{
    table t = {m->rows, m->cols, NULL};

    t.cell = calloc((size_t)(m->rows * m->cols + 1), 1);
    assert_non_null(t.cell);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            t.cell[i * m->cols + sp_col(m, k)] = 1;
    return t;
}

static int any_in(const table *t, int64_t i, int64_t j, int r, int c)
{
    for (int64_t a = i; a < i + r && a < t->rows; a++)
        for (int64_t b = j; b < j + c && b < t->cols; b++)
            if (t->cell[a * t->cols + b])
                return 1;
    return 0;
}

static int64_t count_blocks(const table *t, int r, int c)
{
    int64_t n = 0;

    for (int64_t i = 0; i < t->rows; i += r)
        for (int64_t j = 0; j < t->cols; j += c)
            n += any_in(t, i, j, r, c);
    return n;
}

static void check_blocks(const spry_stats *s, const table *t)
{
    assert_int_equal(s->threes, count_blocks(t, 3, 3));
    assert_int_equal(s->sixes, count_blocks(t, 6, 6));
    for (int a = 0; a < SPRY_BLOCKS; a++)
        for (int b = 0; b < SPRY_BLOCKS; b++) {
            int r = 1 << a, c = 1 << b;
            int64_t n = count_blocks(t, r, c);

            assert_int_equal(s->blocks[a][b], n);
            assert_true(n == 0 ||
                        fabs(spry_stats_fill(s, r, c) -
                             (double)s->nnz / (double)(n * r * c)) < 1e-12);
        }
}

static void check_rows(const spry_stats *s, const table *t)
{
    int64_t hist[SPRY_HIST] = {0}, least = INT64_MAX, most = 0;
    double mean = (double)s->nnz / (double)t->rows, second = 0, third = 0;

    for (int64_t i = 0; i < t->rows; i++) {
        int64_t n = 0;
        int bin = 0;

        for (int64_t j = 0; j < t->cols; j++)
            n += t->cell[i * t->cols + j];
        while (n >> bin)
            bin++;
        hist[bin]++;
        least = n < least ? n : least;
        most = n > most ? n : most;
        second += pow((double)n - mean, 2) / (double)t->rows;
        third += pow((double)n - mean, 3) / (double)t->rows;
    }
    assert_memory_equal(hist, s->row_hist, sizeof hist);
    assert_int_equal(s->empty_rows, hist[0]);
    assert_int_equal(s->row_min, least);
    assert_int_equal(s->row_max, most);
    assert_true(fabs(s->row_mean - mean) < 1e-9);
    assert_true(fabs(s->row_deviation - sqrt(second)) < 1e-9);
    if (second > 0)
        assert_true(fabs(s->row_skew - third / pow(second, 1.5)) < 1e-6);
}

static void check_places(const spry_stats *s, const table *t)
{
    int64_t widest = 0, band = 0, mirrored = 0, full = 0;
    double far_sum = 0, span_sum = 0;

    for (int64_t i = 0; i < t->rows; i++) {
        int64_t first = -1, last = -1;
        int64_t middle =
            (int64_t)((double)i * ((double)t->cols / (double)t->rows));

        for (int64_t j = 0; j < t->cols; j++) {
            int64_t far = llabs(j - middle);

            if (!t->cell[i * t->cols + j])
                continue;
            first = first < 0 ? j : first;
            last = j;
            band = far > band ? far : band;
            far_sum += (double)far;
            mirrored += t->rows == t->cols && t->cell[j * t->cols + i];
        }
        if (first >= 0) {
            widest = last - first + 1 > widest ? last - first + 1 : widest;
            span_sum += (double)(last - first + 1);
            full++;
        }
    }
    assert_int_equal(s->bandwidth, band);
    assert_int_equal(s->max_span, widest);
    if (s->nnz == 0)
        return;
    assert_int_equal(s->mean_span, (int64_t)(span_sum / (double)full));
    assert_true(fabs(s->mean_distance - far_sum / (double)s->nnz) < 1e-9);
    assert_true(fabs(s->symmetry - (double)mirrored / (double)s->nnz) < 1e-12);
}

static void check_diagonals(const spry_stats *s, const table *t)
{
    int64_t n = 0;

    for (int64_t d = 1 - t->rows; d < t->cols; d++) {
        int used = 0;

        for (int64_t i = 0; i < t->rows; i++)
            if (i + d >= 0 && i + d < t->cols)
                used |= t->cell[i * t->cols + i + d];
        n += used;
    }
    assert_int_equal(s->diagonals, n);
}

static void check_reuse(const spry_stats *s, const spry_matrix *m)
{
    int64_t reuse[SPRY_REUSE] = {0}, first = 0;

    for (int64_t k = 0; k < m->nnz; k++) {
        int64_t back = 1;
        int bin = 0;

        while (back <= k && sp_col(m, k - back) != sp_col(m, k))
            back++;
        while (back >> (bin + 1))
            bin++;
        if (back > k)
            first++;
        else
            reuse[bin]++;
    }
    assert_memory_equal(reuse, s->reuse, sizeof reuse);
    assert_int_equal(s->reuse_first, first);
    assert_int_equal(s->empty_cols, m->cols - first);
}

static void check_density(const spry_stats *s, const spry_matrix *m)
{
    static float want[SPRY_DENSITY][SPRY_DENSITY];
    int64_t high = m->rows < SPRY_DENSITY ? m->rows : SPRY_DENSITY;
    int64_t wide = m->cols < SPRY_DENSITY ? m->cols : SPRY_DENSITY;

    memset(want, 0, sizeof want);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            want[i * high / m->rows][sp_col(m, k) * wide / m->cols]++;
    assert_memory_equal(want, s->density, sizeof want);
}

static void all_agree_with_counting(void **state)
{
    static spry_stats s = {.size = sizeof s};

    (void)state;
    for (int k = 0; k < SPECS; k++) {
        spry_matrix *m;
        table t;

        check_ok(spry_matrix_generate(&m, specs[k], 11));
        check_ok(spry_matrix_stats(&s, m));
        t = table_of(m);
        assert_int_equal(s.nnz, m->nnz);
        check_blocks(&s, &t);
        check_rows(&s, &t);
        check_places(&s, &t);
        check_diagonals(&s, &t);
        check_reuse(&s, m);
        check_density(&s, m);
        free(t.cell);
        spry_matrix_free(m);
    }
}

static void no_rows_no_columns(void **state)
{
    static spry_stats s = {.size = sizeof s};
    const int64_t start[4] = {0};
    spry_matrix *m;

    (void)state;
    check_ok(spry_matrix_csr(&m, 0, 0, start, start, start, SPRY_I64, SPRY_F64,
                             SPRY_COPY));
    check_ok(spry_matrix_stats(&s, m));
    assert_true(s.nnz == 0 && s.row_mean == 0 && s.symmetry == 0);
    assert_true(spry_stats_fill(&s, 4, 4) == 0);
    spry_matrix_free(m);
    check_ok(spry_matrix_csr(&m, 3, 0, start, start, start, SPRY_I64, SPRY_F64,
                             SPRY_COPY));
    check_ok(spry_matrix_stats(&s, m));
    assert_int_equal(s.empty_rows, 3);
    spry_matrix_free(m);
}

static void odd_values_are_counted(void **state)
{
    const int32_t start[] = {0, 3, 5}, col[] = {0, 1, 2, 0, 3};
    const float val[] = {0, NAN, 1, -INFINITY, -0.0F};
    static spry_stats s = {.size = sizeof s};
    spry_matrix *m;

    (void)state;
    check_ok(spry_matrix_csr(&m, 2, 4, start, col, val, SPRY_I32, SPRY_F32,
                             SPRY_COPY));
    check_ok(spry_matrix_stats(&s, m));
    assert_int_equal(s.explicit_zeros, 2);
    assert_int_equal(s.not_finite, 2);
    spry_matrix_free(m);
}

/* So wide that columns must be hashed: the same as the narrow one whose
 * columns are 16 times closer, where blocks of 16 columns are one column. */
static void width_costs_no_memory(void **state)
{
    enum { APART = 1 << 30 };
    static spry_stats narrow = {.size = sizeof narrow},
                      wide = {.size = sizeof wide};
    spry_matrix *a, *b;
    int64_t *col;

    (void)state;
    check_ok(
        spry_matrix_generate(&a, "uniform rows=90 cols=70 nnz=1k index=64", 1));
    col = sp_alloc(a->nnz, sizeof *col);
    for (int64_t k = 0; k < a->nnz; k++)
        col[k] = sp_col(a, k) * APART;
    check_ok(spry_matrix_csr(&b, 90, (int64_t)70 * APART, a->start, col, a->val,
                             SPRY_I64, SPRY_F64, SPRY_COPY));
    check_ok(spry_matrix_stats(&narrow, a));
    check_ok(spry_matrix_stats(&wide, b));
    for (int r = 0; r < SPRY_BLOCKS; r++)
        for (int c = 0; c < SPRY_BLOCKS; c++)
            assert_int_equal(wide.blocks[r][c], narrow.blocks[r][0]);
    assert_memory_equal(wide.reuse, narrow.reuse, sizeof wide.reuse);
    assert_int_equal(wide.reuse_first, narrow.reuse_first);
    assert_int_equal(wide.diagonals, 1000); /* all apart */
    sp_free(col);
    spry_matrix_free(a);
    spry_matrix_free(b);
}

static void threads_do_not_show(void **state)
{
    static spry_stats one = {.size = sizeof one},
                      three = {.size = sizeof three};
    int threads = omp_get_max_threads();
    spry_matrix *m;

    (void)state;
    check_ok(spry_matrix_generate(&m, "rmat scale=11", 1));
    omp_set_num_threads(1);
    check_ok(spry_matrix_stats(&one, m));
    omp_set_num_threads(3);
    check_ok(spry_matrix_stats(&three, m));
    omp_set_num_threads(threads);
    assert_memory_equal(&one, &three, sizeof one);
    spry_matrix_free(m);
}

/* ---- sketches ---- */

static const char *const large[] = {
    "uniform rows=40k nnz=400k",
    "uniform rows=30 cols=40k nnz=300k",
    "uniform rows=40k cols=500 nnz=300k index=64",
    "stencil27 nx=30",
    "rmat scale=15 degree=12",
    "blocks rows=40k r=4 c=8 nnz=400k fill=0.9",
    "powerlaw rows=50k nnz=400k exponent=2",
    "diagonals rows=60k count=9",
};
enum { LARGE = sizeof large / sizeof large[0] };

static void near(double value, double right, double by)
{
    if (fabs(value - right) > by * fabs(right))
        fail_msg("%g is not nearly %g", value, right);
}

/* Density per quarter of the map: cells alone hold too little. */
static double quarter(const spry_stats *s, int i, int j)
{
    double sum = 0;

    for (int r = 0; r < SPRY_DENSITY / 2; r++)
        for (int c = 0; c < SPRY_DENSITY / 2; c++)
            sum += (double)s->density[i * SPRY_DENSITY / 2 + r]
                                     [j * SPRY_DENSITY / 2 + c];
    return sum;
}

static void sketches_are_close(void **state)
{
    static spry_stats sketch = {.size = sizeof sketch},
                      right = {.size = sizeof right};

    (void)state;
    for (int k = 0; k < LARGE; k++) {
        spry_matrix *m;

        check_ok(spry_matrix_generate(&m, large[k], 1));
        assert_true(m->nnz > SP_SKETCH_FROM);
        check_ok(sp_matrix_sketch(&sketch, m));
        check_ok(spry_matrix_stats(&right, m));
        assert_memory_equal(sketch.reuse, right.reuse, sizeof sketch.reuse);
        assert_memory_equal(sketch.row_hist, right.row_hist,
                            sizeof sketch.row_hist);
        assert_int_equal(sketch.reuse_first, right.reuse_first);
        assert_int_equal(sketch.empty_cols, right.empty_cols);
        assert_int_equal(sketch.empty_rows, right.empty_rows);
        assert_int_equal(sketch.diagonals, right.diagonals);
        assert_int_equal(sketch.bandwidth, right.bandwidth);
        assert_int_equal(sketch.max_span, right.max_span);
        assert_int_equal(sketch.mean_span, right.mean_span);
        assert_int_equal(sketch.one_value, right.one_value);
        assert_int_equal(sketch.different, right.different);
        for (int a = 0; a < SPRY_BLOCKS; a++)
            for (int b = 0; b < SPRY_BLOCKS; b++)
                near((double)sketch.blocks[a][b], (double)right.blocks[a][b],
                     0.1);
        near((double)sketch.threes, (double)right.threes, 0.1);
        near((double)sketch.sixes, (double)right.sixes, 0.1);
        near(sketch.mean_distance, right.mean_distance, 0.2);
        assert_true(fabs(sketch.symmetry - right.symmetry) < 0.05);
        for (int q = 0; q < 4; q++)
            assert_true(fabs(quarter(&sketch, q / 2, q % 2) -
                             quarter(&right, q / 2, q % 2)) <
                        0.15 * (double)m->nnz);
        spry_matrix_free(m);
    }
}

static spry_status sketch_or_stats(spry_stats *s, const spry_matrix *m)
{
    return m->nnz > SP_SKETCH_FROM ? sp_matrix_sketch(s, m)
                                   : spry_matrix_stats(s, m);
}

static void refuse_all(const char *spec)
{
    static spry_stats s = {.size = sizeof s};
    spry_status status = SPRY_SYSTEM;
    int64_t before;
    spry_matrix *m;

    check_ok(spry_matrix_generate(&m, spec, 1));
    before = sp_alloc_live();
    for (int n = 1; status != SPRY_OK; n++) {
        sp_alloc_refuse(n, 1);
        status = sketch_or_stats(&s, m);
        sp_alloc_refuse(0, 0);
        assert_true(status == SPRY_OK || status == SPRY_SYSTEM);
        assert_int_equal(sp_alloc_live(), before);
    }
    spry_matrix_free(m);
}

static void refused_memory_leaks_nothing(void **state)
{
    (void)state;
    refuse_all(specs[0]);
    refuse_all(large[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_agree_with_counting),
        cmocka_unit_test(no_rows_no_columns),
        cmocka_unit_test(odd_values_are_counted),
        cmocka_unit_test(width_costs_no_memory),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(sketches_are_close),
        cmocka_unit_test(refused_memory_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
