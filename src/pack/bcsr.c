/* bcsr.c - dense r x c blocks at multiples of r and c.
 *
 * The r rows of a block row are merged by their next block column. A block
 * at the right edge begins at cols - c, so it never reaches outside. */
#include "pack/internal.h"

enum { MOST = 16 };

typedef struct {
    int64_t next[MOST], end[MOST];
    int rows;
} cursor;

static cursor begin(const sp_pack_job *w, int64_t u)
{
    int64_t i = u * w->x->r;
    cursor c = {0};

    for (; c.rows < w->x->r && i + c.rows < w->A->rows; c.rows++) {
        c.next[c.rows] = w->A->start[i + c.rows];
        c.end[c.rows] = w->A->start[i + c.rows + 1];
    }
    return c;
}

/* The smallest block column any row has next, or -1: of the smallest column,
 * so that there is one division, not one per row. */
static int64_t next_block(const sp_pack_job *w, const cursor *c)
{
    int64_t least = -1;

    for (int q = 0; q < c->rows; q++)
        if (c->next[q] < c->end[q]) {
            int64_t col = sp_col(w->A, c->next[q]);

            if (least < 0 || col < least)
                least = col;
        }
    return least < 0 ? -1 : least / w->x->c;
}

/* Move past a block; its entries go into a part unless that is NULL. */
static void take_block(const sp_pack_job *w, cursor *c, int64_t block,
                       int64_t first, sp_part *part, int64_t at)
{
    int64_t stop = (block + 1) * w->x->c;

    for (int q = 0; q < c->rows; q++)
        while (c->next[q] < c->end[q] && sp_col(w->A, c->next[q]) < stop) {
            int64_t k = c->next[q]++;

            if (part)
                sp_put_val(w, part,
                           at + (sp_col(w->A, k) - first) * w->x->r + q,
                           sp_val(w->A, k));
        }
}

static int64_t first_col(const sp_pack_job *w, int64_t block)
{
    int64_t col = block * w->x->c, last = w->A->cols - w->x->c;

    return col < last ? col : last;
}

/* Count the blocks of a block row; note the columns it spans. */
static int64_t count_blocks(const sp_pack_job *w, int64_t u, int64_t *span)
{
    cursor c = begin(w, u);
    int64_t n = 0, low = 0, high = 0;

    for (int64_t b; (b = next_block(w, &c)) >= 0; n++) {
        take_block(w, &c, b, 0, NULL, 0);
        low = n ? low : first_col(w, b);
        high = first_col(w, b);
    }
    *span = high - low + 1;
    return n;
}

static void fill_blocks(const sp_pack_job *w, sp_part *q, int64_t u)
{
    int64_t to = sp_get_wide(w, q->start, u), size = w->x->r * w->x->c;
    int64_t base = -1;
    cursor c = begin(w, u);

    for (int64_t b; (b = next_block(w, &c)) >= 0; to++) {
        int64_t first = first_col(w, b);

        if (base < 0)
            base = q->base ? first : 0;
        sp_put_col(w, q->col, to, first - base);
        take_block(w, &c, b, first, q, to * size);
    }
    if (q->base)
        sp_put_wide(w, q->base, u, base < 0 ? 0 : base);
}

static spry_status build(sp_pack_job *w, const int64_t *count, int64_t units,
                         int64_t span)
{
    int64_t blocks = 0, size = w->x->r * w->x->c;
    int based = w->x->index == 16 && w->A->cols > UINT16_MAX + 1;
    sp_part *q;
    spry_status s;

    for (int64_t u = 0; u < units; u++)
        blocks += count[u];
    s = sp_pack_limit(w, (double)blocks * (double)size);
    if (s == SPRY_OK)
        s = sp_pack_width(w, blocks, based ? span : w->A->cols);
    if (s == SPRY_OK)
        s = sp_pack_parts(w, 1);
    if (s == SPRY_OK)
        s = sp_pack_arrays(w, w->k->part, units, blocks, blocks * size);
    if (s != SPRY_OK)
        return s;
    q = w->k->part;
    if (based && !(q->base = sp_pack_indices(w, units)))
        return sp_fail_memory((size_t)units * 8);
    for (int64_t u = 0, at = 0; u < units; u++) {
        at += count[u];
        sp_put_wide(w, q->start, u + 1, at);
    }
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t u = 0; u < units; u++)
        fill_blocks(w, q, u);
    w->k->pads = blocks * size > w->A->nnz;
    return SPRY_OK;
}

spry_status sp_pack_bcsr(sp_pack_job *w)
{
    int64_t units = (w->A->rows + w->x->r - 1) / w->x->r, widest = 1;
    int64_t *count = sp_alloc_raw(units, sizeof *count);
    spry_status s;

    if (!count)
        return sp_fail_memory((size_t)units * sizeof *count);
#pragma omp parallel for num_threads(w->threads) schedule(static) \
    reduction(max                                                 \
              : widest)
    for (int64_t u = 0; u < units; u++) {
        int64_t span;

        count[u] = count_blocks(w, u, &span);
        widest = span > widest ? span : widest;
    }
    s = build(w, count, units, widest);
    sp_free(count);
    return s;
}
