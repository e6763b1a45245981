/* stats_sketch.c - statistics for who is in a hurry, such as a model that has
 * to choose before a dozen plain runs are over.
 *
 * What one look at each row or each column number tells stays exact: lengths,
 * spans, diagonals, reuse of columns. The rest is counted on stretches of rows
 * here and there, the same ones every time, and scaled up; values are not
 * looked at. */
#include "matrix/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A stretch holds whole blocks of 16, of 6 and of 3 rows. Those with far more
 * entries than most are few and unlike the others: all of them count. */
enum { STRETCH = 48, FEWEST = 64, ENTRIES = 1 << 16, PAIRS = 4096, HEAVY = 4 };

/* ---- the sample ---- */

typedef struct {
    spry_matrix m;  /* the stretches, one below the other, without values */
    int64_t *start; /* of m */
    char *col;      /* of m */
    int64_t *first; /* [stretches] first row of each in the whole matrix */
    int64_t stretches, whole;
} sample;

static void sample_close(sample *s)
{
    sp_free(s->first);
    sp_free(s->start);
    sp_free(s->col);
}

static int64_t end_of(const spry_matrix *m, int64_t row)
{
    return row + STRETCH < m->rows ? row + STRETCH : m->rows;
}

static int64_t entries_of(const spry_matrix *m, int64_t row)
{
    return m->start[end_of(m, row)] - m->start[row];
}

/* Of the heavy stretches all, of the others one of every `share`, by chance.
 * s->whole is how many entries the stretches of this kind have together. */
static void choose(sample *s, const spry_matrix *m, int heavy, int64_t share)
{
    double limit = HEAVY * (double)m->nnz * STRETCH / (double)m->rows;
    sp_rng r = sp_rng_seed(1);
    int64_t n = 0, turn = 0;

    for (int64_t row = 0; row < m->rows; row += STRETCH) {
        int64_t entries = entries_of(m, row);

        if (((double)entries > limit) != heavy)
            continue;
        s->whole += entries;
        if (n % share == 0)
            turn = (int64_t)sp_rng_below(&r, (uint64_t)share);
        if (n++ % share != turn)
            continue;
        s->first[s->stretches++] = row;
        s->m.nnz += entries;
    }
}

static void copy_stretches(sample *s, const spry_matrix *m)
{
    size_t wide = m->index == SPRY_I32 ? sizeof(int32_t) : sizeof(int64_t);
    int64_t at = 0;

    for (int64_t k = 0; k < s->stretches; k++) {
        int64_t from = s->first[k], to = end_of(m, from);
        int64_t begin = m->start[from];

        memcpy(s->col + (size_t)at * wide,
               (const char *)m->col + (size_t)begin * wide,
               (size_t)(m->start[to] - begin) * wide);
        for (int64_t i = from; i < to; i++)
            s->start[++s->m.rows] = at + m->start[i + 1] - begin;
        at += m->start[to] - begin;
    }
}

static spry_status sample_open(sample *s, const spry_matrix *m, int heavy)
{
    int64_t all = (m->rows + STRETCH - 1) / STRETCH, share = m->nnz / ENTRIES;

    *s = (sample){.m = {.cols = m->cols, .index = m->index, .type = m->type}};
    share = share < all / FEWEST ? share : all / FEWEST;
    share = heavy || share < 1 ? 1 : share;
    s->first = sp_alloc_raw(all + 1, sizeof *s->first);
    if (!s->first)
        return sp_fail_memory((size_t)all * sizeof *s->first);
    choose(s, m, heavy, share);
    s->start = sp_alloc(s->stretches * STRETCH + 1, sizeof *s->start);
    s->col = sp_alloc_raw(s->m.nnz + 1, sizeof(int64_t));
    if (!s->start || !s->col)
        return sp_fail_memory((size_t)s->m.nnz * sizeof(int64_t));
    copy_stretches(s, m);
    s->m.start = s->start;
    s->m.col = s->col;
    return SPRY_OK;
}

/* ---- what is counted on it ---- */

/* Distances from the diagonal, and the map of densities. */
static void spread(spry_stats *out, const sample *s, const spry_matrix *m)
{
    int high = sp_stats_cells(m->rows), wide = sp_stats_cells(m->cols);
    double slope = (double)m->cols / (double)m->rows, sum = 0;
    double per_cell = (double)wide / (double)m->cols;

    for (int64_t k = 0; k < s->stretches; k++)
        for (int64_t i = s->first[k]; i < end_of(m, s->first[k]); i++) {
            float *cell =
                out->density[(int)((double)i * high / (double)m->rows)];
            int64_t middle = (int64_t)((double)i * slope);

            for (int64_t at = m->start[i]; at < m->start[i + 1]; at++) {
                int64_t j = sp_col(m, at);

                sum += (double)llabs(j - middle);
                cell[(int)((double)j * per_cell)]++;
            }
        }
    out->mean_distance = sum;
}

static int has_entry(const spry_matrix *m, int64_t i, int64_t j)
{
    int64_t at = sp_find_col(m, m->start[i], m->start[i + 1], j);

    return at < m->start[i + 1] && sp_col(m, at) == j;
}

/* Every so-many-th entry of the sample: is its mirror there? */
static void mirror(spry_stats *out, const sample *s, const spry_matrix *m)
{
    int64_t step = s->m.nnz / PAIRS + 1, found = 0, asked = 0, next = 0;

    for (int64_t k = 0, i = 0; m->rows == m->cols && k < s->stretches; k++)
        for (int64_t row = s->first[k]; row < end_of(m, s->first[k]);
             row++, i++)
            for (; next < s->start[i + 1]; next += step, asked++)
                found += has_entry(m, sp_col(&s->m, next), row);
    out->symmetry =
        asked ? (double)s->m.nnz * (double)found / (double)asked : 0;
}

static int64_t scaled(int64_t count, double by)
{
    return (int64_t)llround((double)count * by);
}

/* Add what was counted on one of so many entries. */
static void add(spry_stats *out, const spry_stats *part, double by)
{
    for (int a = 0; a < SPRY_BLOCKS; a++)
        for (int b = 0; b < SPRY_BLOCKS; b++)
            out->blocks[a][b] += scaled(part->blocks[a][b], by);
    out->threes += scaled(part->threes, by);
    out->sixes += scaled(part->sixes, by);
    for (int i = 0; i < SPRY_DENSITY; i++)
        for (int j = 0; j < SPRY_DENSITY; j++)
            out->density[i][j] += part->density[i][j] * (float)by;
    out->mean_distance += part->mean_distance * by / (double)out->nnz;
    out->symmetry += part->symmetry * by / (double)out->nnz;
}

static spry_status count_sample(spry_stats *part, const sample *s,
                                const spry_matrix *m)
{
    spry_status status = sp_stats_blocks(part, &s->m);

    if (status == SPRY_OK)
        status = sp_stats_threes(part, &s->m);
    if (status != SPRY_OK)
        return status;
    spread(part, s, m);
    mirror(part, s, m);
    return SPRY_OK;
}

static spry_status sampled(spry_stats *out, const spry_matrix *m)
{
    spry_status status = SPRY_OK;

    for (int heavy = 0; heavy < 2 && status == SPRY_OK; heavy++) {
        spry_stats *part = sp_alloc(1, sizeof *part);
        sample s = {.stretches = 0};

        status =
            part ? sample_open(&s, m, heavy) : sp_fail_memory(sizeof *part);
        if (status == SPRY_OK && s.m.nnz)
            status = count_sample(part, &s, m);
        if (status == SPRY_OK && s.m.nnz)
            add(out, part, (double)s.whole / (double)s.m.nnz);
        sample_close(&s);
        sp_free(part);
    }
    out->blocks[0][0] = m->nnz;
    return status;
}

/* ---- what stays exact ---- */

/* Lengths; and as columns ascend, a row's ends are all there is to see. */
static spry_status rows(spry_stats *out, const spry_matrix *m)
{
    double slope = (double)m->cols / (double)m->rows, sum = 0;

    sp_stats_rows(out, m);
    for (int64_t i = 0; i < m->rows; i++) {
        int64_t middle = (int64_t)((double)i * slope), first, last;

        if (m->start[i] == m->start[i + 1])
            continue;
        first = sp_col(m, m->start[i]);
        last = sp_col(m, m->start[i + 1] - 1);
        out->bandwidth = llabs(first - middle) > out->bandwidth
                             ? llabs(first - middle)
                             : out->bandwidth;
        out->bandwidth = llabs(last - middle) > out->bandwidth
                             ? llabs(last - middle)
                             : out->bandwidth;
        out->max_span =
            last - first + 1 > out->max_span ? last - first + 1 : out->max_span;
        sum += (double)(last - first + 1);
    }
    if (out->empty_rows < m->rows)
        out->mean_span = (int64_t)(sum / (double)(m->rows - out->empty_rows));
    return SPRY_OK;
}

spry_status sp_matrix_sketch(spry_stats *out, const spry_matrix *m)
{
    /* the longest first */
    static sp_stats_part *const part[] = {sp_stats_reuse, sp_stats_diagonals,
                                          sampled, sp_stats_values, rows};

    if (m->nnz <= SP_SKETCH_FROM)
        return spry_matrix_stats(out, m);
    sp_stats_begin(out, m);
    return sp_stats_together(out, m, part, sizeof part / sizeof *part);
}
