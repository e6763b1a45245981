/* bcsr.c - dense r x c blocks at multiples of r and c, and what they leave.
 *
 * A block at the right edge begins at cols - c, so it never reaches outside.
 * With `rest`, blocks that are filled less are none: their entries become a
 * second part, rows as in csr. */
#include "matrix/walk.h"
#include "pack/internal.h"

/* What a first walk over the matrix finds. */
typedef struct {
    int64_t units;  /* block rows */
    int64_t *count; /* [units] blocks of each */
    int64_t *left;  /* [rows + 1] entries of each row outside of blocks, then
                       where they begin; NULL: there are none */
    int64_t blocks, rest, rows; /* in all; rows with something left */
    int64_t span;               /* columns of the widest block row */
} cover;

static sp_walk begin(const sp_pack_job *w, int64_t u)
{
    return sp_walk_begin(w->A, u, w->x->r, w->x->c);
}

static int is_block(const sp_pack_job *w, const sp_walk *b)
{
    return sp_is_filled(sp_walk_entries(b), w->x->r * w->x->c, w->x->rest);
}

static int64_t first_col(const sp_pack_job *w, int64_t block)
{
    int64_t col = block * w->x->c, last = w->A->cols - w->x->c;

    return col < last ? col : last;
}

/* ---- counting ---- */

/* Count the blocks of a block row, and what is left of its rows; returns the
 * columns it spans. */
static int64_t count_row(const sp_pack_job *w, cover *v, int64_t u)
{
    int64_t low = -1, high = 0;
    sp_walk b = begin(w, u);

    v->count[u] = 0;
    for (int64_t at; (at = sp_walk_next(w->A, &b)) >= 0;) {
        low = low < 0 ? first_col(w, at) : low;
        high = first_col(w, at);
        if (!v->left || is_block(w, &b))
            v->count[u]++;
        else
            for (int q = 0; q < b.rows; q++)
                v->left[u * w->x->r + q] += b.stop[q] - b.next[q];
    }
    return low < 0 ? 1 : high - low + (v->left ? w->x->c : 1);
}

/* Sums; left[] becomes where each row's entries begin. */
static void add_up(const sp_pack_job *w, cover *v)
{
    for (int64_t u = 0; u < v->units; u++)
        v->blocks += v->count[u];
    for (int64_t i = 0; v->left && i <= w->A->rows; i++) {
        int64_t n = i < w->A->rows ? v->left[i] : 0;

        v->left[i] = v->rest;
        v->rest += n;
        v->rows += n > 0;
    }
}

static spry_status count_all(const sp_pack_job *w, cover *v)
{
    int64_t widest = 1;

    v->units = (w->A->rows + w->x->r - 1) / w->x->r;
    v->count = sp_alloc_raw(v->units, sizeof *v->count);
    v->left = w->x->rest ? sp_alloc(w->A->rows + 1, sizeof *v->left) : NULL;
    if (!v->count || (w->x->rest && !v->left))
        return sp_fail_memory((size_t)w->A->rows * sizeof *v->left);
#pragma omp parallel for num_threads(w->threads) schedule(static) \
    reduction(max                                                 \
              : widest)
    for (int64_t u = 0; u < v->units; u++) {
        int64_t span = count_row(w, v, u);

        widest = span > widest ? span : widest;
    }
    v->span = widest;
    add_up(w, v);
    return SPRY_OK;
}

/* ---- storing ---- */

static void put_block(const sp_pack_job *w, const sp_walk *b, int64_t first,
                      int64_t to)
{
    for (int q = 0; q < b->rows; q++)
        for (int64_t k = b->next[q]; k < b->stop[q]; k++)
            sp_put_val(w, w->k->part,
                       to + (sp_col(w->A, k) - first) * w->x->r + q,
                       sp_val(w->A, k));
}

/* at[q] is where the next entry of row q goes. */
static void put_left(const sp_pack_job *w, const cover *v, const sp_walk *b,
                     int64_t row, int64_t *at)
{
    sp_part *part = &w->k->part[1];

    for (int q = 0; q < b->rows; q++, row++)
        for (int64_t k = b->next[q]; k < b->stop[q]; k++, at[q]++) {
            int64_t col = sp_col(w->A, k);

            if (part->base && at[q] == v->left[row])
                sp_put_wide(w, part->base, row, col);
            if (part->base)
                col -= sp_get_wide(w, part->base, row);
            sp_put_col(w, part->col, at[q], col);
            sp_put_val(w, part, at[q], sp_val(w->A, k));
        }
}

static void fill_row(const sp_pack_job *w, const cover *v, int64_t u)
{
    sp_part *part = w->k->part;
    int64_t to = sp_get_wide(w, part->start, u), row = u * w->x->r, base = -1;
    int64_t at[SP_WALK_ROWS] = {0}, size = w->x->r * w->x->c;
    sp_walk b = begin(w, u);

    for (int q = 0; v->left && q < b.rows; q++)
        at[q] = v->left[row + q];
    for (int64_t block; (block = sp_walk_next(w->A, &b)) >= 0;) {
        int64_t first = first_col(w, block);

        if (v->left && !is_block(w, &b)) {
            put_left(w, v, &b, row, at);
            continue;
        }
        if (base < 0)
            base = part->base ? first : 0;
        sp_put_col(w, part->col, to, first - base);
        put_block(w, &b, first, to++ * size);
    }
    if (part->base)
        sp_put_wide(w, part->base, u, base < 0 ? 0 : base);
}

/* The second part: rows, and a list of them when many have nothing left. */
static spry_status open_rest(sp_pack_job *w, const cover *v, int based)
{
    int64_t rows = w->A->rows, u = 0;
    int listed = sp_rest_listed(v->rows, rows, based);
    int64_t units = listed ? v->rows : rows;
    sp_part *part = &w->k->part[1];
    spry_status s = sp_pack_arrays(w, part, units, v->rest, v->rest);

    if (s != SPRY_OK)
        return s;
    part->row = listed ? sp_pack_indices(w, units) : NULL;
    part->base = based ? sp_pack_indices(w, units) : NULL;
    if ((listed && !part->row) || (based && !part->base))
        return sp_fail_memory((size_t)units * 8);
    for (int64_t i = 0; i < rows; i++) {
        if (listed && v->left[i] == v->left[i + 1])
            continue;
        if (listed)
            sp_put_wide(w, part->row, u, i);
        sp_put_wide(w, part->start, ++u, v->left[i + 1]);
    }
    return SPRY_OK;
}

static spry_status open_blocks(sp_pack_job *w, const cover *v, int based)
{
    sp_part *part = w->k->part;
    int64_t size = w->x->r * w->x->c;
    spry_status s =
        sp_pack_arrays(w, part, v->units, v->blocks, v->blocks * size);

    if (s != SPRY_OK)
        return s;
    if (based && !(part->base = sp_pack_indices(w, v->units)))
        return sp_fail_memory((size_t)v->units * 8);
    for (int64_t u = 0, at = 0; u < v->units; u++) {
        at += v->count[u];
        sp_put_wide(w, part->start, u + 1, at);
    }
    return SPRY_OK;
}

static spry_status build(sp_pack_job *w, const cover *v)
{
    int64_t values = v->blocks * w->x->r * w->x->c + v->rest;
    int based = w->x->index == 16 && w->A->cols > UINT16_MAX + 1;
    spry_status s = sp_pack_limit(w, (double)values);

    if (s == SPRY_OK && v->left)
        s = sp_rest_check(v->blocks, v->rest);
    if (s == SPRY_OK)
        s = sp_pack_width(w, v->blocks + v->rest, based ? v->span : w->A->cols);
    if (s == SPRY_OK)
        s = sp_pack_parts(w, 1 + (v->left != NULL));
    if (s == SPRY_OK)
        s = open_blocks(w, v, based);
    if (s == SPRY_OK && v->left)
        s = open_rest(w, v, based);
    if (s != SPRY_OK)
        return s;
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t u = 0; u < v->units; u++)
        fill_row(w, v, u);
    w->k->pads = values > w->A->nnz;
    return SPRY_OK;
}

spry_status sp_pack_bcsr(sp_pack_job *w)
{
    cover v = {0};
    spry_status s = count_all(w, &v);

    if (s == SPRY_OK)
        s = build(w, &v);
    sp_free(v.count);
    sp_free(v.left);
    return s;
}
