/* tensor.c - from entries of order 3 to a tensor, and from mode to mode. */
#include "spry/tensor.h"

#include "matrix/internal.h"

spry_status sp_tensor_wrap(spry_tensor **out, spry_matrix *unfolded,
                           const int64_t dim[3])
{
    spry_tensor *t = sp_alloc(1, sizeof *t);

    *out = t;
    if (!t) {
        spry_matrix_free(unfolded);
        return sp_fail_memory(sizeof *t);
    }
    for (int mode = 0; mode < 3; mode++)
        t->dim[mode] = dim[mode];
    t->unfolded = unfolded;
    return SPRY_OK;
}

spry_status sp_tensor_columns(int64_t *out, const int64_t dim[3])
{
    int bad = 0;

    for (int mode = 0; mode < 3; mode++)
        bad |= dim[mode] < 0 || dim[mode] == INT64_MAX;
    if (bad || __builtin_mul_overflow(dim[1], dim[2], out) ||
        *out > INT64_MAX / 2)
        return sp_fail(SPRY_USAGE, "a tensor cannot be %lld x %lld x %lld",
                       (long long)dim[0], (long long)dim[1], (long long)dim[2]);
    return SPRY_OK;
}

static spry_status check_entries(const int64_t dim[3], int64_t nnz,
                                 const int64_t *const index[3])
{
    for (int mode = 0; mode < 3; mode++)
        for (int64_t e = 0; e < nnz; e++)
            if (index[mode][e] < 0 || index[mode][e] >= dim[mode])
                return sp_fail(SPRY_INPUT,
                               "entry %lld has index %lld in mode %d, outside "
                               "0..%lld",
                               (long long)e, (long long)index[mode][e], mode,
                               (long long)dim[mode] - 1);
    return SPRY_OK;
}

/* Entries in range become the tensor; col is room for their columns. */
static spry_status unfold(spry_tensor **out, const int64_t dim[3],
                          sp_entries *e, const int64_t *k, const int64_t *l,
                          int64_t *col)
{
    spry_matrix *unfolded;
    spry_status s;

    for (int64_t at = 0; at < e->nnz; at++)
        col[at] = k[at] * dim[2] + l[at];
    e->col = col;
    s = sp_compress(&unfolded, e);
    return s == SPRY_OK ? sp_tensor_wrap(out, unfolded, dim) : s;
}

spry_status spry_tensor_coordinates(spry_tensor **out, const int64_t dim[3],
                                    int64_t nnz, const int64_t *i,
                                    const int64_t *k, const int64_t *l,
                                    const void *val, spry_type type)
{
    SP_NEED_NEW(out, dim);
    if (nnz > 0)
        SP_NEED(i, k, l);

    const int64_t *const index[] = {i, k, l};
    sp_entries e = {.rows = dim[0],
                    .nnz = nnz,
                    .row = i,
                    .val = val,
                    .val_type = type,
                    .type = type};
    int64_t *col;
    spry_status s;

    if (nnz < 0 || (type != SPRY_F32 && type != SPRY_F64))
        return sp_fail(SPRY_USAGE,
                       "a tensor cannot have %lld entries of "
                       "type %d",
                       (long long)nnz, (int)type);
    s = sp_tensor_columns(&e.cols, dim);
    if (s == SPRY_OK)
        s = check_entries(dim, nnz, index);
    if (s != SPRY_OK)
        return s;
    col = sp_alloc_raw(nnz, sizeof *col);
    if (!col)
        return sp_fail_memory((size_t)nnz * sizeof *col);
    s = unfold(out, dim, &e, k, l, col);
    sp_free(col);
    return s;
}

/* Row and the two halves of the column of every entry. */
static void unpack(const spry_tensor *t, int64_t *const index[3])
{
    const spry_matrix *m = t->unfolded;

#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            index[0][e] = i;
            index[1][e] = sp_col(m, e) / t->dim[2];
            index[2][e] = sp_col(m, e) % t->dim[2];
        }
}

spry_status spry_tensor_turn(spry_tensor **out, const spry_tensor *t, int mode)
{
    SP_NEED_NEW(out, t);

    const spry_matrix *m = t->unfolded;
    int second = mode == 0 ? 1 : 0, third = mode == 2 ? 1 : 2;
    int64_t *index[3], *room, dim[3];
    spry_status s;

    if (mode < 0 || mode > 2)
        return sp_fail(SPRY_USAGE, "a tensor of order 3 has no mode %d", mode);
    room = sp_alloc_raw(m->nnz, 3 * sizeof *room);
    if (!room)
        return sp_fail_memory((size_t)m->nnz * 3 * sizeof *room);
    for (int i = 0; i < 3; i++)
        index[i] = room + i * m->nnz;
    unpack(t, index);
    dim[0] = t->dim[mode];
    dim[1] = t->dim[second];
    dim[2] = t->dim[third];
    s = spry_tensor_coordinates(out, dim, m->nnz, index[mode], index[second],
                                index[third], m->val, m->type);
    sp_free(room);
    return s;
}

void spry_tensor_free(spry_tensor *t)
{
    if (!t)
        return;
    spry_matrix_free(t->unfolded);
    sp_free(t);
}
