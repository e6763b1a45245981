/* loops.c - a product without BLAS: four rows by eight columns of C at a time
 * in registers, eight columns of B packed beside each other. */
#include "nn/nn.h"

#include <string.h>

#include "nn/internal.h"

enum { ROWS = 4, COLS = 8, DEPTH = 256 };

typedef float vec __attribute__((vector_size(16)));
enum { LANES = 4, VECS = COLS / LANES };

/* Rows first .. first+depth-1 of op(B), its columns at .. at+7; those beyond
 * the last are 0. */
static void pack(vec *panel, const sp_gemm *g, int64_t first, int64_t depth,
                 int64_t at)
{
    int64_t cols = g->n - at < COLS ? g->n - at : COLS;
    int64_t down = g->tb ? 1 : g->ldb, right = g->tb ? g->ldb : 1;

    for (int64_t k = 0; k < depth; k++) {
        const float *b = g->b + (first + k) * down + at * right;
        float row[COLS] = {0};

        for (int64_t j = 0; j < cols; j++)
            row[j] = b[j * right];
        memcpy(panel + k * VECS, row, sizeof row);
    }
}

/* sum = op(A)[row .. row+3, first ..] panel; a row beyond the last is taken
 * for the last. */
static void tile(float sum[ROWS][COLS], const sp_gemm *g, const vec *panel,
                 int64_t row, int64_t first, int64_t depth)
{
    int64_t down = g->ta ? 1 : g->lda, right = g->ta ? g->lda : 1;
    vec acc[ROWS][VECS] = {0};
    const float *a[ROWS];

    for (int64_t r = 0; r < ROWS; r++)
        a[r] =
            g->a + (row + r < g->m ? row + r : g->m - 1) * down + first * right;
    for (int64_t k = 0; k < depth; k++)
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < VECS; v++)
                acc[r][v] += a[r][k * right] * panel[k * VECS + v];
    memcpy(sum, acc, sizeof acc);
}

static void put(const sp_gemm *g, float sum[ROWS][COLS], int64_t row,
                int64_t col, int add)
{
    for (int64_t r = 0; r < ROWS && row + r < g->m; r++) {
        float *c = g->c + (row + r) * g->ldc + col;

        for (int64_t j = 0; j < COLS && col + j < g->n; j++)
            c[j] = add ? c[j] + sum[r][j] : sum[r][j];
    }
}

void sp_loops_gemm(const sp_gemm *g)
{
    vec panel[DEPTH * VECS];
    float sum[ROWS][COLS];
    int64_t first = 0;

    do {
        int64_t left = g->k - first, depth = left < DEPTH ? left : DEPTH;

        for (int64_t col = 0; col < g->n; col += COLS) {
            pack(panel, g, first, depth, col);
            for (int64_t row = 0; row < g->m; row += ROWS) {
                tile(sum, g, panel, row, first, depth);
                put(g, sum, row, col, g->add || first > 0);
            }
        }
        first += DEPTH;
    } while (first < g->k);
}
