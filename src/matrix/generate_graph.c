/* generate_graph.c - adjacency matrices of graphs: R-MAT and bipartite. */
#include "matrix/generate.h"

enum { SORT_KEYS = 24, LEVELS = 48, ROUNDS = 4 };

/* ---- rmat: Chakrabarti, Zhan, Faloutsos, SDM 2004 ----
 *
 * An edge falls into one quarter of the matrix with chances a b / c d, then
 * into a quarter of that, `scale` times. The row bits alone are independent
 * coins (0 with a + b), and given them so are the column bits: first throw
 * the edges onto rows, then draw each row's columns. No list of edges. */

/* Chance of a 0 bit in units of 1/65536. */
static uint32_t coin(double zero, double all)
{
    return all > 0 ? (uint32_t)(zero / all * 65536.0) : 32768;
}

/* Bits 0/1 from 16-bit coins, four to a random number; top level first. */
static int64_t rmat_pick_row(const sp_gen *g, sp_rng *r)
{
    int64_t scale = g->table[0], row = 0;
    uint32_t zero = (uint32_t)g->table[1];
    uint64_t chance = 0;

    for (int64_t k = 0; k < scale; k++, chance >>= 16) {
        if (k % 4 == 0)
            chance = sp_rng_next(r);
        row = row << 1 | ((chance & 0xffff) >= zero);
    }
    return row;
}

static int64_t rmat_pick_col(const sp_gen *g, int64_t row, sp_rng *r)
{
    int64_t scale = g->table[0], col = 0;
    const int64_t *zero = g->table + 2; /* by the row's bit */
    uint64_t chance = 0;

    for (int64_t k = 0; k < scale; k++, chance >>= 16) {
        int64_t bit = row >> (scale - 1 - k) & 1;

        if (k % 4 == 0)
            chance = sp_rng_next(r);
        col = col << 1 | ((int64_t)(chance & 0xffff) >= zero[bit]);
    }
    return col;
}

static int64_t rmat_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    for (int64_t k = 0; k < g->quota[i]; k++)
        w->col[k] = rmat_pick_col(g, i, &w->rng);
    return sp_gen_sort_unique(w, g->quota[i]);
}

/* The table: the scale and the three coins. */
static spry_status rmat_coins(sp_gen *g)
{
    double a = sp_gen_real(g, "a"), b = sp_gen_real(g, "b");
    double c = sp_gen_real(g, "c"), d = 1 - a - b - c;

    if (!(a >= 0 && b >= 0 && c >= 0 && d >= 0))
        return sp_fail(
            SPRY_USAGE,
            "rmat: a, b, c must not be negative nor exceed 1 in sum");
    g->tables = 4;
    g->table = sp_alloc(g->tables, sizeof *g->table);
    if (!g->table)
        return sp_fail_memory(4 * sizeof *g->table);
    g->table[0] = sp_gen_count(g, "scale");
    g->table[1] = coin(a + b, 1);
    g->table[2] = coin(a, a + b);
    g->table[3] = coin(c, c + d);
    return SPRY_OK;
}

static spry_status rmat_prepare(sp_gen *g)
{
    spry_status s = sp_gen_whole(g, "scale", 0, LEVELS);
    double edges;

    if (s == SPRY_OK)
        s = sp_gen_range(g, "degree", 0, 0x1p30);
    if (s != SPRY_OK)
        return s;
    g->rows = g->cols = (int64_t)1 << sp_gen_count(g, "scale");
    edges = (double)g->rows * sp_gen_real(g, "degree");
    s = sp_gen_entries(g, edges);
    if (s == SPRY_OK)
        s = rmat_coins(g);
    if (s == SPRY_OK)
        s = sp_gen_quota_new(g, g->rows);
    if (s != SPRY_OK)
        return s;
    sp_gen_quota_throw(g, (int64_t)edges, rmat_pick_row);
    for (int64_t i = 0; i < g->rows; i++)
        if (g->quota[i] > g->widest)
            g->widest = g->quota[i];
    return SPRY_OK;
}

const sp_generator sp_generator_rmat = {
    "rmat",
    "recursive graph of 2^scale vertices; repeated edges count once",
    "scale=14 degree=16 a=0.57 b=0.19 c=0.19" SP_GEN_COMMON,
    rmat_prepare,
    rmat_row,
    0,
};

/* ---- bipartite: two sides, edges only between them ----
 *
 * Edge e joins left vertex e mod left to right vertex shuffle(e) mod right.
 * The shuffle can be undone, so either side finds its own edges, and the
 * adjacency matrix [0 B; B' 0] is made row by row all the same. */

/* A Feistel network on 2 half bits: a secret order of 0 .. 4^half - 1. */
static uint64_t feistel(const sp_gen *g, uint64_t x, int back)
{
    int half = (int)g->table[0];
    uint64_t mask = ((uint64_t)1 << half) - 1, left = x >> half,
             right = x & mask;

    for (int k = 0; k < ROUNDS; k++) {
        uint64_t key = (uint64_t)g->table[1 + (back ? ROUNDS - 1 - k : k)];
        uint64_t from = back ? left : right;
        uint64_t mixed = (from ^ key) * 0x9e3779b97f4a7c15u;
        uint64_t to = (back ? right : left) ^ (mixed >> 32 & mask);

        left = back ? to : from;
        right = back ? from : to;
    }
    return left << half | right;
}

/* Walk the order until it comes back below n: a shuffle of 0 .. n-1. */
static int64_t shuffle(const sp_gen *g, int64_t e, int64_t n, int back)
{
    uint64_t x = (uint64_t)e;

    do
        x = feistel(g, x, back);
    while (x >= (uint64_t)n);
    return (int64_t)x;
}

static int64_t bipartite_row(const sp_gen *g, int64_t i, sp_gen_row *w)
{
    int64_t left = sp_gen_count(g, "left"), right = g->rows - left;
    int64_t edges = sp_gen_count(g, "edges"), n = 0;

    if (i < left)
        for (int64_t e = i; e < edges; e += left)
            w->col[n++] = left + shuffle(g, e, edges, 0) % right;
    else
        for (int64_t e = i - left; e < edges; e += right)
            w->col[n++] = shuffle(g, e, edges, 1) % left;
    return sp_gen_sort_unique(w, n);
}

static spry_status bipartite_keys(sp_gen *g, int64_t edges)
{
    sp_rng r = sp_gen_stream(g, SORT_KEYS, 0);

    g->tables = 1 + ROUNDS;
    g->table = sp_alloc(g->tables, sizeof *g->table);
    if (!g->table)
        return sp_fail_memory(sizeof *g->table);
    for (g->table[0] = 1; (int64_t)1 << 2 * g->table[0] < edges;)
        g->table[0]++;
    for (int k = 0; k < ROUNDS; k++)
        g->table[1 + k] = (int64_t)(sp_rng_next(&r) >> 1);
    return SPRY_OK;
}

static spry_status bipartite_prepare(sp_gen *g)
{
    static const char *const sides[] = {"left", "right"};
    spry_status s = SPRY_OK;
    int64_t edges;

    g->rows = 0;
    for (int k = 0; k < 2 && s == SPRY_OK; k++) {
        s = sp_gen_whole(g, sides[k], 1, 0x1p50);
        g->rows += s == SPRY_OK ? sp_gen_count(g, sides[k]) : 0;
    }
    if (s == SPRY_OK)
        s = sp_gen_whole(g, "edges", 0, 0x1p53);
    if (s == SPRY_OK)
        s = sp_gen_entries(g, 2 * sp_gen_real(g, "edges"));
    if (s != SPRY_OK)
        return s;
    g->cols = g->rows;
    edges = sp_gen_count(g, "edges");
    for (int k = 0; k < 2; k++) {
        int64_t most = edges / sp_gen_count(g, sides[k]) + 1;

        g->widest = most > g->widest ? most : g->widest;
    }
    return bipartite_keys(g, edges);
}

const sp_generator sp_generator_bipartite = {
    "bipartite",
    "adjacency of a graph with two sides; symmetric pattern",
    "left=4000 right=left edges=8*left" SP_GEN_COMMON,
    bipartite_prepare,
    bipartite_row,
    0,
};
