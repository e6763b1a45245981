/* twin.c - a mark that rows and columns in another order do not change.
 *
 * Sums of hashes of the row lengths, of the column lengths and of the values:
 * what is summed has no order. Two files of one matrix, permuted, then fall
 * on one side of a split. */
#include <string.h>

#include "matrix/matrix.h"
#include "train/internal.h"

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t sum_of_values(const spry_matrix *A)
{
    uint64_t sum = 0;

    for (int64_t k = 0; k < A->nnz; k++) {
        double value = sp_val(A, k);
        uint64_t bits;

        memcpy(&bits, &value, sizeof bits);
        sum += mix(bits);
    }
    return sum;
}

uint64_t sp_twin_of(const spry_matrix *A)
{
    int64_t *length = sp_alloc(A->cols + 1, sizeof *length);
    uint64_t rows = 0, cols = 0, mark;

    if (!length)
        return 0;
    for (int64_t i = 0; i < A->rows; i++)
        rows += mix((uint64_t)(A->start[i + 1] - A->start[i]));
    for (int64_t k = 0; k < A->nnz; k++)
        length[sp_col(A, k)]++;
    for (int64_t j = 0; j < A->cols; j++)
        cols += mix((uint64_t)length[j]);
    sp_free(length);
    mark = mix(rows ^ mix(cols ^ mix(sum_of_values(A))));
    return mark ? mark : 1;
}
