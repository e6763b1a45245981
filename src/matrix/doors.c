/* doors.c - columns, blocks and coordinates as others hold them in memory. */
#include "spry/matrix.h"

#include <string.h>

#include "matrix/internal.h"

static int64_t index_at(const void *index, spry_index width, int64_t k)
{
    return width == SPRY_I32 ? ((const int32_t *)index)[k]
                             : ((const int64_t *)index)[k];
}

static spry_status check_widths(spry_index index, spry_type type)
{
    SP_REFUSE(index != SPRY_I32 && index != SPRY_I64, "%d is no index width",
              (int)index);
    SP_REFUSE(type != SPRY_F32 && type != SPRY_F64, "%d is no element type",
              (int)type);
    return SPRY_OK;
}

spry_status spry_matrix_csc(spry_matrix **out, int64_t rows, int64_t cols,
                            const void *indptr, const void *indices,
                            const void *values, spry_index index,
                            spry_type type)
{
    SP_NEED_NEW(out, indptr, indices);

    spry_matrix *turned = NULL;
    spry_status s = check_widths(index, type);

    if (s == SPRY_OK)
        s = spry_matrix_csr(&turned, cols, rows, indptr, indices, values, index,
                            type, SPRY_BORROW);
    if (s == SPRY_OK)
        s = spry_matrix_transpose(out, turned);
    spry_matrix_free(turned);
    return s;
}

/* ---- blocks ---- */

typedef struct {
    int64_t rows, cols, r, c; /* rows and columns of blocks */
    const void *indptr, *indices;
    spry_index index;
} grid;

static spry_status check_grid(const grid *g, int64_t *blocks)
{
    int64_t cells;

    *blocks = 0;
    if (index_at(g->indptr, g->index, 0) != 0)
        return sp_fail(SPRY_INPUT, "the first block row does not start at 0");
    for (int64_t u = 0; u < g->rows; u++)
        if (index_at(g->indptr, g->index, u) >
            index_at(g->indptr, g->index, u + 1))
            return sp_fail(SPRY_INPUT, "block row %lld ends before it starts",
                           (long long)u);
    *blocks = index_at(g->indptr, g->index, g->rows);
    for (int64_t k = 0; k < *blocks; k++) {
        int64_t at = index_at(g->indices, g->index, k);

        if (at < 0 || at >= g->cols)
            return sp_fail(SPRY_INPUT, "block %lld is in column %lld of %lld",
                           (long long)k, (long long)at, (long long)g->cols);
    }
    if (__builtin_mul_overflow(*blocks, g->r * g->c, &cells) ||
        cells > INT64_MAX / 16)
        return sp_fail(SPRY_INPUT, "%lld blocks are too many",
                       (long long)*blocks);
    return SPRY_OK;
}

/* Cells of every block, row by row of the matrix. */
static void expand(sp_draft *d, const grid *g, const void *values)
{
    spry_type type = d->m->type;
    int64_t at = 0;

    d->start[0] = 0;
    for (int64_t i = 0; i < g->rows * g->r; i++) {
        int64_t u = i / g->r, end = index_at(g->indptr, g->index, u + 1);

        for (int64_t k = index_at(g->indptr, g->index, u); k < end; k++)
            for (int64_t j = 0; j < g->c; j++, at++) {
                int64_t cell = (k * g->r + i % g->r) * g->c + j;
                double v = !values ? 1
                           : type == SPRY_F32
                               ? (double)((const float *)values)[cell]
                               : ((const double *)values)[cell];

                sp_store_col(d->col, d->m->index, at,
                             index_at(g->indices, g->index, k) * g->c + j);
                sp_store_val(d->val, type, at, v);
            }
        d->start[i + 1] = at;
    }
}

spry_status spry_matrix_bsr(spry_matrix **out, int64_t rows, int64_t cols,
                            int64_t r, int64_t c, const void *indptr,
                            const void *indices, const void *values,
                            spry_index index, spry_type type)
{
    SP_NEED_NEW(out, indptr, indices);

    grid g = {0, 0, r, c, indptr, indices, index};
    int64_t blocks = 0;
    sp_draft d;
    spry_status s = check_widths(index, type);

    if (s == SPRY_OK && (r < 1 || c < 1 || r > 1 << 15 || c > 1 << 15 ||
                         rows < 0 || cols < 0 || rows % r || cols % c))
        s = sp_fail(SPRY_USAGE, "%lld x %lld is not made of %lld x %lld blocks",
                    (long long)rows, (long long)cols, (long long)r,
                    (long long)c);
    if (s != SPRY_OK)
        return s;
    g.rows = rows / r;
    g.cols = cols / c;
    s = check_grid(&g, &blocks);
    if (s == SPRY_OK)
        s = sp_draft_make(&d, rows, cols, blocks * r * c, sp_index_for(cols),
                          type);
    if (s != SPRY_OK)
        return s;
    expand(&d, &g, values);
    return sp_draft_finish(out, &d);
}

/* ---- coordinates ---- */

static int64_t *widen(const void *index, int64_t n)
{
    int64_t *wide = sp_alloc_raw(n, sizeof *wide);

    for (int64_t k = 0; wide && k < n; k++)
        wide[k] = ((const int32_t *)index)[k];
    return wide;
}

spry_status spry_matrix_coo(spry_matrix **out, int64_t rows, int64_t cols,
                            int64_t nnz, const void *row, const void *col,
                            const void *values, spry_index index,
                            spry_type type)
{
    SP_NEED_NEW(out, row, col);

    int64_t *i, *j;
    spry_status s = check_widths(index, type);

    if (s == SPRY_OK && nnz < 0)
        s = sp_fail(SPRY_USAGE, "a matrix cannot have %lld entries",
                    (long long)nnz);
    if (s != SPRY_OK)
        return s;
    if (index == SPRY_I64)
        return spry_matrix_triples(out, rows, cols, nnz, row, col, values,
                                   type);
    i = widen(row, nnz);
    j = widen(col, nnz);
    s = i && j ? spry_matrix_triples(out, rows, cols, nnz, i, j, values, type)
               : sp_fail_memory((size_t)nnz * 16);
    sp_free(i);
    sp_free(j);
    return s;
}
