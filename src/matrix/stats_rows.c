/* stats_rows.c - row lengths, and where the entries of rows lie. */
#include "matrix/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t length(const spry_matrix *m, int64_t i)
{
    return m->start[i + 1] - m->start[i];
}

/* 0, or 1 + floor(log2 n), in the last bin if it is beyond. */
static int hist_bin(int64_t n)
{
    int bin = n == 0 ? 0 : 64 - __builtin_clzll((unsigned long long)n);

    return bin < SPRY_HIST ? bin : SPRY_HIST - 1;
}

/* Deviation and skew around the mean, which is known first: sums of plain
 * powers would cancel. */
static void moments(spry_stats *s, const spry_matrix *m)
{
    double second = 0, third = 0, rows = (double)m->rows;

    s->row_mean = (double)m->nnz / rows;
    for (int64_t i = 0; i < m->rows; i++) {
        double d = (double)length(m, i) - s->row_mean;

        second += d * d;
        third += d * d * d;
    }
    s->row_deviation = sqrt(second / rows);
    if (s->row_deviation > 0)
        s->row_skew = third / rows / pow(s->row_deviation, 3);
}

void sp_stats_rows(spry_stats *s, const spry_matrix *m)
{
    if (m->rows == 0)
        return;
    moments(s, m);
    s->row_min = INT64_MAX;
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t n = length(m, i);

        s->empty_rows += n == 0;
        s->row_hist[hist_bin(n)]++;
        s->row_min = n < s->row_min ? n : s->row_min;
        s->row_max = n > s->row_max ? n : s->row_max;
    }
}

/* What one band of the density map, a row of its cells, adds up to. */
typedef struct {
    int64_t bandwidth, max_span, zeros, not_finite;
    double distance, span; /* sums */
    int64_t cell[SPRY_DENSITY];
} band;

/* Columns to cells: a guess by multiplication, put right by the borders. */
typedef struct {
    double cells_per_col;
    int64_t border[SPRY_DENSITY + 2];
} columns;

static void columns_open(columns *c, int64_t cols)
{
    int cells = sp_stats_cells(cols);

    c->cells_per_col = cols ? (double)cells / (double)cols : 0;
    for (int k = 0; k <= cells; k++)
        c->border[k] = sp_stats_cell_start(cols, cells ? cells : 1, k);
    c->border[cells + 1] = INT64_MAX;
}

static int column_cell(const columns *c, int64_t j)
{
    int k = (int)((double)j * c->cells_per_col);

    k += j >= c->border[k + 1];
    k -= j < c->border[k];
    return k;
}

/* The place of the diagonal in row i of a matrix of any shape. */
static int64_t diagonal_of(const spry_matrix *m, int64_t i)
{
    if (m->rows == m->cols)
        return i;
    return (int64_t)((double)i * ((double)m->cols / (double)m->rows));
}

static void add_value(band *b, double v)
{
    b->zeros += v == 0;
    b->not_finite += !isfinite(v);
}

static void add_row(band *b, const columns *c, const spry_matrix *m, int64_t i)
{
    int64_t from = m->start[i], to = m->start[i + 1];
    int64_t middle = diagonal_of(m, i), span;

    if (from == to)
        return;
    for (int64_t k = from; k < to; k++) {
        int64_t j = sp_col(m, k), far = llabs(j - middle);

        b->bandwidth = far > b->bandwidth ? far : b->bandwidth;
        b->distance += (double)far;
        b->cell[column_cell(c, j)]++;
    }
    for (int64_t k = from; k < to; k++)
        add_value(b, sp_val(m, k));
    span = sp_col(m, to - 1) - sp_col(m, from) + 1;
    b->max_span = span > b->max_span ? span : b->max_span;
    b->span += (double)span;
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* In band order, so the sums come out the same for any number of threads. */
static void add_up(spry_stats *s, const band *b, int bands)
{
    double distance = 0, span = 0;
    int64_t full = s->rows - s->empty_rows;

    for (int k = 0; k < bands; k++) {
        s->bandwidth = max_of(s->bandwidth, b[k].bandwidth);
        s->max_span = max_of(s->max_span, b[k].max_span);
        s->explicit_zeros += b[k].zeros;
        s->not_finite += b[k].not_finite;
        distance += b[k].distance;
        span += b[k].span;
        for (int c = 0; c < SPRY_DENSITY; c++)
            s->density[k][c] = (float)b[k].cell[c];
    }
    s->mean_distance = s->nnz ? distance / (double)s->nnz : 0;
    s->mean_span = full ? (int64_t)(span / (double)full) : 0;
}

spry_status sp_stats_entries(spry_stats *s, const spry_matrix *m)
{
    int bands = sp_stats_cells(m->rows);
    band *b = sp_alloc(bands, sizeof *b);
    columns c;

    if (!b)
        return sp_fail_memory((size_t)bands * sizeof *b);
    columns_open(&c, m->cols);
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < bands; k++) {
        int64_t to = sp_stats_cell_start(m->rows, bands, k + 1);

        for (int64_t i = sp_stats_cell_start(m->rows, bands, k); i < to; i++)
            add_row(&b[k], &c, m, i);
    }
    add_up(s, b, bands);
    sp_free(b);
    return SPRY_OK;
}
