/* sell.c - how much padding slices of rows need.
 *
 * A slice is as long as the longest row in it. Rows that are sorted in windows
 * are known by the histogram of their lengths; of those that stay where they
 * are a few slices are looked at, and rows too rare to be met there are known
 * by the histogram again. */
#include "model/internal.h"

#include <math.h>

#include "matrix/steps.h"

enum { WINDOWS = 16, LOOKS = 64, MOST = 128, LEVELS = 32 };

/* Rows of a bin, from the longest to the shortest. */
typedef struct {
    double rows, longest, shortest;
} bin;

/* Bins from the longest rows down; how many. */
static int list_bins(bin out[SPRY_HIST], const spry_stats *t)
{
    int count = 0;

    for (int b = SPRY_HIST - 1; b >= 0; b--)
        if (t->row_hist[b])
            out[count++] = (bin){
                (double)t->row_hist[b],
                b ? fmin(ldexp(1, b) - 1, (double)t->row_max) : 0,
                b ? fmax(ldexp(1, b - 1), (double)t->row_min) : 0,
            };
    return count;
}

/* ---- sorted ---- */

/* Entries of the `first` longest rows. */
static double entries_of(const bin *b, int bins, double first)
{
    double sum = 0;

    for (int i = 0; i < bins && first > 0; first -= b[i++].rows) {
        double part = fmin(first, b[i].rows);
        double fall = (b[i].longest - b[i].shortest) * part / b[i].rows;

        sum += part * (b[i].longest - fall / 2);
    }
    return sum;
}

/* The longest rows are the first of each window, one slice further down every
 * window begins a slice with one of the next longest, and so on. */
static double sorted_growth(const spry_stats *t, double window, double slice)
{
    bin b[SPRY_HIST];
    int bins = list_bins(b, t);
    double rows = (double)t->rows, windows = ceil(rows / window);
    double all = entries_of(b, bins, rows), stored = 0, at = 0, before = 0;

    for (int k = 0; k < LEVELS && at < rows; k++) {
        double high = fmin(slice, (rows - at) / windows);

        before = entries_of(b, bins, at);
        stored += high * (entries_of(b, bins, at + windows) - before);
        at += slice * windows;
    }
    if (at < rows) /* further down neighbours are alike */
        stored += all - entries_of(b, bins, at);
    return all > 0 ? fmax(1, stored / all) : 1;
}

/* ---- as they are, or sorted in windows small enough to look at ---- */

typedef struct {
    double stored, held; /* with and without padding */
    int64_t most;        /* a longer row counts as this */
} tally;

/* By insertion, first of those far apart (Shell, gaps of Ciura). */
static void sort_down(int64_t *length, int64_t n)
{
    static const int gaps[] = {23, 10, 4, 1};

    for (int k = 0; k < (int)(sizeof gaps / sizeof gaps[0]); k++)
        for (int64_t i = gaps[k]; i < n; i++) {
            int64_t v = length[i], j = i;

            for (; j >= gaps[k] && length[j - gaps[k]] < v; j -= gaps[k])
                length[j] = length[j - gaps[k]];
            length[j] = v;
        }
}

static void look_at(tally *t, const sp_ask *q, int64_t from, int64_t rows,
                    int64_t slice)
{
    const spry_matrix *A = q->p->A;
    int64_t length[MOST], n = A->rows - from < rows ? A->rows - from : rows;

    for (int64_t i = 0; i < n; i++) {
        int64_t entries = A->start[from + i + 1] - A->start[from + i];

        length[i] = entries < t->most ? entries : t->most;
        t->held += (double)length[i];
    }
    if (q->x->sigma > 1)
        sort_down(length, n);
    for (int64_t i = 0; i < n; i += slice) {
        int64_t longest = 0;

        for (int64_t k = i; k < i + slice && k < n; k++)
            longest = length[k] > longest ? length[k] : longest;
        t->stored += (double)(longest * slice);
    }
}

/* Rows up to *most long are met when one in `one_in` is looked at; what the
 * longer ones have beyond that. */
static double beyond(double *most, const spry_stats *t, double one_in)
{
    bin b[SPRY_HIST];
    int bins = list_bins(b, t), common = 0;
    double rare = 0, sum = 0;

    while (common + 1 < bins && rare + b[common].rows <= 2 * one_in)
        rare += b[common++].rows;
    *most = b[common].longest;
    for (int i = 0; i < common; i++) {
        double mean =
            b[i].rows > 1 ? (b[i].longest + b[i].shortest) / 2 : b[i].longest;

        sum += b[i].rows * (mean - *most);
    }
    return sum;
}

static double seen_growth(const sp_ask *q, int64_t window, int64_t slice)
{
    const spry_matrix *A = q->p->A;
    int64_t count = (A->rows + window - 1) / window;
    int64_t every = count > WINDOWS ? count / WINDOWS : 1;
    double most, rare = beyond(&most, q->t, (double)every);
    double nnz = fmax(1, (double)A->nnz), usual;
    tally t = {.most = (int64_t)most};

    for (int64_t w = 0; w < count; w += every)
        look_at(&t, q, w * window, window, slice);
    usual = t.held > 0 ? t.stored / t.held : 1;
    rare = fmin(rare, nnz);
    return (usual * (nnz - rare) + (double)slice * rare) / nnz;
}

/* ---- columns ---- */

/* The widest of some windows, from some of their rows. */
static int64_t span_of(const spry_matrix *A, int64_t window)
{
    int64_t count = (A->rows + window - 1) / window, span = 1;
    int64_t step = (window + LOOKS - 1) / LOOKS;
    int64_t every = count > WINDOWS ? count / WINDOWS : 1;

    for (int64_t w = 0; w < count; w += every) {
        int64_t low = A->cols, high = -1, to = (w + 1) * window;

        to = to < A->rows ? to : A->rows;
        for (int64_t i = w * window; i < to; i += step) {
            int64_t first = A->start[i], last = A->start[i + 1] - 1;

            if (last < first)
                continue;
            low = sp_col(A, first) < low ? sp_col(A, first) : low;
            high = sp_col(A, last) > high ? sp_col(A, last) : high;
        }
        span = high - low + 1 > span ? high - low + 1 : span;
    }
    return span;
}

/* ---- columns of 8 bits ---- */

/* Slices here and there, all while there are few; where rows go apart the
 * first ones tell. */
static sp_sell look_at_steps(const spry_matrix *A, int rows)
{
    enum { SLICES = 24, ENOUGH = 4096 };
    int64_t units = (A->rows + rows - 1) / rows, stored = 0, held = 0;
    int64_t every = units > SLICES ? units / SLICES : 1;

    for (int64_t u = 0; u < units; u += every) {
        int64_t to = (u + 1) * rows < A->rows ? (u + 1) * rows : A->rows;

        stored += sp_steps_count(A, u * rows, rows) * rows;
        held += A->start[to] - A->start[u * rows];
        if (stored > ENOUGH && stored > 2 * held)
            break;
    }
    return (sp_sell){held > 0 ? (double)stored / (double)held : 1, 1};
}

sp_sell sp_model_sell(const sp_ask *q)
{
    const spry_matrix *A = q->p->A;
    int64_t slice = sp_schedule_slice(q->x, q->p->op, q->lanes);
    int64_t window = q->x->sigma > slice ? q->x->sigma : slice;

    if (A->rows < 1)
        return (sp_sell){1, 1};
    if (q->x->index == 8)
        return look_at_steps(A, (int)slice);
    if (window <= MOST)
        return (sp_sell){seen_growth(q, window, slice), span_of(A, window)};
    window = window < A->rows ? window : A->rows;
    return (sp_sell){sorted_growth(q->t, (double)window, (double)slice),
                     span_of(A, window)};
}
