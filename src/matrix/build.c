/* build.c - from arrays in memory to a matrix.
 *
 * Nothing is believed: starts must ascend, every index must be in range. A
 * matrix that exists is a matrix that kernels need not check. */
#include "spry/matrix.h"

#include <string.h>

#include "matrix/internal.h"

enum { LINE = 64 };

/* Bytes of `count` elements rounded to whole cache lines; 0 on overflow. */
static size_t padded(int64_t count, size_t size)
{
    size_t bytes;

    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > PTRDIFF_MAX / 8)
        return 0;
    return (bytes / LINE + 1) * LINE;
}

spry_status sp_draft_make(sp_draft *out, int64_t rows, int64_t cols,
                          int64_t nnz, spry_index index, spry_type type)
{
    size_t head = padded(1, sizeof(spry_matrix));
    size_t start = padded(rows + 1, sizeof(int64_t));
    size_t col = padded(nnz, index), val = padded(nnz, type);
    char *block = NULL;

    *out = (sp_draft){0};
    if (start && col && val)
        block = sp_alloc_raw((int64_t)(head + start + col + val), 1);
    if (!block)
        return sp_fail_memory(head + start + col + val);
    out->m = (spry_matrix *)block;
    out->start = (int64_t *)(block + head);
    out->col = block + head + start;
    out->val = block + head + start + col;
    *out->m = (spry_matrix){.rows = rows,
                            .cols = cols,
                            .nnz = nnz,
                            .index = index,
                            .type = type,
                            .start = out->start,
                            .col = out->col,
                            .val = out->val};
    return SPRY_OK;
}

static int64_t load_index(const void *index, spry_index width, int64_t k)
{
    return width == SPRY_I32 ? ((const int32_t *)index)[k]
                             : ((const int64_t *)index)[k];
}

static spry_status check_shape(int64_t rows, int64_t cols, spry_type type)
{
    if (rows < 0 || cols < 0 || rows == INT64_MAX || cols == INT64_MAX)
        return sp_fail(SPRY_USAGE, "a matrix cannot be %lld x %lld",
                       (long long)rows, (long long)cols);
    if (type != SPRY_F32 && type != SPRY_F64)
        return sp_fail(SPRY_USAGE, "%d is no element type", (int)type);
    return SPRY_OK;
}

/* Starts ascend from 0. */
static spry_status check_starts(int64_t rows, const void *indptr,
                                spry_index width)
{
    if (load_index(indptr, width, 0) != 0)
        return sp_fail(SPRY_INPUT, "the first row starts at entry %lld, not 0",
                       (long long)load_index(indptr, width, 0));
    for (int64_t r = 0; r < rows; r++)
        if (load_index(indptr, width, r) > load_index(indptr, width, r + 1))
            return sp_fail(SPRY_INPUT, "row %lld ends before it starts",
                           (long long)r);
    return SPRY_OK;
}

/* Columns lie in 0..cols-1; *sorted: they ascend strictly in every row. */
static spry_status check_columns(int *sorted, int64_t rows, int64_t cols,
                                 const void *indptr, const void *indices,
                                 spry_index width)
{
    *sorted = 1;
    SP_REFUSE(!indices && load_index(indptr, width, rows) > 0,
              "there are entries, but the columns' indices are NULL");
    for (int64_t r = 0; r < rows; r++) {
        int64_t end = load_index(indptr, width, r + 1), before = -1;

        for (int64_t k = load_index(indptr, width, r); k < end; k++) {
            int64_t c = load_index(indices, width, k);

            if (c < 0 || c >= cols)
                return sp_fail(SPRY_INPUT,
                               "row %lld has column %lld, outside 0..%lld",
                               (long long)r, (long long)c, (long long)cols - 1);
            *sorted &= c > before;
            before = c;
        }
    }
    return SPRY_OK;
}

/* Use the caller's arrays in place; 32-bit starts are widened. */
static spry_status borrow(spry_matrix **out, int64_t rows, int64_t cols,
                          const void *indptr, const void *indices,
                          const void *values, spry_index index, spry_type type)
{
    int64_t nnz = load_index(indptr, index, rows);
    sp_draft d;
    spry_status s =
        sp_draft_make(&d, index == SPRY_I32 ? rows : 0, cols, 0, index, type);

    if (s != SPRY_OK)
        return s;
    if (index == SPRY_I64)
        d.m->start = indptr;
    else
        for (int64_t r = 0; r <= rows; r++)
            d.start[r] = load_index(indptr, index, r);
    d.m->rows = rows;
    d.m->nnz = nnz;
    d.m->col = indices;
    d.m->val = values;
    *out = d.m;
    return SPRY_OK;
}

static spry_status copy(spry_matrix **out, int64_t rows, int64_t cols,
                        const void *indptr, const void *indices,
                        const void *values, spry_index index, spry_type type)
{
    int64_t nnz = load_index(indptr, index, rows);
    sp_draft d;
    spry_status s = sp_draft_make(&d, rows, cols, nnz, index, type);

    if (s != SPRY_OK)
        return s;
    for (int64_t r = 0; r <= rows; r++)
        d.start[r] = load_index(indptr, index, r);
    if (nnz)
        memcpy(d.col, indices, (size_t)nnz * index);
    if (values && nnz)
        memcpy(d.val, values, (size_t)nnz * type);
    else
        for (int64_t k = 0; k < nnz; k++)
            sp_store_val(d.val, type, k, 1);
    return sp_draft_finish(out, &d);
}

spry_status spry_matrix_csr(spry_matrix **out, int64_t rows, int64_t cols,
                            const void *indptr, const void *indices,
                            const void *values, spry_index index,
                            spry_type type, spry_own own)
{
    SP_NEED_NEW(out, indptr);

    spry_status s = check_shape(rows, cols, type);
    int sorted = 0;

    if (s == SPRY_OK && index != SPRY_I32 && index != SPRY_I64)
        s = sp_fail(SPRY_USAGE, "%d is no index width", (int)index);
    if (s == SPRY_OK && own != SPRY_COPY && own != SPRY_BORROW)
        s = sp_fail(SPRY_USAGE, "arrays are copied or borrowed, not %d",
                    (int)own);
    if (s == SPRY_OK)
        s = check_starts(rows, indptr, index);
    if (s == SPRY_OK)
        s = check_columns(&sorted, rows, cols, indptr, indices, index);
    if (s != SPRY_OK)
        return s;
    if (own == SPRY_BORROW && sorted && values)
        return borrow(out, rows, cols, indptr, indices, values, index, type);
    return copy(out, rows, cols, indptr, indices, values, index, type);
}

spry_status spry_matrix_triples(spry_matrix **out, int64_t rows, int64_t cols,
                                int64_t nnz, const int64_t *row,
                                const int64_t *col, const void *val,
                                spry_type type)
{
    SP_NEED_NEW(out);
    if (nnz > 0)
        SP_NEED(row, col);

    sp_entries e = {.rows = rows,
                    .cols = cols,
                    .nnz = nnz,
                    .row = row,
                    .col = col,
                    .val = val,
                    .val_type = type,
                    .type = type};
    spry_status s = check_shape(rows, cols, type);

    if (s == SPRY_OK && nnz < 0)
        s = sp_fail(SPRY_USAGE, "a matrix cannot have %lld entries",
                    (long long)nnz);
    for (int64_t k = 0; s == SPRY_OK && k < nnz; k++)
        if (row[k] < 0 || row[k] >= rows || col[k] < 0 || col[k] >= cols)
            s = sp_fail(SPRY_INPUT,
                        "entry %lld at (%lld, %lld) is outside %lld x %lld",
                        (long long)k, (long long)row[k], (long long)col[k],
                        (long long)rows, (long long)cols);
    return s == SPRY_OK ? sp_compress(out, &e) : s;
}

void spry_matrix_free(spry_matrix *m)
{
    sp_free(m);
}
