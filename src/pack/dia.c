/* dia.c - diagonals, in groups of rows.
 *
 * val[group][diagonal][row in group]: one stream, read front to back. Of a
 * symmetric matrix the diagonals from the main one upwards, in larger blocks,
 * each with the first rows of the next behind it: see codegen/symmetric.c. */
#include "pack/internal.h"

/* Rows that lie together, and how many have a place there. */
typedef struct {
    int64_t rows, tall;
} block;

static block block_of(const sp_pack_job *w)
{
    int64_t group = w->lanes * w->x->slice;

    if (w->x->symmetric)
        return (block){SP_TRIANGLE_ROWS, SP_TRIANGLE_ROWS + group};
    return (block){group, group};
}

/* The first entry of row i that is stored. */
static int64_t first_entry(const sp_pack_job *w, int64_t i)
{
    int64_t k = w->A->start[i];

    while (w->x->symmetric && k < w->A->start[i + 1] && sp_col(w->A, k) < i)
        k++;
    return k;
}

/* place[j - i + rows - 1] = 1 + number of that diagonal, 0: empty. Returns
 * how many there are, -1 when they are too many for 32 bits. */
static int64_t number_diagonals(const sp_pack_job *w, int32_t *place)
{
    const spry_matrix *A = w->A;
    int64_t count = 0;

    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = first_entry(w, i); k < A->start[i + 1]; k++)
            place[sp_col(A, k) - i + A->rows - 1] = 1;
    for (int64_t d = 0; d < A->rows + A->cols - 1; d++)
        if (place[d]) {
            if (count == INT32_MAX)
                return -1;
            place[d] = (int32_t)++count;
        }
    return count;
}

static void fill(const sp_pack_job *w, sp_part *q, const int32_t *place)
{
    const spry_matrix *A = w->A;
    int64_t many = w->k->diagonals;
    block b = block_of(w);

#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = first_entry(w, i); k < A->start[i + 1]; k++) {
            int64_t d = place[sp_col(A, k) - i + A->rows - 1] - 1;
            int64_t at = i / b.rows * many + d, row = i % b.rows;

            sp_put_val(w, q, at * b.tall + row, sp_val(A, k));
            if (row + b.rows < b.tall && i >= b.rows)
                sp_put_val(w, q, (at - many) * b.tall + b.rows + row,
                           sp_val(A, k));
        }
}

static spry_status build(sp_pack_job *w, int32_t *place)
{
    const spry_matrix *A = w->A;
    int64_t many = number_diagonals(w, place), group = w->lanes * w->x->slice;
    int64_t units = (A->rows + group - 1) / group, values;
    block b = block_of(w);
    double tall = (double)b.tall * (double)((A->rows + b.rows - 1) / b.rows);
    spry_status s = many < 0 ? sp_fail(SPRY_USAGE, "more than 2^31 diagonals")
                             : sp_pack_limit(w, (double)many * tall);

    w->k->index = 32;
    values = s == SPRY_OK ? many * (int64_t)tall : 0;
    if (s == SPRY_OK)
        s = sp_pack_parts(w, 1);
    if (s == SPRY_OK)
        s = sp_pack_arrays(w, w->k->part, units, 0, values);
    if (s != SPRY_OK)
        return s;
    w->k->diagonals = many;
    w->k->diagonal = sp_alloc(many, sizeof *w->k->diagonal);
    if (!w->k->diagonal)
        return sp_fail_memory((size_t)many * 8);
    for (int64_t d = 0; d < A->rows + A->cols - 1; d++)
        if (place[d])
            w->k->diagonal[place[d] - 1] = d - (A->rows - 1);
    fill(w, w->k->part, place);
    w->k->pads = w->x->symmetric || values > A->nnz;
    return SPRY_OK;
}

spry_status sp_pack_dia(sp_pack_job *w)
{
    const spry_matrix *A = w->A;
    int32_t *place;
    spry_status s;

    /* Even one entry per diagonal must be worth a pass over all of them. */
    if (A->rows > INT32_MAX || A->cols > INT64_MAX - A->rows ||
        A->rows + A->cols > 64 * A->nnz + 65536)
        return sp_fail(SPRY_USAGE, "too empty for diagonals");
    place = sp_alloc(A->rows + A->cols, sizeof *place);
    if (!place)
        return sp_fail_memory((size_t)(A->rows + A->cols) * sizeof *place);
    s = A->rows ? build(w, place)
                : sp_fail(SPRY_USAGE, "no rows, no diagonals");
    sp_free(place);
    return s;
}
