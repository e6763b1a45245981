/* dia.c - diagonals, in groups of rows.
 *
 * val[group][diagonal][row in group]: one stream, read front to back. */
#include "pack/internal.h"

/* place[j - i + rows - 1] = 1 + number of that diagonal, 0: empty. Returns
 * how many there are, -1 when they are too many for 32 bits. */
static int64_t number_diagonals(const spry_matrix *A, int32_t *place)
{
    int64_t count = 0;

    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            place[sp_col(A, k) - i + A->rows - 1] = 1;
    for (int64_t d = 0; d < A->rows + A->cols - 1; d++)
        if (place[d]) {
            if (count == INT32_MAX)
                return -1;
            place[d] = (int32_t)++count;
        }
    return count;
}

static void fill(const sp_pack_job *w, sp_part *q, const int32_t *place,
                 int lanes)
{
    const spry_matrix *A = w->A;
    int64_t many = w->k->diagonals;

#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            int64_t d = place[sp_col(A, k) - i + A->rows - 1] - 1;

            sp_put_val(w, q, (i / lanes * many + d) * lanes + i % lanes,
                       sp_val(A, k));
        }
}

static spry_status build(sp_pack_job *w, int32_t *place, int lanes)
{
    const spry_matrix *A = w->A;
    int64_t many = number_diagonals(A, place);
    int64_t units = (A->rows + lanes - 1) / lanes, values;
    spry_status s =
        many < 0
            ? sp_fail(SPRY_USAGE, "more than 2^31 diagonals")
            : sp_pack_limit(w, (double)many * (double)units * (double)lanes);

    w->k->index = 32;
    values = s == SPRY_OK ? many * units * lanes : 0;
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
    fill(w, w->k->part, place, lanes);
    w->k->pads = values > A->nnz;
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
    s = A->rows ? build(w, place, w->lanes * w->x->slice)
                : sp_fail(SPRY_USAGE, "no rows, no diagonals");
    sp_free(place);
    return s;
}
