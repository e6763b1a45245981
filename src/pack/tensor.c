/* tensor.c - an unfolded tensor laid out for mttkrp.
 *
 * Entries are put into the order in which the schedule nests the modes
 * (outer, middle, inner), then written down either one by one (csr: the
 * middle index of every entry) or fiber by fiber (csf: the middle index of
 * every run of entries that share it).
 *
 * Panels cut the innermost mode. When that is the result's, threads must not
 * meet in it: each panel then belongs to one thread. */
#include "pack/internal.h"

/* Entries on their way; index[m][e] of mode i, k, l. */
typedef struct {
    sp_pack_job *w;
    int mode[3];       /* outer, middle, inner */
    int32_t *index[3]; /* [nnz] */
    int64_t *order;    /* [nnz] entries in the order of the walk */
    int64_t *spare;    /* [nnz] */
    int parts;
    int64_t *edge; /* [parts + 1] where each part's inner indices begin */
} sorting;

enum { MOST_PARTS = 256 };

static int64_t size_of_mode(const sp_pack_job *w, int mode)
{
    return mode == 0 ? w->A->rows : mode == 1 ? w->p->mid : w->p->inner;
}

static int scatters(const spry_schedule *x)
{
    return sp_schedule_innermost(x) == 2;
}

/* ---- where parts begin ---- */

/* Slices that hold equal shares of the entries. */
static void edges_by_entries(sorting *g)
{
    const spry_matrix *A = g->w->A;
    int64_t row = 0;

    for (int i = 0; i < g->parts; i++) {
        double before = ((double)A->nnz + (double)A->rows) * i / g->parts;

        while (row < A->rows && (double)(A->start[row] + row) < before)
            row++;
        g->edge[i] = row;
    }
    g->edge[g->parts] = A->rows;
}

static spry_status choose_parts(sorting *g)
{
    const spry_schedule *x = g->w->x;
    int64_t size = size_of_mode(g->w, g->mode[2]), count = 1;

    if (x->panel)
        count = (size + x->panel - 1) / x->panel;
    if (scatters(x))
        count = (count + x->threads - 1) / x->threads * x->threads;
    if (count > MOST_PARTS)
        return sp_fail(SPRY_USAGE, "%lld panels are too many",
                       (long long)count);
    g->parts = (int)count;
    g->edge = sp_alloc_raw(count + 1, sizeof *g->edge);
    if (!g->edge)
        return sp_fail_memory((size_t)(count + 1) * sizeof *g->edge);
    if (scatters(x)) {
        edges_by_entries(g);
        return SPRY_OK;
    }
    for (int i = 0; i <= g->parts; i++)
        g->edge[i] = i < g->parts ? i * (int64_t)x->panel : size;
    return SPRY_OK;
}

/* ---- the order of the walk ---- */

static void split_indices(sorting *g)
{
    const spry_matrix *A = g->w->A;
    int64_t inner = g->w->p->inner;

#pragma omp parallel for num_threads(g->w->threads) schedule(static)
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t e = A->start[i]; e < A->start[i + 1]; e++) {
            g->index[0][e] = (int32_t)i;
            g->index[1][e] = (int32_t)(sp_col(A, e) / inner);
            g->index[2][e] = (int32_t)(sp_col(A, e) % inner);
            g->order[e] = e;
        }
}

static int part_of(const sorting *g, int64_t inner)
{
    int low = 0, high = g->parts - 1;

    while (low < high) {
        int middle = (low + high + 1) / 2;

        if (g->edge[middle] <= inner)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* A stable counting sort of g->order by one mode, or by part (mode < 0). */
static spry_status sort_by(sorting *g, int mode)
{
    int64_t nnz = g->w->A->nnz, at = 0, *order = g->order;
    int64_t keys = mode < 0 ? g->parts : size_of_mode(g->w, mode);
    const int32_t *index = g->index[mode < 0 ? g->mode[2] : mode];
    int64_t *place = sp_alloc(keys + 1, sizeof *place);

    if (!place)
        return sp_fail_memory((size_t)keys * sizeof *place);
    for (int64_t e = 0; e < nnz; e++)
        place[mode < 0 ? part_of(g, index[e]) : index[e]]++;
    for (int64_t key = 0; key < keys; key++) {
        int64_t count = place[key];

        place[key] = at;
        at += count;
    }
    for (int64_t e = 0; e < nnz; e++) {
        int32_t key = index[order[e]];

        g->spare[place[mode < 0 ? part_of(g, key) : key]++] = order[e];
    }
    g->order = g->spare;
    g->spare = order;
    sp_free(place);
    return SPRY_OK;
}

/* Entries come sorted by i, k, l. */
static spry_status sort_entries(sorting *g)
{
    spry_status s = SPRY_OK;

    if (g->w->x->modes != SPRY_MODES_IKL) {
        s = sort_by(g, g->mode[1]);
        if (s == SPRY_OK)
            s = sort_by(g, g->mode[0]);
    }
    return s == SPRY_OK && g->parts > 1 ? sort_by(g, -1) : s;
}

/* ---- writing a part down ---- */

/* Entries [from, to) of the walk, and what they hold. */
typedef struct {
    int64_t from, to, units, fibers;
} stretch;

static int32_t outer_at(const sorting *g, int64_t at)
{
    return g->index[g->mode[0]][g->order[at]];
}

static int32_t middle_at(const sorting *g, int64_t at)
{
    return g->index[g->mode[1]][g->order[at]];
}

static int new_unit(const sorting *g, const stretch *r, int64_t at)
{
    return at == r->from || outer_at(g, at) != outer_at(g, at - 1);
}

static int new_fiber(const sorting *g, const stretch *r, int64_t at)
{
    return new_unit(g, r, at) || middle_at(g, at) != middle_at(g, at - 1);
}

static void measure(const sorting *g, stretch *r)
{
    int64_t units = 0, fibers = 0;

#pragma omp parallel for num_threads(g->w->threads) schedule(static) reduction(+ : units, fibers)
    for (int64_t at = r->from; at < r->to; at++) {
        units += new_unit(g, r, at);
        fibers += new_fiber(g, r, at);
    }
    r->units = units;
    r->fibers = fibers;
}

static void fill_entries(const sorting *g, sp_part *q, const stretch *r)
{
    const sp_pack_job *w = g->w;
    const int32_t *inner = g->index[g->mode[2]];

#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t at = r->from; at < r->to; at++) {
        int64_t e = g->order[at];

        sp_put_col(w, q->col, at - r->from, inner[e] - q->col0);
        sp_put_val(w, q, at - r->from, sp_val(w->A, e));
        if (!q->mid_start)
            sp_put_col(w, q->mid, at - r->from, middle_at(g, at));
    }
}

/* Starts of units and of fibers. Unlisted units are all slices in turn. */
static void fill_starts(const sorting *g, sp_part *q, const stretch *r)
{
    const sp_pack_job *w = g->w;
    int64_t u = 0, f = 0;

    for (int64_t at = r->from; at < r->to; at++) {
        int64_t first = q->mid_start ? f : at - r->from;

        if (new_unit(g, r, at)) {
            if (q->row)
                sp_put_wide(w, q->row, u, outer_at(g, at));
            for (int64_t end = q->row ? u : outer_at(g, at); u <= end; u++)
                sp_put_wide(w, q->start, u, first);
        }
        if (q->mid_start && new_fiber(g, r, at)) {
            sp_put_wide(w, q->mid, f, middle_at(g, at));
            sp_put_wide(w, q->mid_start, f++, at - r->from);
        }
    }
    for (; u <= q->units; u++)
        sp_put_wide(w, q->start, u, q->mid_start ? f : r->to - r->from);
    if (q->mid_start)
        sp_put_wide(w, q->mid_start, f, r->to - r->from);
}

static spry_status add_arrays(sp_pack_job *w, sp_part *q, int64_t units,
                              int listed)
{
    int in_fibers = sp_format_of(w->x)->fibers;
    size_t width = w->k->index == 64                 ? 8
                   : !in_fibers && w->k->index == 16 ? 2
                                                     : 4;

    q->row = listed ? sp_pack_indices(w, units) : NULL;
    q->mid = sp_alloc(q->fibers + w->k->spare, width);
    q->mid_start = in_fibers ? sp_pack_indices(w, q->fibers + 1) : NULL;
    w->k->bytes += (double)q->fibers * (double)width;
    if ((listed && !q->row) || !q->mid || (in_fibers && !q->mid_start))
        return sp_fail_memory((size_t)(units + q->fibers) * 8);
    return SPRY_OK;
}

static spry_status add_part(const sorting *g, sp_part *q, stretch *r)
{
    sp_pack_job *w = g->w;
    int64_t rows = w->A->rows, entries = r->to - r->from, units;
    int listed;
    spry_status s;

    measure(g, r);
    listed = scatters(w->x) || (g->parts > 1 && r->units < rows - rows / 4);
    units = listed ? r->units : rows;
    q->fibers = sp_format_of(w->x)->fibers ? r->fibers : entries;
    s = sp_pack_arrays(w, q, units, entries, entries);
    if (s == SPRY_OK)
        s = add_arrays(w, q, units, listed);
    if (s != SPRY_OK)
        return s;
    fill_starts(g, q, r);
    fill_entries(g, q, r);
    return SPRY_OK;
}

static spry_status add_parts(sorting *g)
{
    sp_pack_job *w = g->w;
    const int32_t *inner = g->index[g->mode[2]];
    stretch r = {0};
    spry_status s = sp_pack_parts(w, g->parts);

    for (int i = 0; s == SPRY_OK && i < g->parts; i++) {
        r.from = r.to;
        while (r.to < w->A->nnz &&
               (g->parts == 1 || inner[g->order[r.to]] < g->edge[i + 1]))
            r.to++;
        w->k->part[i].col0 = g->parts > 1 ? g->edge[i] : 0;
        s = add_part(g, &w->k->part[i], &r);
    }
    if (s == SPRY_OK)
        w->k->covers = !w->k->part[0].row;
    return s;
}

/* ---- the door ---- */

/* Columns reach as far as the widest part; of csr, middles as far as they
 * do. */
static spry_status settle_width(const sorting *g)
{
    sp_pack_job *w = g->w;
    int64_t span = sp_format_of(w->x)->fibers ? 1 : size_of_mode(w, g->mode[1]);

    for (int i = 0; i < g->parts; i++)
        if (g->edge[i + 1] - g->edge[i] > span)
            span = g->edge[i + 1] - g->edge[i];
    return sp_pack_width(w, w->A->nnz, span);
}

static spry_status allocate(sorting *g)
{
    int64_t nnz = g->w->A->nnz;

    for (int mode = 0; mode < 3; mode++) {
        if (size_of_mode(g->w, mode) > INT32_MAX)
            return sp_fail(SPRY_USAGE, "mode %d is too long to be packed",
                           mode);
        g->index[mode] = sp_alloc_raw(nnz, sizeof *g->index[mode]);
    }
    g->order = sp_alloc_raw(nnz, sizeof *g->order);
    g->spare = sp_alloc_raw(nnz, sizeof *g->spare);
    if (!g->index[0] || !g->index[1] || !g->index[2] || !g->order || !g->spare)
        return sp_fail_memory((size_t)nnz * 28);
    return SPRY_OK;
}

static void release(sorting *g)
{
    for (int mode = 0; mode < 3; mode++)
        sp_free(g->index[mode]);
    sp_free(g->order);
    sp_free(g->spare);
    sp_free(g->edge);
}

spry_status sp_pack_tensor(sp_pack_job *w)
{
    static const int nesting[][3] = {[SPRY_MODES_IKL] = {0, 1, 2},
                                     [SPRY_MODES_ILK] = {0, 2, 1},
                                     [SPRY_MODES_KLI] = {1, 2, 0},
                                     [SPRY_MODES_LKI] = {2, 1, 0}};
    sorting g = {.w = w};
    spry_status s;

    memcpy(g.mode, nesting[w->x->modes], sizeof g.mode);
    s = choose_parts(&g);
    if (s == SPRY_OK)
        s = settle_width(&g);
    if (s == SPRY_OK)
        s = allocate(&g);
    if (s == SPRY_OK) {
        split_indices(&g);
        s = sort_entries(&g);
    }
    if (s == SPRY_OK)
        s = add_parts(&g);
    release(&g);
    return s;
}
