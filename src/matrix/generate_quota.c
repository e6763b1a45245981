/* generate_quota.c - how many entries each row of a random matrix gets. */
#include "matrix/generate.h"

#include <math.h>

enum { CHUNK = 1 << 16, SORT_THROW = 1, SORT_WEIGHT = 2 };

spry_status sp_gen_quota_new(sp_gen *g, int64_t count)
{
    g->quotas = count;
    g->quota = sp_alloc(count, sizeof *g->quota);
    if (!g->quota)
        return sp_fail_memory((size_t)count * sizeof *g->quota);
    return SPRY_OK;
}

/* Each chunk of throws has its own stream and counts commute, so neither
 * the number of threads nor their order can be seen in the result. */
void sp_gen_quota_throw(sp_gen *g, int64_t total,
                        int64_t (*pick)(const sp_gen *g, sp_rng *r))
{
    int64_t chunks = total / CHUNK + (total % CHUNK != 0);

#pragma omp parallel for schedule(dynamic)
    for (int64_t c = 0; c < chunks; c++) {
        sp_rng r = sp_gen_stream(g, SORT_THROW, c);
        int64_t n = c + 1 < chunks ? CHUNK : total - c * CHUNK;

        for (int64_t k = 0; k < n; k++) {
            int64_t i = pick(g, &r);

#pragma omp atomic
            g->quota[i]++;
        }
    }
}

static int64_t any_row(const sp_gen *g, sp_rng *r)
{
    return sp_gen_below(r, g->quotas);
}

void sp_gen_quota_even(sp_gen *g, int64_t total)
{
    sp_gen_quota_throw(g, total, any_row);
}

static double weight(const sp_gen *g, int64_t i, double p)
{
    sp_rng r = sp_gen_stream(g, SORT_WEIGHT, i);

    return 1 / sp_gen_power(1 - sp_rng_unit(&r), p);
}

/* Row i gets total * weight_i / sum, rounded so that the sum is total. The
 * sums run in row order: a double sum depends on it. */
void sp_gen_quota_power(sp_gen *g, int64_t total, double p)
{
    double sum = 0, seen = 0;
    int64_t given = 0;

    for (int64_t i = 0; i < g->quotas; i++)
        sum += weight(g, i, p);
    for (int64_t i = 0; i < g->quotas; i++) {
        int64_t upto;

        seen += weight(g, i, p);
        upto =
            i + 1 < g->quotas ? (int64_t)(seen / sum * (double)total) : total;
        if (upto > total)
            upto = total;
        g->quota[i] += upto - given;
        given = upto;
    }
}

/* Give up to `share` to each row below cap; what is still left. */
static int64_t spread(sp_gen *g, int64_t cap, int64_t surplus, int64_t share)
{
    for (int64_t i = 0; i < g->quotas && surplus > 0; i++) {
        int64_t room = cap - g->quota[i], n = room < share ? room : share;

        if (n > surplus)
            n = surplus;
        g->quota[i] += n;
        surplus -= n;
    }
    return surplus;
}

void sp_gen_quota_cap(sp_gen *g, int64_t cap)
{
    int64_t surplus = 0, open;

    g->widest = 0;
    for (int64_t i = 0; i < g->quotas; i++)
        if (g->quota[i] > cap) {
            surplus += g->quota[i] - cap;
            g->quota[i] = cap;
        }
    while (surplus > 0) {
        open = 0;
        for (int64_t i = 0; i < g->quotas; i++)
            open += g->quota[i] < cap;
        if (open == 0)
            break;
        surplus = spread(g, cap, surplus, surplus / open + 1);
    }
    for (int64_t i = 0; i < g->quotas; i++)
        if (g->quota[i] > g->widest)
            g->widest = g->quota[i];
}

spry_status sp_gen_shape(sp_gen *g)
{
    spry_status s = sp_gen_whole(g, "rows", 1, 0x1p53);

    if (s == SPRY_OK)
        s = sp_gen_whole(g, "cols", 1, 0x1p53);
    if (s == SPRY_OK) {
        g->rows = sp_gen_count(g, "rows");
        g->cols = sp_gen_count(g, "cols");
    }
    return s;
}

/* What nnz says; a default is cut to what fits. */
static spry_status count_by_nnz(const sp_gen *g, double cells, double *nnz)
{
    *nnz = sp_gen_real(g, "nnz");
    if (sp_gen_origin(g, "nnz") == SP_GIVEN)
        return sp_gen_whole(g, "nnz", 0, cells);
    *nnz = fmin(floor(*nnz), cells);
    return SPRY_OK;
}

spry_status sp_gen_shape_nnz(sp_gen *g, int64_t *nnz)
{
    sp_origin by_count = sp_gen_origin(g, "nnz");
    sp_origin by_share = sp_gen_origin(g, "density");
    spry_status s = sp_gen_shape(g);
    double cells = (double)g->rows * (double)g->cols, n;

    if (s != SPRY_OK)
        return s;
    if (by_count == SP_GIVEN && by_share == SP_GIVEN)
        return sp_fail(SPRY_USAGE, "%s: give nnz or density, not both",
                       g->kind->name);
    if (by_count == SP_AUTO || by_share == SP_GIVEN) {
        s = sp_gen_range(g, "density", 0, 1);
        n = cells * sp_gen_real(g, "density");
    } else {
        s = count_by_nnz(g, cells, &n);
    }
    if (s == SPRY_OK)
        s = sp_gen_entries(g, n);
    if (s == SPRY_OK)
        *nnz = llround(n);
    return s;
}
