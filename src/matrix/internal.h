/* internal.h - how the room's files make a matrix together.
 *
 * A reader turns bytes into entries; compress.c turns entries into a draft,
 * rows in order; sort.c turns the draft into a matrix, columns in order. */
#ifndef SP_MATRIX_INTERNAL_H
#define SP_MATRIX_INTERNAL_H

#include <stddef.h>

#include "base/base.h"
#include "matrix/matrix.h"

/* A matrix in the making: m's own arrays, still writable. One block. */
typedef struct {
    spry_matrix *m;
    int64_t *start; /* [rows + 1] */
    void *col;      /* [nnz] of m->index */
    void *val;      /* [nnz] of m->type */
} sp_draft;

spry_status sp_draft_make(sp_draft *out, int64_t rows, int64_t cols,
                          int64_t nnz, spry_index index, spry_type type);

/* Sort each row by column, sum repeats, hand the matrix over. The draft is
 * used up, also on failure. */
spry_status sp_draft_finish(spry_matrix **out, sp_draft *d);

/* The width that fits: 64 bits only when 32 are too few. */
static inline spry_index sp_index_for(int64_t cols)
{
    return cols > INT32_MAX ? SPRY_I64 : SPRY_I32;
}

static inline void sp_store_col(void *col, spry_index index, int64_t k,
                                int64_t c)
{
    if (index == SPRY_I32)
        ((int32_t *)col)[k] = (int32_t)c;
    else
        ((int64_t *)col)[k] = c;
}

static inline void sp_store_val(void *val, spry_type type, int64_t k, double v)
{
    if (type == SPRY_F32)
        ((float *)val)[k] = (float)v;
    else
        ((double *)val)[k] = v;
}

/* Entries in any order, zero-based and in range; arrays are only read. */
typedef struct {
    int64_t rows, cols, nnz;
    const int64_t *row, *col; /* [nnz] */
    const void *val;          /* [nnz] of val_type; NULL: all ones */
    spry_type val_type;
    spry_type type; /* of the matrix to be */
    int mirror;     /* 1, -1: (i, j) also stands for (j, i), times this */
} sp_entries;

spry_status sp_compress(spry_matrix **out, const sp_entries *e);

#endif
