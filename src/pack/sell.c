/* sell.c - SELL-C-sigma: slices of C rows, sorted by length in windows.
 *
 * Within a slice entries lie column by column across its rows; rows shorter
 * than the longest are padded with zeros at their own last column, which is
 * in the cache already. What is sliced are whole rows, or the segments of
 * rows that lie in a column panel.
 *
 * Columns of 8 bits count from a base that every step over the rows of a
 * slice has for itself. Rows whose next entry is out of reach wait for the
 * others: they get a zero. */
#include "matrix/steps.h"
#include "pack/internal.h"

/* Row i is entries [from[i], to[i]) of A. */
typedef struct {
    const int64_t *from, *to;
    int lanes;           /* rows in a slice */
    int64_t units;       /* slices */
    int64_t *row;        /* [units * lanes] -1 past the last */
    int64_t *step;       /* [units] longest row */
    int64_t *low;        /* [units] first column */
    int64_t total, span; /* entries stored; columns of the widest slice */
} slices;

static int64_t length(const slices *c, int64_t i)
{
    return i < 0 ? 0 : c->to[i] - c->from[i];
}

/* ---- which row goes where ---- */

/* row[] = rows in order, each window of sigma sorted; -1 past the last. */
static spry_status sort_windows(const sp_pack_job *w, slices *c)
{
    sp_segments g = {c->from, c->to};

    for (int64_t i = 0; i < c->units * c->lanes; i++)
        c->row[i] = i < w->A->rows ? i : -1;
    return w->x->sigma > 1 ? sp_pack_sort(w, c->row, w->x->sigma, &g) : SPRY_OK;
}

/* Longest row, first column, and columns spanned, of slice u. */
static int64_t measure(slices *c, const spry_matrix *A, int64_t u)
{
    const int64_t *row = c->row + u * c->lanes;
    int64_t low = A->cols, high = 0;

    c->step[u] = 0;
    for (int l = 0; l < c->lanes; l++) {
        int64_t n = length(c, row[l]), first, last;

        if (n == 0)
            continue;
        first = sp_col(A, c->from[row[l]]);
        last = sp_col(A, c->to[row[l]] - 1);
        c->step[u] = n > c->step[u] ? n : c->step[u];
        low = first < low ? first : low;
        high = last > high ? last : high;
    }
    c->low[u] = c->step[u] ? low : 0;
    return high - c->low[u] + 1;
}

static void close_slices(slices *c)
{
    sp_free(c->row);
    sp_free(c->step);
    sp_free(c->low);
}

static spry_status measure_all(slices *c, const sp_pack_job *w)
{
    int64_t total = 0, span = 1;

#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(+ : total) reduction(max : span)
    for (int64_t u = 0; u < c->units; u++) {
        int64_t wide = measure(c, w->A, u);

        total += c->step[u] * c->lanes;
        span = wide > span ? wide : span;
    }
    c->total = total;
    c->span = span;
    return sp_pack_limit(w, (double)total);
}

/* Slices of neighbours, in steps within reach of 8 bits. */
static spry_status count_steps(slices *c, const sp_pack_job *w)
{
    int64_t total = 0;

#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(+ : total)
    for (int64_t u = 0; u < c->units; u++) {
        c->step[u] = sp_steps_count(w->A, u * c->lanes, c->lanes);
        total += c->step[u] * c->lanes;
    }
    c->total = total;
    return sp_schedule_steps(total, w->A->nnz);
}

static spry_status open_slices(slices *c, const sp_pack_job *w,
                               const int64_t *from, const int64_t *to)
{
    int lanes = sp_schedule_slice(w->x, w->p->op, w->lanes);
    int64_t units = (w->A->rows + lanes - 1) / lanes;
    spry_status s;

    *c = (slices){from, to, lanes, units, .span = 1};
    c->row = sp_alloc_raw(units * lanes, sizeof *c->row);
    c->step = sp_alloc_raw(units, sizeof *c->step);
    c->low = sp_alloc_raw(units, sizeof *c->low);
    if (!c->row || !c->step || !c->low)
        s = sp_fail_memory((size_t)units * (size_t)(lanes + 2) * 8);
    else
        s = sort_windows(w, c);
    if (s != SPRY_OK)
        return s;
    return w->x->index == 8 ? count_steps(c, w) : measure_all(c, w);
}

/* ---- what is stored ---- */

static void fill_slice(const sp_pack_job *w, sp_part *q, const slices *c,
                       int64_t u)
{
    const spry_matrix *A = w->A;
    const int64_t *row = c->row + u * c->lanes;
    int64_t at = sp_get_wide(w, q->start, u);
    int64_t base = q->col0 + (q->base ? c->low[u] : 0);

    for (int l = 0; l < c->lanes; l++) {
        int64_t n = length(c, row[l]), k = n ? c->from[row[l]] : 0;
        int64_t last = n ? sp_col(A, k + n - 1) - base : 0;

        for (int64_t i = 0; i < c->step[u]; i++) {
            int64_t to = at + i * c->lanes + l;

            sp_put_col(w, q->col, to, i < n ? sp_col(A, k + i) - base : last);
            sp_put_val(w, q, to, i < n ? sp_val(A, k + i) : 0);
        }
    }
}

static void fill_steps(const sp_pack_job *w, sp_part *q, const slices *c,
                       int64_t u)
{
    int64_t to = sp_get_wide(w, q->start, u), base;
    sp_steps s;

    sp_steps_begin(&s, w->A, u * c->lanes, c->lanes);
    for (; (base = sp_steps_next(&s, w->A)) >= 0; to += c->lanes) {
        sp_put_wide(w, q->base, to / c->lanes, base);
        for (int l = 0; l < c->lanes; l++)
            if (s.took[l] >= 0) {
                sp_put_col(w, q->col, to + l, sp_col(w->A, s.took[l]) - base);
                sp_put_val(w, q, to + l, sp_val(w->A, s.took[l]));
            }
    }
}

/* Without values nothing can be padded by zeros: note where the first row of
 * each slice ends, and every row's length. */
static spry_status note_lengths(sp_pack_job *w, sp_part *q, const slices *c)
{
    int64_t count = c->units * c->lanes;
    size_t size = (size_t)w->p->type;

    q->whole = sp_pack_indices(w, c->units);
    q->length = sp_alloc(count, size);
    w->k->bytes += (double)count * (double)size;
    if (!q->whole || !q->length)
        return sp_fail_memory((size_t)count * size);
    for (int64_t u = 0; u < c->units; u++) {
        int64_t least = c->step[u];

        for (int64_t i = u * c->lanes; i < (u + 1) * c->lanes; i++) {
            int64_t n = length(c, c->row[i]);

            least = n < least ? n : least;
            if (size == 8)
                ((int64_t *)q->length)[i] = n;
            else
                ((int32_t *)q->length)[i] = (int32_t)n;
        }
        sp_put_wide(w, q->whole, u,
                    sp_get_wide(w, q->start, u) + least * c->lanes);
    }
    return SPRY_OK;
}

static spry_status store(sp_pack_job *w, sp_part *q, const slices *c, int based)
{
    int sorted = w->x->sigma > 1, steps = w->k->index == 8;
    int64_t bases = steps ? c->total / c->lanes : c->units;
    spry_status s = sp_pack_arrays(w, q, c->units, c->total, c->total);

    if (s != SPRY_OK)
        return s;
    q->row = sorted ? sp_pack_indices(w, c->units * c->lanes) : NULL;
    q->base = based ? sp_pack_indices(w, bases) : NULL;
    if ((sorted && !q->row) || (based && !q->base))
        return sp_fail_memory((size_t)c->units * 8);
    for (int64_t u = 0, at = 0; u < c->units; u++) {
        at += c->step[u] * c->lanes;
        sp_put_wide(w, q->start, u + 1, at);
        if (based && !steps)
            sp_put_wide(w, q->base, u, c->low[u]);
    }
    for (int64_t i = 0; sorted && i < c->units * c->lanes; i++)
        sp_put_wide(w, q->row, i, c->row[i]);
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 64)
    for (int64_t u = 0; u < c->units; u++)
        (steps ? fill_steps : fill_slice)(w, q, c, u);
    if (w->x->palette == 1)
        return note_lengths(w, q, c);
    return SPRY_OK;
}

spry_status sp_pack_sell(sp_pack_job *w)
{
    int based =
        w->x->index == 8 || (w->x->index == 16 && w->A->cols > UINT16_MAX + 1);
    slices c;
    spry_status s = open_slices(&c, w, w->A->start, w->A->start + 1);

    if (s == SPRY_OK)
        s = sp_pack_width(w, c.total, based ? c.span : w->A->cols);
    if (s == SPRY_OK)
        s = sp_pack_parts(w, 1);
    if (s == SPRY_OK)
        s = store(w, w->k->part, &c, based);
    w->k->pads = w->x->palette != 1 && c.total > w->A->nnz;
    close_slices(&c);
    return s;
}

spry_status sp_pack_sell_panel(sp_pack_job *w, sp_part *q, const int64_t *from,
                               const int64_t *to)
{
    slices c;
    spry_status s = open_slices(&c, w, from, to);

    if (s == SPRY_OK && w->k->index != 64 && c.total > INT32_MAX)
        s = sp_fail(SPRY_USAGE, "a panel would store %lld entries",
                    (long long)c.total);
    if (s == SPRY_OK)
        s = store(w, q, &c, 0);
    w->k->pads = 1;
    close_slices(&c);
    return s;
}
