/* sites.c - where a sparse image is not zero, and where it still is not when
 * the image shrinks.
 *
 * Coordinates stay sorted, so neighbours are found by walking two rows side
 * by side: no hash table, no random reads. */
#include "nn/layers.h"

#include "nn/internal.h"

/* The struct and its arrays, one block. */
typedef struct {
    sp_sites s;
    int64_t *start;
    int32_t *row, *col;
} block;

static spry_status make(block **out, int64_t n, int64_t rows)
{
    size_t bytes = (size_t)(rows + 1) * sizeof(int64_t) +
                   (size_t)(rows + n) * sizeof(int32_t);
    block *b = sp_alloc_raw((int64_t)(sizeof *b + bytes), 1);

    *out = b;
    if (!b)
        return sp_fail_memory(bytes);
    b->start = (int64_t *)(void *)(b + 1);
    b->row = (int32_t *)(void *)(b->start + rows + 1);
    b->col = b->row + rows;
    b->s = (sp_sites){n, rows, b->row, b->start, b->col};
    return SPRY_OK;
}

void sp_sites_free(sp_sites *s)
{
    sp_free(s); /* the first member of its block */
}

/* ---- from coordinates ---- */

static spry_status check_order(int64_t *rows, int64_t n, const int32_t *row,
                               const int32_t *col)
{
    *rows = n > 0;
    if (n < 0 || n > INT32_MAX)
        return sp_fail(SPRY_USAGE, "too many coordinates");
    for (int64_t i = 0; i < n; i++) {
        if (row[i] < 0 || col[i] < 0)
            return sp_fail(SPRY_USAGE, "a coordinate is negative");
        if (i > 0 && (row[i] < row[i - 1] ||
                      (row[i] == row[i - 1] && col[i] <= col[i - 1])))
            return sp_fail(SPRY_USAGE, "coordinates are not in order");
        *rows += i > 0 && row[i] != row[i - 1];
    }
    return SPRY_OK;
}

spry_status sp_sites_new(sp_sites **out, int64_t n, const int32_t *row,
                         const int32_t *col)
{
    int64_t rows, r = 0;
    block *b = NULL;
    spry_status s = check_order(&rows, n, row, col);

    *out = NULL;
    if (s == SPRY_OK)
        s = make(&b, n, rows);
    if (s != SPRY_OK)
        return s;
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || row[i] != row[i - 1]) {
            b->row[r] = row[i];
            b->start[r++] = i;
        }
        b->col[i] = col[i];
    }
    b->start[rows] = n;
    *out = &b->s;
    return SPRY_OK;
}

/* ---- smaller ---- */

enum { STRIDE = 8 }; /* the largest */

/* Merge the columns of rows first .. last-1, divided by stride, without
 * repeats; returns how many. */
static int64_t merge_rows(int32_t *col, const sp_sites *in, int64_t first,
                          int64_t last, int stride)
{
    int64_t at[STRIDE] = {0}, n = 0;

    for (int64_t r = first; r < last; r++)
        at[r - first] = in->start[r];
    for (;;) {
        int32_t least = INT32_MAX;
        int left = 0;

        for (int64_t r = first; r < last; r++)
            if (at[r - first] < in->start[r + 1]) {
                int32_t c = in->col[at[r - first]] / stride;

                least = c < least ? c : least;
                left = 1;
            }
        if (!left)
            return n;
        col[n++] = least;
        for (int64_t r = first; r < last; r++)
            while (at[r - first] < in->start[r + 1] &&
                   in->col[at[r - first]] / stride == least)
                at[r - first]++;
    }
}

/* Rows of `in` that fall together with row r; returns the one after. */
static int64_t same_row(const sp_sites *in, int64_t r, int stride)
{
    int32_t row = in->row[r] / stride;

    while (r < in->rows && in->row[r] / stride == row)
        r++;
    return r;
}

spry_status sp_sites_shrink(sp_sites **out, const sp_sites *in, int stride)
{
    int64_t rows = 0, n = 0;
    block *b;
    spry_status s;

    *out = NULL;
    if (stride < 1 || stride > STRIDE)
        return sp_fail(SPRY_USAGE, "a stride of %d", stride);
    s = make(&b, in->n, in->rows); /* perhaps more than it takes */
    if (s != SPRY_OK)
        return s;
    for (int64_t r = 0; r < in->rows;) {
        int64_t last = same_row(in, r, stride);

        b->row[rows] = in->row[r] / stride;
        b->start[rows++] = n;
        n += merge_rows(b->col + n, in, r, last, stride);
        r = last;
    }
    b->start[rows] = n;
    b->s.n = n;
    b->s.rows = rows;
    *out = &b->s;
    return SPRY_OK;
}
