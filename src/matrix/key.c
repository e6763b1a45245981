/* key.c - from a pattern to the 32 hex digits that name it.
 *
 * Shape, row lengths and columns, always hashed as 64-bit numbers in blocks
 * of one size: neither the index width nor the values change the key. */
#include "spry/matrix.h"

#include "matrix/internal.h"

enum { BLOCK = 512 };

static void add_starts(sp_hash *h, const spry_matrix *m)
{
    for (int64_t r = 0; r <= m->rows; r += BLOCK) {
        int64_t n = m->rows + 1 - r < BLOCK ? m->rows + 1 - r : BLOCK;

        sp_hash_add(h, m->start + r, (size_t)n * sizeof *m->start);
    }
}

static void add_columns(sp_hash *h, const spry_matrix *m)
{
    int64_t block[BLOCK];

    for (int64_t k = 0; k < m->nnz; k += BLOCK) {
        int64_t n = m->nnz - k < BLOCK ? m->nnz - k : BLOCK;

        for (int64_t i = 0; i < n; i++)
            block[i] = sp_col(m, k + i);
        sp_hash_add(h, block, (size_t)n * sizeof *block);
    }
}

void spry_matrix_key(char out[33], const spry_matrix *m)
{
    SP_NEED_OR(, out, m);
    int64_t shape[2] = {m->rows, m->cols};
    sp_hash h = sp_hash_begin();

    sp_hash_add(&h, shape, sizeof shape);
    add_starts(&h, m);
    add_columns(&h, m);
    sp_hash_hex(out, h);
}
