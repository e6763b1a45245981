/* generate_blocks.c - matrices of small r x c blocks on their grid.
 *
 * The rows of one block row draw the same block columns from one stream,
 * then each tosses its own coins for the cells that stay, and throws in
 * entries of its own. */
#include "matrix/generate.h"

#include <math.h>

enum { SORT_BLOCKS = 32 };

/* Entries anywhere that row i gets, of all that are thrown. */
static int64_t thrown_into(const sp_gen *g, int64_t i)
{
    return g->table[3] / g->rows + (i < g->table[3] % g->rows);
}

/* One more column among n ascending ones, unless it is there. */
static int64_t insert(int64_t *col, int64_t n, int64_t new)
{
    int64_t at = n;

    while (at > 0 && col[at - 1] > new)
        at--;
    if (at > 0 && col[at - 1] == new)
        return n;
    for (int64_t k = n; k > at; k--)
        col[k] = col[k - 1];
    col[at] = new;
    return n + 1;
}

static int64_t blocks_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t r = g->table[0], c = g->table[1], block_cols = g->table[2];
    int64_t n = g->quota[i / r], kept = 0;
    double fill = sp_gen_real(g, "fill");
    sp_rng own = w->rng;

    w->rng = sp_gen_stream(g, SORT_BLOCKS, i / r);
    sp_gen_choose(w, block_cols, n, NULL);
    w->rng = own;
    for (int64_t k = n * c - 1; k >= 0; k--) /* from behind: in place */
        w->col[k] = w->col[k / c] * c + k % c;
    for (int64_t k = 0; k < n * c; k++)
        if (w->col[k] < g->cols && (fill == 1 || sp_rng_unit(&w->rng) < fill))
            w->col[kept++] = w->col[k];
    for (int64_t k = thrown_into(g, i); k > 0; k--)
        kept = insert(w->col, kept, sp_gen_below(&w->rng, g->cols));
    return kept;
}

/* How many blocks hold nnz entries, as many as there are at most. */
static spry_status count_blocks(int64_t *blocks, const sp_gen *g, int64_t nnz)
{
    double cells = (double)g->table[0] * (double)g->table[1];
    double most = (double)g->quotas * (double)g->table[2];
    double fill = sp_gen_real(g, "fill"), n;

    n = fill > 0 ? round(fmin((double)nnz / (cells * fill), most)) : 0;
    *blocks = (int64_t)n;
    return sp_gen_entries(g, n * cells); /* drawn, though not all are kept */
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static spry_status blocks_prepare(sp_gen *g)
{
    int64_t nnz, blocks = 0;
    spry_status s = sp_gen_shape_nnz(g, &nnz);

    if (s == SPRY_OK)
        s = sp_gen_whole(g, "r", 1, (double)g->rows);
    if (s == SPRY_OK)
        s = sp_gen_whole(g, "c", 1, (double)g->cols);
    if (s == SPRY_OK)
        s = sp_gen_range(g, "fill", 0, 1);
    if (s == SPRY_OK)
        s = sp_gen_range(g, "scatter", 0, 1);
    if (s != SPRY_OK)
        return s;
    g->tables = 4;
    g->table = sp_alloc(g->tables, sizeof *g->table);
    if (!g->table)
        return sp_fail_memory(4 * sizeof *g->table);
    g->table[0] = sp_gen_count(g, "r");
    g->table[1] = sp_gen_count(g, "c");
    g->table[2] = divide_up(g->cols, g->table[1]);
    g->table[3] = (int64_t)((double)nnz * sp_gen_real(g, "scatter"));
    s = sp_gen_quota_new(g, divide_up(g->rows, g->table[0]));
    if (s == SPRY_OK)
        s = count_blocks(&blocks, g, nnz);
    if (s != SPRY_OK)
        return s;
    sp_gen_quota_even(g, blocks);
    sp_gen_quota_cap(g, g->table[2]);
    g->widest *= g->table[1];
    g->widest += g->rows ? thrown_into(g, 0) : 0;
    return SPRY_OK;
}

const sp_generator sp_generator_blocks = {
    "blocks",
    "r x c blocks anywhere on their grid, `fill` of their cells stored, and "
    "`scatter` as many entries anywhere",
    "rows=10k cols=rows nnz=64*rows density=auto r=8 c=8 fill=1 "
    "scatter=0" SP_GEN_COMMON,
    blocks_prepare,
    blocks_row,
    0,
};
