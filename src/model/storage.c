/* storage.c - what a schedule will store, without storing it.
 *
 * The same sums as the packers': exact where the statistics are (csr, dcsr,
 * bcsr, dia), an estimate for sell's padding and for rows that panels cut. */
#include "model/internal.h"

#include <math.h>

typedef spry_status sizer(sp_storage *k, const sp_ask *q);

enum { SHORT = 65536 };

/* ---- what the packers refuse ---- */

static spry_status check_values(const sp_ask *q, double values)
{
    double nnz = (double)q->t->nnz;

    if (values <= 6 * nnz + 65536)
        return SPRY_OK;
    return sp_fail(SPRY_USAGE, "would store %.0f values for %.0f entries",
                   values, nnz);
}

static int wide(const sp_ask *q, double entries)
{
    return q->x->index == 64 || q->p->mid > INT32_MAX ||
           q->p->inner > INT32_MAX || q->t->rows > INT32_MAX ||
           entries > INT32_MAX;
}

/* Do 16-bit columns need a base per unit? */
static int based(const sp_ask *q)
{
    return q->x->index == 16 && !q->x->panel && q->t->cols > SHORT;
}

spry_status sp_check_index(const sp_ask *q, double entries, int64_t span)
{
    int64_t reach = q->x->index == 8 ? 256 : SHORT;

    if ((q->x->index == 8 || q->x->index == 16) &&
        (span > reach || wide(q, entries)))
        return sp_fail(SPRY_USAGE,
                       "columns %lld apart do not fit %d-bit indices",
                       (long long)span, (int)q->x->index);
    return SPRY_OK;
}

static spry_status check_palette(const sp_ask *q)
{
    if (q->x->palette == 1 && !q->t->one_value)
        return sp_fail(SPRY_USAGE, "the values are not all the same");
    if (q->x->palette > 1 && q->t->different > q->x->palette)
        return sp_fail(SPRY_USAGE, "with 0 there are more than %d values",
                       (int)q->x->palette);
    return SPRY_OK;
}

/* ---- sizes ---- */

static double start_bytes(const sp_ask *q, double entries)
{
    return wide(q, entries) ? 8 : 4;
}

/* starts, columns, values, and `lists` more numbers per unit. */
static void add_bytes(sp_storage *k, const sp_ask *q, double lists)
{
    double number = start_bytes(q, k->entries);
    double column = q->x->index == 8 ? 1 : q->x->index == 16 ? 2 : number;
    double code = q->x->palette > 1;

    k->bytes = (k->units + k->parts + lists * k->units) * number +
               k->entries * (column + code) + k->values * (double)q->p->type;
}

static spry_status size_rows(sp_storage *k, const sp_ask *q)
{
    const spry_stats *t = q->t;
    int listed = sp_format_of(q->x)->listed || sp_schedule_sorts(q->x);
    spry_status s =
        sp_check_index(q, (double)t->nnz, based(q) ? t->max_span : t->cols);

    if (s == SPRY_OK && q->x->order == SPRY_ORDER_RCM && t->rows != t->cols)
        s = sp_fail(SPRY_USAGE, "order=rcm needs a square matrix");
    k->units = (double)t->rows;
    if (sp_format_of(q->x)->listed)
        k->units -= (double)t->empty_rows;
    k->entries = (double)t->nnz;
    k->values = q->x->palette ? q->x->palette : k->entries;
    add_bytes(k, q, listed + based(q));
    return s;
}

/* Both parts of blocks with a rest; parts of k are column panels, and there
 * are none. */
static void add_both(sp_storage *k, const sp_ask *q, int listed)
{
    sp_storage both = {.parts = 2,
                       .units = k->units + k->rest_units,
                       .entries = k->entries + k->rest,
                       .values = k->values + k->rest};

    add_bytes(&both, q, based(q));
    k->bytes = both.bytes;
    if (listed)
        k->bytes += k->rest_units * start_bytes(q, both.entries);
}

static spry_status size_rest(sp_storage *k, const sp_ask *q)
{
    double cells = q->x->r * q->x->c, rows = (double)q->t->rows;
    const sp_tiles *t;
    spry_status s;
    int listed;

    t = sp_problem_tiles(q->p, q->x->r, q->x->c);
    if (!t)
        return sp_fail_memory(sizeof *t);
    t += q->x->rest / 25 - 1;
    listed = sp_rest_listed(t->rows, q->t->rows, based(q));
    k->units = ceil(rows / q->x->r);
    k->entries = (double)t->blocks;
    k->values = k->entries * cells;
    k->rest = (double)t->rest;
    k->rest_units = listed ? (double)t->rows : rows;
    add_both(k, q, listed);
    s = sp_rest_check(t->blocks, t->rest);
    if (s == SPRY_OK)
        s = check_values(q, k->values + k->rest);
    if (s == SPRY_OK)
        s = sp_check_index(q, k->entries + k->rest,
                           based(q) ? q->t->max_span : q->t->cols);
    return s;
}

static spry_status size_blocks(sp_storage *k, const sp_ask *q)
{
    double blocks = (double)sp_stats_count(q->t, q->x->r, q->x->c);
    spry_status s;

    if (q->x->rest)
        return size_rest(k, q);
    s = check_values(q, blocks * q->x->r * q->x->c);
    if (s == SPRY_OK)
        s = sp_check_index(q, blocks, based(q) ? q->t->max_span : q->t->cols);
    k->units = ceil((double)q->t->rows / q->x->r);
    k->entries = blocks;
    k->values = blocks * q->x->r * q->x->c;
    add_bytes(k, q, based(q));
    return s;
}

static spry_status size_slices(sp_storage *k, const sp_ask *q)
{
    double rows = sp_schedule_slice(q->x, q->p->op, q->lanes), lists;
    sp_sell sell = sp_model_sell(q);
    double total = sell.growth * (double)q->t->nnz;
    int64_t span = q->t->max_span > sell.span ? q->t->max_span : sell.span;
    int steps = q->x->index == 8;
    spry_status s = steps ? sp_schedule_steps((int64_t)total, q->t->nnz)
                          : check_values(q, total);

    if (s == SPRY_OK)
        s = sp_check_index(q, total, steps ? 1 : based(q) ? span : q->t->cols);
    k->units = ceil((double)q->t->rows / rows);
    k->entries = total;
    k->values = q->x->palette ? q->x->palette : total;
    lists = (q->x->sigma > 1 ? rows : 0) + based(q);
    if (steps) /* a base for each */
        lists += total / rows / fmax(1, k->units);
    if (q->x->palette == 1) /* one length per lane, as wide as a value */
        lists += 1 + rows * (double)q->p->type / 4;
    add_bytes(k, q, lists);
    return s;
}

static spry_status size_diagonals(sp_storage *k, const sp_ask *q)
{
    double rows = q->lanes * q->x->slice, nnz = (double)q->t->nnz;
    double all = (double)q->t->rows + (double)q->t->cols;
    double many = (double)q->t->diagonals, tall = rows, block = rows;

    if (q->x->symmetric) {
        many = ceil(many / 2);
        block = SP_TRIANGLE_ROWS;
        tall = block + rows;
    }
    k->units = ceil((double)q->t->rows / rows);
    k->entries = 0;
    k->values = ceil((double)q->t->rows / block) * tall * many;
    add_bytes(k, q, 0);
    if (q->x->symmetric && !sp_problem_symmetric(q->p))
        return sp_fail(SPRY_USAGE, "the matrix is not symmetric");
    if (all > 64 * nnz + 65536 || q->t->rows > INT32_MAX || !q->t->rows)
        return sp_fail(SPRY_USAGE, "too empty for diagonals");
    return check_values(q, k->values);
}

/* Expected pieces of rows: a row of `length` entries thrown over `reach`
 * panels meets reach * (1 - (1 - 1 / reach) ^ length) of them. */
static double pieces(const spry_stats *t, double panels)
{
    double share = (double)t->mean_span / fmax(1, (double)t->cols);
    double reach = fmax(1, fmin(panels, share * panels + 1)), sum = 0;

    for (int b = 1; b < SPRY_HIST; b++) {
        double length = ldexp(1.5, b - 1);

        if (t->row_hist[b])
            sum += (double)t->row_hist[b] * reach *
                   (1 - pow(1 - 1 / (reach + 1e-9), length));
    }
    return sum;
}

/* Slices hold every row in every panel, as long as the longest of them: of
 * neighbours, or of rows of nearly the same length. */
static void slice_panels(sp_storage *k, const sp_ask *q)
{
    double lanes = sp_schedule_slice(q->x, q->p->op, q->lanes);
    double nnz = (double)q->t->nnz;
    double mean = fmax(0.1, nnz / fmax(1, (double)q->t->rows * k->parts));
    double spread = q->x->sigma > 1 ? 2 * sqrt(mean) * lanes / q->x->sigma
                                    : sqrt(2 * mean * log(lanes));

    k->units = ceil((double)q->t->rows / lanes) * k->parts;
    k->entries = k->values = nnz * fmin(8, 1.02 + spread / mean);
    add_bytes(k, q, q->x->sigma > 1 ? lanes : 0);
}

static spry_status size_panels(sp_storage *k, const sp_ask *q)
{
    const spry_stats *t = q->t;
    double rows = (double)t->rows, cut;
    spry_status s = sp_check_index(q, (double)t->nnz, q->x->panel);

    k->parts = ceil((double)t->cols / q->x->panel);
    if (s == SPRY_OK && k->parts > (double)sp_schedule_panels(t->rows, t->nnz))
        s = sp_fail(SPRY_USAGE, "%.0f panels are too many", k->parts);
    if (sp_format_of(q->x)->slices) {
        slice_panels(k, q);
        return s == SPRY_OK ? check_values(q, k->values) : s;
    }
    cut = pieces(t, k->parts);
    k->units = cut < 0.75 * rows * k->parts ? cut : rows * k->parts;
    k->entries = k->values = (double)t->nnz;
    add_bytes(k, q, k->units == cut);
    return s;
}

spry_status sp_model_storage(sp_storage *out, const sp_ask *q)
{
    static sizer *const sizers[] = {
        [SPRY_CSR] = size_rows,      [SPRY_BCSR] = size_blocks,
        [SPRY_SELL] = size_slices,   [SPRY_DCSR] = size_rows,
        [SPRY_DIA] = size_diagonals,
    };

    spry_status s = check_palette(q);

    *out = (sp_storage){.parts = 1};
    if (s != SPRY_OK)
        return s;
    if (sp_has_tensor(q->p->op))
        return sp_tensor_storage(out, q);
    return q->x->panel ? size_panels(out, q) : sizers[q->x->format](out, q);
}
