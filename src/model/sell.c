/* sell.c - how much padding slices of rows need, from a sample.
 *
 * A few windows are looked at; of a large window every so many rows. Sorted,
 * each looked-at row stands for its neighbours, and a slice is as long as
 * the longest row in it. */
#include "model/internal.h"

#include "matrix/steps.h"

enum { WINDOWS = 16, LOOKS = 64 };

typedef struct {
    double stored, held; /* with and without padding */
    int64_t low, high;   /* columns of the slice at hand */
    int64_t span;
} tally;

/* By insertion, first of those far apart (Shell, gaps of Ciura). */
static void sort_down(int64_t *length, int n)
{
    static const int gaps[] = {23, 10, 4, 1};

    for (int k = 0; k < (int)(sizeof gaps / sizeof gaps[0]); k++)
        for (int i = gaps[k]; i < n; i++) {
            int64_t v = length[i];
            int j = i;

            for (; j >= gaps[k] && length[j - gaps[k]] < v; j -= gaps[k])
                length[j] = length[j - gaps[k]];
            length[j] = v;
        }
}

static void note_columns(tally *t, const spry_matrix *A, int64_t i)
{
    int64_t first, last;

    if (A->start[i] == A->start[i + 1])
        return;
    first = sp_col(A, A->start[i]);
    last = sp_col(A, A->start[i + 1] - 1);
    t->low = first < t->low ? first : t->low;
    t->high = last > t->high ? last : t->high;
}

/* Rows from, from + step ... below `to`; each stands for `step` rows. */
static void look(tally *t, const sp_ask *q, int64_t from, int64_t to,
                 int64_t step, int rows_per_slice)
{
    const spry_matrix *A = q->p->A;
    int64_t length[LOOKS];
    int n = 0, group = (int)(rows_per_slice / step);

    t->low = A->cols;
    t->high = -1;
    for (int64_t i = from; i < to && n < LOOKS; i += step) {
        length[n++] = A->start[i + 1] - A->start[i];
        note_columns(t, A, i);
    }
    if (q->x->sigma > 1)
        sort_down(length, n);
    group = group < 1 ? 1 : group;
    for (int i = 0; i < n; i += group) {
        int64_t most = 0;

        for (int j = i; j < i + group && j < n; j++) {
            most = length[j] > most ? length[j] : most;
            t->held += (double)length[j];
        }
        t->stored += (double)most * group;
    }
    if (t->high - t->low + 1 > t->span)
        t->span = t->high - t->low + 1;
}

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
    int rows = sp_schedule_slice(q->x, q->p->op, q->lanes);
    int64_t window = q->x->sigma > rows ? q->x->sigma : rows;
    int64_t count, step, every;
    tally t = {.span = 1};

    if (q->x->index == 8)
        return look_at_steps(A, rows);
    window = window < A->rows ? window : A->rows;
    if (window < 1)
        return (sp_sell){1, 1};
    count = (A->rows + window - 1) / window;
    step = (window + LOOKS - 1) / LOOKS;
    every = count > WINDOWS ? count / WINDOWS : 1;
    for (int64_t w = 0; w < count; w += every) {
        int64_t from = w * window, to = from + window;

        look(&t, q, from, to < A->rows ? to : A->rows, step, rows);
    }
    return (sp_sell){t.held > 0 ? t.stored / t.held : 1, t.span};
}
