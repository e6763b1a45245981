/* cut.c - where each thread begins: equal entries, not equal rows.
 *
 * A unit weighs its entries plus a little for itself. Panels are cut at the
 * same rows in every part, so that one thread owns a row of the result
 * through all of them. */
#include "pack/internal.h"

/* What a unit is for itself - its end is a guess, its result is written - in
 * entries; they take less time where sums stay in registers. */
static double unit_weight(const sp_pack_job *w)
{
    return w->x->tile > 0 ? 3 : 2;
}

/* Work before unit u. */
static double before(const sp_pack_job *w, const sp_part *q, int64_t u)
{
    int64_t start;

    if (sp_format_of(w->x)->ordered)
        return (double)u;
    start = sp_get_wide(w, q->start, u);
    if (q->mid_start) /* fibers weigh something, too */
        start += sp_get_wide(w, q->mid_start, start);
    return (double)start + unit_weight(w) * (double)u;
}

/* The first unit with at least `work` before it. */
static int64_t find_unit(const sp_pack_job *w, const sp_part *q, double work)
{
    int64_t low = 0, high = q->units;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (before(w, q, middle) < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first row of A with at least `work` before it. */
static int64_t find_row(const sp_pack_job *w, double work)
{
    const spry_matrix *A = w->A;
    int64_t low = 0, high = A->rows;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if ((double)A->start[middle] + unit_weight(w) * (double)middle < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first unit of a panel at or past a row. */
static int64_t unit_of_row(const sp_pack_job *w, const sp_part *q, int64_t row)
{
    int64_t low = 0, high = q->units;

    if (!q->row)
        return row;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (sp_get_wide(w, q->row, middle) < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Parts that scatter into the result have one owner each: thread 0 the first
 * few, thread 1 the next. */
static void cut_whole(const sp_pack_job *w, sp_part *q)
{
    int threads = w->x->threads;
    int owner = (int)((q - w->k->part) * threads / w->k->parts);

    for (int t = owner + 1; t <= threads; t++)
        q->cut[t] = q->units;
}

/* The slice of a panel at or before a row; windows of sorted rows stay
 * whole, so that the same rows are before it in every panel. */
static int64_t slice_of_row(const sp_pack_job *w, int64_t row)
{
    int64_t lanes = sp_schedule_slice(w->x, w->p->op, w->lanes);
    int64_t window = w->x->sigma > lanes ? w->x->sigma : lanes;

    return row / window * (window / lanes);
}

/* Blocks are not cut, and the rows they left go with them. */
static int64_t cut_blocks(const sp_pack_job *w, const sp_part *q, int64_t row)
{
    int64_t u = row / w->x->r;

    return q == w->k->part ? u : unit_of_row(w, q, u * w->x->r);
}

static int64_t cut_panel(const sp_pack_job *w, const sp_part *q, double work)
{
    int64_t row = find_row(w, work);

    if (w->x->rest)
        return cut_blocks(w, q, row);
    return sp_format_of(w->x)->slices ? slice_of_row(w, row)
                                      : unit_of_row(w, q, row);
}

static void cut_part(const sp_pack_job *w, sp_part *q)
{
    int threads = w->x->threads;
    double all = before(w, q, q->units);
    double rows = (double)w->A->nnz + unit_weight(w) * (double)w->A->rows;

    q->cut[threads] = q->units;
    for (int t = 1; t < threads; t++) {
        double share = (double)t / threads;

        q->cut[t] = w->k->parts > 1 ? cut_panel(w, q, share * rows)
                                    : find_unit(w, q, share * all);
    }
}

/* Every unit has one owner: shares follow each other, from the first unit to
 * the last, and so do the entries of units. */
static int is_cut(const sp_pack_job *w, const sp_part *q)
{
    int holds = q->cut[0] == 0 && q->cut[w->x->threads] == q->units;

    for (int t = 0; t < w->x->threads; t++)
        holds &= q->cut[t] <= q->cut[t + 1];
    for (int64_t u = 0; !sp_format_of(w->x)->ordered && u < q->units; u++)
        holds &= sp_get_wide(w, q->start, u) <= sp_get_wide(w, q->start, u + 1);
    return holds;
}

spry_status sp_pack_cut(sp_pack_job *w)
{
    for (int i = 0; i < w->k->parts; i++) {
        sp_part *q = &w->k->part[i];

        q->cut = sp_alloc(w->x->threads + 1, sizeof *q->cut);
        if (!q->cut)
            return sp_fail_memory((size_t)w->x->threads * 8);
        if (sp_has_tensor(w->p->op) && sp_schedule_innermost(w->x) == 2)
            cut_whole(w, q);
        else
            cut_part(w, q);
        SP_ASSERT(is_cut(w, q));
    }
    return SPRY_OK;
}
