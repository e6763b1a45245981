/* features.c - problems and machines as rows of numbers. */
#include "model/features.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "model/internal.h"

enum { KNOWN_BY_SHAPE = 12 };

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ---- the problem ---- */

void sp_features_shape(float out[SP_PATTERN], const sp_problem_shape *k)
{
    double rows = (double)k->rows, cols = (double)k->cols;
    double nnz = (double)k->nnz;
    sp_feature_row r = {out};

    for (int op = 0; op < SPRY_OPS; op++)
        sp_put(&r, op == (int)k->op);
    sp_put(&r, sp_size((double)k->n));
    sp_put(&r, (double)k->type);
    sp_put(&r, 0); /* row-major */
    sp_put(&r, sp_size(rows));
    sp_put(&r, sp_size(cols));
    sp_put(&r, sp_size(nnz));
    sp_put(&r, log2(fmax(1, nnz) / (fmax(1, rows) * fmax(1, cols))));
    sp_put(&r, log2(fmax(1, nnz) / fmax(1, rows)));
    while (r.at < out + SP_PATTERN)
        sp_put(&r, (double)NAN);
}

static void put_rows(sp_feature_row *r, const spry_stats *t)
{
    sp_put(r, sp_size((double)t->row_min));
    sp_put(r, sp_size((double)t->row_max));
    sp_put(r, sp_size(t->row_deviation));
    sp_put(r, sp_size(share(t->row_deviation, t->row_mean)));
    sp_put(r, copysign(sp_size(fabs(t->row_skew)), t->row_skew));
    sp_put(r, share((double)t->empty_rows, (double)t->rows));
    sp_put(r, share((double)t->empty_cols, (double)t->cols));
}

static void put_distances(sp_feature_row *r, const spry_stats *t)
{
    double cols = (double)t->cols;

    sp_put(r, sp_size((double)t->bandwidth));
    sp_put(r, share((double)t->bandwidth, cols));
    sp_put(r, sp_size(t->mean_distance));
    sp_put(r, share(t->mean_distance, cols));
    sp_put(r, sp_size((double)t->mean_span));
    sp_put(r, sp_size((double)t->max_span));
    sp_put(r, sp_size((double)t->diagonals));
    sp_put(r, t->symmetry);
    sp_put(r, (double)t->one_value);
}

static void put_fills(sp_feature_row *r, const spry_stats *t)
{
    for (int a = 0; a < SPRY_BLOCKS; a++)
        for (int b = 0; b < SPRY_BLOCKS; b++)
            if (a + b > 0)
                sp_put(r, spry_stats_fill(t, 1 << a, 1 << b));
}

/* Share of accesses that come again within so many entries, and of those
 * that are the first. */
static void put_reuse(sp_feature_row *r, const spry_stats *t)
{
    static const int until[] = {4, 7, 10, 13, 16, 19};
    double sum = 0, nnz = (double)t->nnz;
    int bin = 0;

    for (size_t i = 0; i < sizeof until / sizeof *until; i++) {
        for (; bin < until[i]; bin++)
            sum += (double)t->reuse[bin];
        sp_put(r, share(sum, nnz));
    }
    sp_put(r, share((double)t->reuse_first, nnz));
}

/* Share of rows shorter than 2, 4 ... 128, 512. */
static void put_lengths(sp_feature_row *r, const spry_stats *t)
{
    static const int until[] = {2, 3, 4, 5, 6, 7, 8, 10};
    double sum = 0;
    int bin = 0;

    for (size_t i = 0; i < sizeof until / sizeof *until; i++) {
        for (; bin < until[i]; bin++)
            sum += (double)t->row_hist[bin];
        sp_put(r, share(sum, (double)t->rows));
    }
}

/* How the entries spread over the map: cells in use, fine and coarse; the
 * evenness; the fullest cell; what lies on the diagonal. */
static void put_map(sp_feature_row *r, const spry_stats *t)
{
    int high = t->rows < SPRY_DENSITY ? (int)t->rows : SPRY_DENSITY;
    int wide = t->cols < SPRY_DENSITY ? (int)t->cols : SPRY_DENSITY;
    double used = 0, most = 0, even = 0, near = 0, nnz = (double)t->nnz;
    uint8_t coarse[16][16] = {{0}};
    int blocks = 0;

    for (int i = 0; i < high; i++)
        for (int j = 0; j < wide; j++) {
            double part = share((double)t->density[i][j], nnz);

            if (part <= 0)
                continue;
            used++;
            most = fmax(most, part);
            even -= part * log2(part);
            if (abs(i * wide - j * high) <= 4 * high)
                near += part;
            coarse[i * 16 / high][j * 16 / wide] = 1;
        }
    for (int i = 0; i < 256; i++)
        blocks += coarse[i / 16][i % 16];
    sp_put(r, share(used, (double)high * wide));
    sp_put(r, blocks / 256.0);
    sp_put(r, used > 1 ? even / log2(used) : 0);
    sp_put(r, most);
    sp_put(r, near);
}

spry_status sp_features_pattern(float out[SP_PATTERN], const sp_sparse *p)
{
    const spry_stats *t = sp_problem_sketch(p);
    sp_feature_row r = {out + KNOWN_BY_SHAPE};
    sp_problem_shape k;

    if (!t)
        return sp_fail_memory(sizeof *t);
    k = (sp_problem_shape){p->op, p->type, p->n, t->rows, t->cols, t->nnz};
    sp_features_shape(out, &k);
    out[SPRY_OPS + 2] = (float)(p->layout == SPRY_COL_MAJOR);
    put_rows(&r, t);
    put_distances(&r, t);
    put_fills(&r, t);
    put_reuse(&r, t);
    put_lengths(&r, t);
    put_map(&r, t);
    return SPRY_OK;
}

/* ---- the machine ---- */

/* Logarithms to base 2 of counts, bytes, bytes/s, seconds and FLOP/s, and what
 * they are on machines from a small board to a large server. */
static const struct {
    const char *name;
    double centre, spread;
} machine_columns[SP_MACHINE] = {
    {"threads", 3, 3},
    {"cores", 4, 3},
    {"vector bytes", 5, 1},
    {"line", 6, 1},
    {"L1 bytes", 15, 1.5},
    {"L2 bytes", 20, 2},
    {"L3 bytes", 25, 3},
    {"L1 shared by", 0, 1},
    {"L2 shared by", 1, 1},
    {"L3 shared by", 3, 2},
    {"memory bytes", 35, 3},
    {"read, one thread", 34, 2},
    {"read, all threads", 36, 3},
    {"triad, all threads", 36, 3},
    {"L1 read", 38, 2},
    {"L2 read", 37, 2},
    {"L3 read", 35, 2},
    {"L1 latency", -29.3, 1},
    {"L2 latency", -27.7, 1.5},
    {"L3 latency", -25, 2},
    {"memory latency", -23.2, 1.5},
    {"gather", -31, 1.5},
    {"multiply-adds", 36.5, 2},
    {"thread start", -19, 3},
};

void sp_machine_scale(double *centre, double *spread, int k)
{
    if (k < 0 || k >= SP_MACHINE)
        return;
    *centre = machine_columns[k].centre;
    *spread = machine_columns[k].spread;
}

const char *sp_machine_column(int k)
{
    return k >= 0 && k < SP_MACHINE ? machine_columns[k].name : "";
}

/* A probed number as its logarithm, NAN when it was not probed. */
static double probed(double x)
{
    return x > 0 ? log2(x) : nan("");
}

void sp_features_machine(float out[SP_MACHINE], const spry_machine *m)
{
    int last;
    sp_feature_row r = {out};

    if (!m) {
        while (r.at < out + SP_MACHINE)
            sp_put(&r, (double)NAN);
        return;
    }
    last = m->points > 0 ? m->points - 1 : 0;
    sp_put(&r, probed(m->threads));
    sp_put(&r, probed(m->cores));
    sp_put(&r, probed(spry_isa_bytes(m->isa)));
    sp_put(&r, probed(m->line));
    for (int i = 0; i < SPRY_CACHES; i++)
        sp_put(&r, probed((double)spry_machine_cache(m, i)));
    for (int i = 0; i < SPRY_CACHES; i++)
        sp_put(&r, probed(m->cache[i].shared_by));
    sp_put(&r, probed((double)m->memory));
    sp_put(&r, probed(m->read[0]));
    sp_put(&r, probed(m->read[last]));
    sp_put(&r, probed(m->triad[last]));
    for (int i = 0; i < SPRY_CACHES; i++)
        sp_put(&r, probed(m->cache_read[i]));
    for (int i = 0; i <= SPRY_CACHES; i++)
        sp_put(&r, probed(m->latency[i]));
    sp_put(&r, probed(m->gather));
    sp_put(&r, probed(m->fma_f32));
    sp_put(&r, probed(m->fork));
}
