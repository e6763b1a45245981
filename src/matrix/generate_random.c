/* generate_random.c - matrices whose positions are drawn at random. */
#include "matrix/generate.h"

enum { SORT_USED = 8, SORT_COLUMN = 9 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* quota[i] distinct columns, even or weighed by accept. */
static int64_t quota_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    sp_gen_choose(w, g->cols, g->quota[i], g->accept);
    return g->quota[i];
}

/* ---- uniform: every cell alike ---- */

static spry_status uniform_prepare(sp_gen *g)
{
    int64_t nnz;
    spry_status s = sp_gen_shape_nnz(g, &nnz);

    if (s == SPRY_OK)
        s = sp_gen_quota_new(g, g->rows);
    if (s == SPRY_OK) {
        sp_gen_quota_even(g, nnz);
        sp_gen_quota_cap(g, g->cols);
    }
    return s;
}

const sp_generator sp_generator_uniform = {
    "uniform",
    "entries anywhere, every cell alike",
    "rows=10k cols=rows nnz=16*rows density=auto" SP_GEN_COMMON,
    uniform_prepare,
    quota_row,
    1,
};

/* ---- hypersparse: most rows empty ---- */

/* One entry into each of `used` rows; they stay listed in the table. */
static spry_status occupy(sp_gen *g, int64_t used)
{
    sp_gen_row w = {.rng = sp_gen_stream(g, SORT_USED, 0)};
    spry_status s = sp_gen_row_open(&w, g->rows, used);

    if (s == SPRY_OK) {
        sp_gen_choose(&w, g->rows, used, NULL);
        for (int64_t k = 0; k < used; k++)
            g->quota[w.col[k]] = 1;
        g->table = w.col;
        g->tables = used;
        w.col = NULL;
    }
    sp_gen_row_close(&w);
    return s;
}

static int64_t used_row(const sp_gen *g, sp_rng *r)
{
    return g->table[sp_gen_below(r, g->tables)];
}

static spry_status hypersparse_prepare(sp_gen *g)
{
    int64_t nnz, used;
    spry_status s = sp_gen_shape_nnz(g, &nnz);

    if (s != SPRY_OK)
        return s;
    used = smaller(nnz - nnz / 10, g->rows);
    if (sp_gen_origin(g, "used") == SP_GIVEN) {
        s = sp_gen_whole(g, "used", nnz > 0, (double)smaller(nnz, g->rows));
        used = sp_gen_count(g, "used");
    }
    if (s == SPRY_OK && (double)used * (double)g->cols < (double)nnz)
        s = sp_fail(SPRY_USAGE,
                    "hypersparse: %lld entries do not fit %lld rows",
                    (long long)nnz, (long long)used);
    if (s == SPRY_OK)
        s = sp_gen_quota_new(g, g->rows);
    if (s == SPRY_OK)
        s = occupy(g, used);
    if (s == SPRY_OK) {
        sp_gen_quota_throw(g, nnz - used, used_row);
        sp_gen_quota_cap(g, g->cols);
    }
    return s;
}

const sp_generator sp_generator_hypersparse = {
    "hypersparse",
    "far fewer entries than rows; `used` rows hold at least one",
    "rows=1M cols=rows nnz=0.1*rows density=auto used=auto" SP_GEN_COMMON,
    hypersparse_prepare,
    quota_row,
    1,
};

/* ---- pruned: what is left of a dense layer ---- */

/* Columns accepted in proportion to u^skew: few loved, many neglected. Never
 * below 1/64, so that drawing a full row ends. */
static spry_status weigh_columns(sp_gen *g, double skew)
{
    g->accept = sp_alloc_raw(g->cols, sizeof *g->accept);
    if (!g->accept)
        return sp_fail_memory((size_t)g->cols * sizeof *g->accept);
    for (int64_t j = 0; j < g->cols; j++) {
        sp_rng r = sp_gen_stream(g, SORT_COLUMN, j);
        double love = sp_gen_power(1 - sp_rng_unit(&r), skew);

        g->accept[j] = (uint32_t)((love > 0x1p-6 ? love : 0x1p-6) * 0xffffffp8);
    }
    return SPRY_OK;
}

static spry_status pruned_prepare(sp_gen *g)
{
    double row_skew = sp_gen_real(g, "row_skew");
    double col_skew = sp_gen_real(g, "col_skew");
    int64_t nnz;
    spry_status s = sp_gen_shape_nnz(g, &nnz);

    if (s == SPRY_OK)
        s = sp_gen_range(g, "row_skew", 0, 1);
    if (s == SPRY_OK)
        s = sp_gen_range(g, "col_skew", 0, 8);
    if (s == SPRY_OK && col_skew > 0)
        s = weigh_columns(g, col_skew);
    if (s == SPRY_OK)
        s = sp_gen_quota_new(g, g->rows);
    if (s != SPRY_OK)
        return s;
    if (row_skew > 0)
        sp_gen_quota_power(g, nnz, row_skew);
    else
        sp_gen_quota_even(g, nnz);
    sp_gen_quota_cap(g, g->cols);
    return SPRY_OK;
}

const sp_generator sp_generator_pruned = {
    "pruned",
    "a dense layer after pruning; skews make rows and columns unequal",
    "rows=1024 cols=rows density=0.1 nnz=auto row_skew=0 col_skew=0" //
    SP_GEN_COMMON,
    pruned_prepare,
    quota_row,
    1,
};

/* ---- powerlaw: few long rows, many short ---- */

/* P(length > x) ~ x^(1 - exponent) is length = u^(-1 / (exponent - 1)). */
static spry_status powerlaw_prepare(sp_gen *g)
{
    int64_t nnz, longest;
    spry_status s = sp_gen_shape_nnz(g, &nnz);

    if (s == SPRY_OK)
        s = sp_gen_range(g, "exponent", 1.1, 16);
    if (s == SPRY_OK)
        s = sp_gen_whole(g, "longest", 1, (double)g->cols);
    if (s == SPRY_OK)
        s = sp_gen_quota_new(g, g->rows);
    if (s != SPRY_OK)
        return s;
    longest = sp_gen_count(g, "longest");
    if ((double)longest * (double)g->rows < (double)nnz)
        return sp_fail(SPRY_USAGE,
                       "powerlaw: %lld entries do not fit rows of %lld",
                       (long long)nnz, (long long)longest);
    sp_gen_quota_power(g, nnz, 1 / (sp_gen_real(g, "exponent") - 1));
    sp_gen_quota_cap(g, longest);
    return SPRY_OK;
}

const sp_generator sp_generator_powerlaw = {
    "powerlaw",
    "row lengths fall by a power law, columns even",
    "rows=10k cols=rows nnz=16*rows density=auto exponent=2.2 longest=cols" //
    SP_GEN_COMMON,
    powerlaw_prepare,
    quota_row,
    1,
};
